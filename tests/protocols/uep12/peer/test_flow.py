"""The flow of a swarm: order, heads, room, memory."""

from sys import getsizeof

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from protocols.uep12.transcript import SETTINGS
from wireloom.protocols.uep12.peer.flow import BESIDE, Flow, Stored


def stored(at: int, life: int = 100, *, pushed: bool = False, owner: str = "a") -> Stored:
    return Stored(b"x" * 10, timestamp=at, expires_ms=at + life, is_pushed_only=pushed, owner=owner)


def key(number: int) -> bytes:
    return b"%08d" % number


def test_heads_are_those_that_nobody_refers_to() -> None:
    flow = Flow(SETTINGS)
    flow.add(key(1), stored(1), ())
    flow.add(key(2), stored(2), ())
    assert set(flow.heads) == {key(1), key(2)}
    flow.add(key(3), stored(3), (key(1), key(1)))
    assert set(flow.heads) == {key(2), key(3)}
    found = flow.find(key(1), 5)
    assert found is not None
    assert found.referrers == 1
    flow.add(key(4), stored(4, pushed=True), ())
    assert set(flow.heads) == {key(2), key(3)}


def test_latest_are_younger_ones_first_before_an_instant() -> None:
    flow = Flow(SETTINGS)
    for at in (5, 1, 3, 2, 4):
        flow.add(key(at), stored(at), ())
    assert [msg_hash for msg_hash, _ in flow.latest(5, 3, 0)] == [key(4), key(3), key(2)]


def test_room_is_counted_with_what_is_kept_beside_each_message() -> None:
    flow = Flow(replace(SETTINGS, stored_size=4 * (BESIDE + 10)))
    added = 0
    while flow.fits("a", 10):
        flow.add(key(added), stored(added), ())
        added += 1
    assert added == 2
    assert flow.fits("b", 10)
    assert flow.size == 2 * (BESIDE + 10)
    assert len(flow.purge(1_000, 1)) == 1
    assert len(flow.purge(1_000, 9)) == 1
    assert (len(flow), flow.size) == (0, 0)


def test_beside_its_bytes_a_message_takes_less_than_is_counted() -> None:
    one = stored(1 << 40)
    entry = (one.timestamp, key(1))
    parts = (one, one.timestamp, one.expires_ms, entry, key(1), (one.expires_ms, key(1)))
    assert sum(map(getsizeof, parts)) + 3 * 100 < BESIDE + 300 < 1_024


@given(
    st.lists(st.tuples(st.integers(0, 50), st.integers(1, 50), st.booleans()), max_size=50),
    st.integers(0, 110),
    st.integers(0, 60),
    st.integers(0, 60),
)
def test_a_range_has_what_is_listed_and_alive_in_order(
    ones: list[tuple[int, int, bool]], now: int, start: int, end: int
) -> None:
    flow = Flow(SETTINGS)
    for number, (at, life, pushed) in enumerate(ones):
        flow.add(key(number), stored(at, life, pushed=pushed), ())
    expected = sorted(
        (at, key(number))
        for number, (at, life, pushed) in enumerate(ones)
        if not pushed and at + life > now and start <= at <= end
    )
    for _ in range(2):
        found = [(one.timestamp, msg_hash) for msg_hash, one in flow.between(start, end, now)]
        assert found == expected
        flow.purge(now, 1_000)
    assert len(flow) == sum(at + life > now for at, life, _ in ones)
