"""What happens to frames on their way."""

from typing import Any

import pytest

from wireloom.sim.agenda import Agenda
from wireloom.sim.clocks import VirtualClock
from wireloom.sim.network import RESENT_NS, Network, Path, Quality
from wireloom.sim.streams import Streams

MS = 1_000_000


class Node:
    def __init__(self, name: str, number: int) -> None:
        self.name = name
        self.number = number


class Ways:
    """A network of three machines, and what arrives."""

    def __init__(self, seed: int = 1, **quality: Any) -> None:
        self.clock = VirtualClock()
        self.agenda = Agenda()
        self.network = Network(self.agenda.put, self.clock, Streams(seed))
        self.network.quality = Quality(**quality)
        self.nodes = [Node(name, number) for number, name in enumerate("abc")]
        self.arrived: list[tuple[int, bytes]] = []

    def path(self, near: int = 0, far: int = 1) -> Path:
        return self.network.path(self.nodes[near], self.nodes[far])

    def throw(self, *raws: bytes, far: int = 1) -> None:
        for raw in raws:
            self.network.datagram(self.path(0, far), raw, self.arrive)

    def say(self, *raws: bytes) -> None:
        for raw in raws:
            self.network.stream(self.path(), raw, self.arrive, raw)

    def arrive(self, raw: bytes) -> None:
        self.arrived.append((self.clock.at_ns, raw))

    def run(self) -> list[tuple[int, bytes]]:
        while (entry := self.agenda.take(10**18)) is not None:
            self.clock.at_ns = entry[0]
            entry[2](*entry[3])
        return self.arrived


def many(count: int = 1_000) -> list[bytes]:
    return [b"%04d" % number for number in range(count)]


def test_a_perfect_link_takes_no_time() -> None:
    ways = Ways()
    ways.throw(b"a", b"b")
    assert ways.run() == [(0, b"a"), (0, b"b")]


def test_a_frame_takes_its_delay_and_some_of_its_jitter() -> None:
    ways = Ways(delay_ms=20, jitter_ms=10)
    ways.throw(*many())
    times = [at_ns for at_ns, _ in ways.run()]
    assert 20 * MS <= min(times) < 21 * MS
    assert 29 * MS < max(times) < 30 * MS


@pytest.mark.parametrize(("fault", "share"), [("loss", 0.7), ("duplication", 1.3)])
def test_datagrams_are_lost_or_come_twice(fault: str, share: float) -> None:
    faults: dict[str, Any] = {fault: 0.3}
    ways = Ways(**faults)
    ways.throw(*many())
    assert len(ways.run()) == pytest.approx(1_000 * share, rel=0.1)
    assert ways.network.lost_count == (1_000 - len(ways.arrived) if share < 1 else 0)


def test_some_datagrams_are_overtaken() -> None:
    ways = Ways(delay_ms=1, reordering=0.2)
    ways.throw(*many())
    late = [raw for at_ns, raw in ways.run() if at_ns > MS]
    assert len(late) == pytest.approx(200, rel=0.2)


def test_damage_flips_bits_or_cuts_the_end() -> None:
    ways = Ways(corruption=1)
    ways.throw(b"\0" * 32, b"")
    damaged = ways.run()[0][1]
    assert len(damaged) == 32
    assert 0 < int.from_bytes(damaged).bit_count() <= 8
    ways = Ways(truncation=1)
    ways.throw(b"abcdef", b"")
    (_, cut), (_, nothing) = ways.run()
    assert cut == b"abcdef"[: len(cut)]
    assert len(cut) < 6
    assert nothing == b""


def test_a_datagram_above_the_mtu_does_not_arrive() -> None:
    ways = Ways(mtu=4)
    ways.throw(b"12345", b"1234")
    assert ways.run() == [(0, b"1234")]


def test_a_narrow_link_sends_one_after_the_other_and_drops_what_would_wait_too_long() -> None:
    ways = Ways(bandwidth=1_000)
    ways.throw(*(b"x" * 100 for _ in range(30)))
    times = [at_ns for at_ns, _ in ways.run()]
    assert times == [100 * MS * number for number in range(1, 12)]


def test_a_stream_loses_nothing_and_keeps_its_order() -> None:
    ways = Ways(delay_ms=5, jitter_ms=50, loss=0.3, corruption=1, duplication=1)
    frames = many()
    ways.say(*frames)
    assert [raw for _, raw in ways.run()] == frames
    assert ways.clock.at_ns > RESENT_NS


def test_a_cut_loses_datagrams_and_holds_streams_until_it_heals() -> None:
    ways = Ways()
    ways.network.cut("west", ["a", "c"])
    assert ways.network.reaches("a", "c")
    ways.throw(b"lost")
    ways.throw(b"among us", far=2)
    ways.say(b"late", b"later")
    assert ways.run() == [(0, b"among us")]
    ways.network.heal("west")
    ways.network.heal("west")
    assert [raw for _, raw in ways.run()][1:] == [b"late", b"later"]


def test_only_who_is_in_contact_reaches_each_other() -> None:
    ways = Ways()
    ways.network.touch("b", "a", is_up=True)
    ways.throw(b"near")
    ways.throw(b"far", far=2)
    ways.network.touch("a", "b", is_up=False)
    ways.throw(b"gone")
    ways.network.move([("a", "c")])
    ways.throw(b"moved", far=2)
    assert [raw for _, raw in ways.run()] == [b"near", b"moved"]


def test_the_fingerprint_follows_from_all_frames_and_the_seed() -> None:
    def fingerprint(seed: int, *raws: bytes) -> str:
        ways = Ways(seed, delay_ms=1, jitter_ms=1)
        ways.throw(*raws)
        return ways.network.fingerprint

    assert fingerprint(1, b"a", b"b") == fingerprint(1, b"a", b"b")
    assert len({fingerprint(1, b"a"), fingerprint(2, b"a"), fingerprint(1, b"b")}) == 3


def test_another_path_does_not_change_what_happens_on_this_one() -> None:
    alone, together = Ways(loss=0.5), Ways(loss=0.5)
    together.throw(*many(), far=2)
    together.arrived.clear()
    together.agenda = Agenda()
    together.network._later = together.agenda.put
    for ways in (alone, together):
        ways.throw(*many())
    assert alone.run() == together.run()
