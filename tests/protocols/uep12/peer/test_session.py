"""The session: swarms apart from each other, damage, and whole worlds of peers."""

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from protocols.uep12.samples import SAMPLES
from protocols.uep12.transcript import EPOCH_MS, SETTINGS, START_MS, TEA, Other, Stage
from support.contract import Checked
from wireloom.protocols.uep12.codec import encode
from wireloom.protocols.uep12.peer.requests import Post
from wireloom.protocols.uep12.peer.session import PeerSession
from wireloom.protocols.uep12.peer.settings import Membership, PeerSettings
from wireloom.sim.machine import Machine
from wireloom.sim.network import Quality
from wireloom.sim.world import World
from wireloom.wire.ids import Ids
from wireloom.wire.outcome import Outcome
from wireloom.wire.session import (
    Alive,
    Closed,
    FrameReceived,
    FrameRefused,
    Opened,
    Requested,
    Stopping,
    TimerFired,
    Turn,
)


def test_each_swarm_has_a_flow_of_its_own() -> None:
    coffee = Membership(name="coffee", link="beans", epoch_ms=1_000, max_ttl=5)
    session = PeerSession(replace(SETTINGS, memberships=(TEA, coffee)), Ids("boot"))
    stage = Stage()
    turn = Turn(session.ids, START_MS)
    session.handle(Opened(1, "192.0.2.1:1", link="sim"), turn)
    session.handle(Opened(2, "192.0.2.1:1", link="beans"), turn)
    for line, raw in ((1, stage.content("a")), (2, stage.content("b", ttl=5))):
        session.handle(FrameReceived(line, raw), turn)
    gauges = session.gauges()
    assert (gauges["tea.total"], gauges["coffee.total"]) == (1, 1)
    session.handle(FrameReceived(2, stage.content("c", ttl=6)), turn)
    assert session.gauges()["coffee.total"] == 1


def test_a_line_of_no_swarm_is_closed_and_its_frames_are_refused() -> None:
    session = PeerSession(SETTINGS, Ids("boot"))
    turn = Turn(session.ids, START_MS)
    session.handle(Opened(1, "192.0.2.1:1", link="nowhere"), turn)
    session.handle(FrameReceived(1, b"x"), turn)
    close, conclude = turn.commands
    assert type(close).__name__ == "Close"
    assert getattr(conclude, "reason", None) == "unauthenticated"


def test_whoever_comes_while_it_stops_is_turned_away() -> None:
    stage = Stage()
    stage.happens(Stopping())
    assert stage.stranger("late").closed is not None


def test_events_that_mean_nothing_to_it_change_nothing() -> None:
    stage = Stage()
    ada = stage.meets("ada")
    for event in (Alive(ada.line), TimerFired("x"), TimerFired(("peer", 99)), Requested("x")):
        stage.happens(event)
        assert stage.commands == []
    stage.happens(FrameRefused(ada.line, 99_999, b"", False, 11_264))
    stage.concludes("rejected", "too_large")


@settings(max_examples=200, deadline=None)
@given(
    frames=st.lists(
        st.one_of(
            st.binary(max_size=60),
            st.sampled_from([encode(one) for one in SAMPLES.values()]).flatmap(
                lambda raw: st.tuples(
                    st.just(raw), st.integers(0, len(raw)), st.binary(max_size=12)
                ).map(lambda cut: cut[0][: cut[1]] + cut[2])
            ),
        ),
        max_size=12,
    )
)
def test_any_bytes_have_one_outcome_and_no_answer_that_is_larger(frames: Sequence[bytes]) -> None:
    stage = Stage(replace(SETTINGS, rubbish_count=100))
    mallory = stage.stranger("mallory")
    for raw in frames:
        stage.happens(FrameReceived(mallory.line, raw))
    assert len(stage.conclusions) == len(frames)
    assert sum(map(len, mallory.inbox)) <= sum(map(len, frames))


class Swarmed:
    """Peers in a world without faults, each with a session that is held to its contract."""

    def __init__(self, world: World | None = None) -> None:
        self.world = world or World(START_MS)
        self.machines: dict[str, Machine] = {}
        self.sessions: dict[str, PeerSession] = {}
        self.known: dict[str, tuple[str, ...]] = {}

    def begins(self, name: str, *known: str) -> None:
        if name not in self.machines:
            self.machines[name] = self.world.add(name, "uep12")
            self.world.bind(self.machines[name], "sim", f"{name}:1")
            self.known[name] = tuple(f"{one}:1" for one in known)
        assert not known or self.known[name]
        membership = replace(TEA, peers=self.known[name])
        made = PeerSettings(memberships=(membership,), secret=name.encode())
        self.sessions[name] = PeerSession(made, Ids(f"{name} {self.world.now_ms}"))
        self.machines[name].start(Checked(self.sessions[name], lambda *_: None))

    def posts(self, name: str, text: str, ttl: int = 30) -> None:
        post = Post(id=text, payload=text.encode(), ttl_epoch=ttl)
        self.machines[name].hear(Requested(post))

    def count(self, name: str, what: str) -> float:
        return self.sessions[name].gauges()[f"tea.{what}"]

    def flow(self, name: str) -> set[bytes]:
        swarm = self.sessions[name].swarms["tea"]
        return {one for one, _ in swarm.flow.between(0, START_MS * 2, self.world.now_ms)}

    def check(self) -> None:
        assert [fault for one in self.machines.values() for fault in one.faults] == []


