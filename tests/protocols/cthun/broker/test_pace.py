"""How much leaves in one turn."""

from msgspec.structs import replace

from wireloom.protocols.cthun.broker.clients import Client
from wireloom.protocols.cthun.broker.pace import Pace
from wireloom.protocols.cthun.broker.settings import BrokerSettings


def pace(**limits: int) -> Pace:
    return Pace(replace(BrokerSettings(), **limits))


def test_a_slice_has_so_many_bytes_and_one_frame_at_least() -> None:
    paced = pace(slice_size=1_600)
    assert paced.room(500, 1) == 4
    paced.spend(4, 500)
    assert paced.room(1, 1) == 0
    assert paced.room(1, 5) == 0
    assert paced.room(1, 6) == 100
    assert paced.room(10_000, 6) == 1
    assert paced.room(500, 10**6) == 4


def test_after_a_slice_there_is_time_for_others() -> None:
    paced = pace(slice_size=1_600)
    assert paced.room(1, 1) == 1_600
    assert paced.next_ms(1) == 2
    paced.spend(1, 16_000)
    due_ms = paced.next_ms(1)
    assert paced.room(1, due_ms - 1) == 0
    assert paced.room(1, due_ms) > 0
    assert 140 < due_ms < 150


def test_of_what_waited_so_many_frames_leave_in_a_turn() -> None:
    paced = pace(burst_count=2, slice_size=1_600)
    assert [paced.grant(10, 1) for _ in range(3)] == [True, True, False]
    assert paced.room(10, 1) == 158
    assert [paced.grant(1_600, 2) for _ in range(2)] == [True, False]


def test_a_clock_that_goes_back_holds_nothing_up() -> None:
    paced = pace(slice_size=1_600)
    assert paced.room(1, 1_000) == 1_600
    paced.spend(1, 1_600)
    assert paced.room(1, 900) == 0
    assert paced.room(1, 901) == 100


def test_while_much_waits_only_what_is_small_leaves_for_those_who_read() -> None:
    paced = pace(crowded_size=1_000)
    slow, deaf, reader = Client(1, None, 0), Client(2, None, 0), Client(3, None, 0)
    assert paced.admits(reader, 10**6)
    assert not paced.weigh(slow, 500)
    assert paced.admits(slow, 10**6)
    assert not paced.weigh(deaf, 500)
    assert paced.is_crowded
    assert paced.admits(reader, 64 * 1024)
    assert not paced.admits(reader, 64 * 1024 + 1)
    assert not paced.admits(deaf, 1)
    assert not paced.weigh(slow, 100)
    assert paced.is_crowded
    assert paced.weigh(deaf, 300)
    assert paced.admits(deaf, 10**6)
    assert not paced.weigh(slow, 0)
