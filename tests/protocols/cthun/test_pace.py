"""How much leaves in one turn."""

from msgspec.structs import replace

from wireloom.protocols.cthun.clients import Client
from wireloom.protocols.cthun.pace import Pace
from wireloom.protocols.cthun.settings import BrokerSettings


def pace(**limits: int) -> Pace:
    return Pace(replace(BrokerSettings(), **limits))


def test_a_slice_has_so_many_bytes_and_one_frame_at_least() -> None:
    paced = pace(slice_size=1_000)
    assert paced.room(300, 1) == 4
    paced.spend(4, 300)
    assert paced.room(1, 1) == 0
    assert paced.room(300, 2) == 4
    assert paced.room(10_000, 2) == 1
    paced.spend(1, 10_000)
    assert paced.room(10_000, 2) == 0


def test_of_what_waited_so_many_frames_leave_in_a_turn() -> None:
    paced = pace(burst_count=2, slice_size=1_000)
    assert [paced.grant(10, 1) for _ in range(3)] == [True, True, False]
    assert paced.room(10, 1) == 98
    assert [paced.grant(1_000, 2) for _ in range(2)] == [True, False]


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