def test_two_peers_that_meet_prove_themselves_to_each_other() -> None:
    swarm = Swarmed()
    swarm.begins("ada")
    swarm.begins("bob", "ada")
    for name in ("ada", "bob"):
        assert swarm.count(name, "proven_peers") == 1
        assert swarm.count(name, "synced") == 1
    swarm.check()


def test_a_peer_that_is_away_is_dialled_until_it_is_there() -> None:
    swarm = Swarmed()
    swarm.begins("bob", "ada")
    swarm.world.pass_time(60_000)
    swarm.begins("ada")
    swarm.world.pass_time(SETTINGS.refresh_ms)
    assert swarm.count("bob", "proven_peers") == 1
    swarm.machines["ada"].crash()
    swarm.world.pass_time(60_000)
    assert swarm.count("bob", "proven_peers") == 0
    swarm.begins("ada")
    swarm.world.pass_time(SETTINGS.refresh_ms)
    assert swarm.count("bob", "proven_peers") == 1
    swarm.check()


def test_a_chain_of_peers_a_late_joiner_and_a_crash_end_with_the_same_flow() -> None:
    swarm = Swarmed()
    names = ["a", "b", "c", "d"]
    for number, name in enumerate(names):
        swarm.begins(name, *names[max(0, number - 1) : number])
    for number in range(40):
        swarm.posts(names[number % 4], f"{number}")
        swarm.world.pass_time(100)
    swarm.machines["b"].crash()
    for number in range(40, 60):
        swarm.posts("a" if number % 2 else "d", f"{number}")
        swarm.world.pass_time(100)
    swarm.begins("b", "a")
    swarm.world.pass_time(2 * SETTINGS.refresh_ms)
    swarm.begins("late", "c")
    swarm.world.pass_time(2 * SETTINGS.refresh_ms)
    flows = {name: swarm.flow(name) for name in swarm.machines}
    assert {name: len(flow) for name, flow in flows.items()} == dict.fromkeys(flows, 60)
    assert len(set(map(frozenset, flows.values()))) == 1
    for name in swarm.machines:
        assert (swarm.count(name, "missing"), swarm.count(name, "synced")) == (0, 1)
    swarm.world.pass_time(31 * EPOCH_MS + SETTINGS.purge_ms)
    assert {swarm.count(name, "total") for name in swarm.machines} == {0}
    assert all(not machine.records.kept for machine in swarm.machines.values())
    swarm.check()


def test_every_frame_of_a_swarm_is_accepted_once_and_otherwise_known() -> None:
    swarm = Swarmed()
    for name in ("a", "b", "c"):
        swarm.begins(name, *{"a", "b", "c"} - {name})
    swarm.world.pass_time(2 * SETTINGS.refresh_ms)
    for number in range(10):
        swarm.posts("a", f"{number}")
        swarm.world.pass_time(10)
    for name in ("b", "c"):
        received = swarm.machines[name].counts.received
        assert received["CONTENT", Outcome.ACCEPTED, None] == 10
        assert not [one for one in received if one[1] is Outcome.REJECTED]
    swarm.check()


@pytest.mark.parametrize("seed", range(4))
def test_whatever_is_lost_on_the_way_all_end_with_the_same_flow(seed: int) -> None:
    world, random = World(START_MS, seed=seed), Random(seed)
    world.network.quality = Quality(loss=0.3, duplication=0.05, corruption=0.05)
    swarm = Swarmed(world)
    names = [f"n{number}" for number in range(8)]
    for number, name in enumerate(names):
        swarm.begins(name, *random.sample(names[:number], min(number, 3)))
    for number in range(60):
        name = random.choice(names)
        if swarm.machines[name].is_up:
            swarm.posts(name, f"{number}" * random.choice((1, 1, 1, 900)), ttl=90)
        if number in (20, 40):
            swarm.machines[names[number // 10]].crash()
        if number in (30, 50):
            swarm.begins(names[number // 10 - 1])
        world.pass_time(random.choice((10, 500, 4_000)))
    world.network.quality = Quality()
    world.pass_time(SETTINGS.sweep_ms + 4 * SETTINGS.refresh_ms)
    flows = {frozenset(swarm.flow(name)) for name in names}
    assert len(flows) == 1
    assert len(flows.pop()) > 50
    assert {swarm.count(name, "missing") for name in names} == {0}
    swarm.check()


@pytest.mark.parametrize("closes", [False, True])
def test_what_a_peer_leaves_behind_when_it_goes(closes: bool) -> None:
    stage = Stage()
    ada: Other = stage.meets("ada")
    ada.says(stage.content("child", b"nonesuch"))
    if closes:
        stage.happens(Closed(ada.line, 1001))
        assert ("peer", ada.line) not in stage.timers
    stage.passes(200_000)
    stage.counts(irretrievable=0 if closes else 1)
