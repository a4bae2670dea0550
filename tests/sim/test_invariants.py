"""Every invariant notices what it is for: one line of a session is broken, and a seed finds it."""

import re
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from sim import plays
from wireloom.protocols.cthun.broker import held, kept
from wireloom.protocols.cthun.broker.delivery import Delivery as BrokerDelivery
from wireloom.protocols.cthun.broker.held import Holding
from wireloom.protocols.cthun.broker.inventory import Inventory
from wireloom.protocols.cthun.broker.redelivery import Redelivery
from wireloom.protocols.cthun.broker.session import BrokerSession
from wireloom.protocols.signalhub.hub.delivery import Delivery as HubDelivery
from wireloom.protocols.signalhub.hub.mailboxes import Parcel
from wireloom.protocols.signalhub.hub.session import HubSession
from wireloom.protocols.uep12.messages import Content
from wireloom.protocols.uep12.peer import records
from wireloom.protocols.uep12.peer import swarm as peer_swarm
from wireloom.protocols.uep12.peer.answers import Answers
from wireloom.protocols.uep12.peer.flow import Flow
from wireloom.protocols.uep12.peer.pulls import Pulls
from wireloom.protocols.uep12.peer.requests import Received
from wireloom.protocols.uep12.peer.swarm import Swarm
from wireloom.sim.invariants import SENTENCES, SETTLED_SECONDS, agreed
from wireloom.sim.parts import Part
from wireloom.sim.scenario import Scenario
from wireloom.sim.world import World
from wireloom.wire.outcome import Outcome
from wireloom.wire.session import Conclude, Session, Store
from wireloom.wire.shares import Shares

Break = Callable[[pytest.MonkeyPatch], None]


def _elsewhere(store: Store) -> Store:
    """A record under a kind that nobody reads again."""
    return Store("nowhere", store.key, store.value)


# The broker.


def broker_gives_no_reason(patch: pytest.MonkeyPatch) -> None:
    def on_frame(*_: object) -> Conclude:
        return Conclude(Outcome.REJECTED)

    patch.setattr(BrokerSession, "_on_frame", on_frame)


def broker_fails(patch: pytest.MonkeyPatch) -> None:
    def receivers(self: Inventory, targets: Sequence[str]) -> list[str]:
        raise KeyError(targets[0])

    patch.setattr(Inventory, "receivers", receivers)


def broker_frame(change: Callable[[bytes], bytes], times: int = 1) -> Break:
    """What the broker passes on is another frame, or the same several times."""

    def breaks(patch: pytest.MonkeyPatch) -> None:
        send = BrokerDelivery._send

        def changed(self: BrokerDelivery, turn: Any, clients: Any, frame: bytes) -> None:
            for _ in range(times):
                send(self, turn, clients, change(frame))

        patch.setattr(BrokerDelivery, "_send", changed)

    return breaks


def _other_end(frame: bytes) -> bytes:
    return re.sub(rb"(~[a-z]+)[a-z]", rb"\1!", frame)


def _other_sender(frame: bytes) -> bytes:
    return frame.replace(b"client-0/agent", b"client-1/agent")


def broker_takes_everybody(patch: pytest.MonkeyPatch) -> None:
    def receivers(self: Inventory, targets: Sequence[str]) -> list[str]:
        return sorted(self.clients)

    patch.setattr(Inventory, "receivers", receivers)


def broker_looks_at_no_clock(patch: pytest.MonkeyPatch) -> None:
    next_for = Holding.next_for
    patch.setattr(Holding, "next_for", lambda self, uri, now_ms: next_for(self, uri, 0))
    patch.setattr(Holding, "expired", lambda self, count, now_ms: iter(()))


def broker_forgets(patch: pytest.MonkeyPatch) -> None:
    stored = kept.stored
    patch.setattr(held, "stored", lambda *args: _elsewhere(stored(*args)))


def room_has_no_end(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Shares, "fits", lambda *_: True)


def broker_delivers_nothing_later(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Redelivery, "deliver", lambda *_: None)


# The hub.


def hub_says_two_outcomes(patch: pytest.MonkeyPatch) -> None:
    receive = HubSession._receive

    def twice(self: HubSession, turn: Any, event: Any) -> Conclude:
        concluded = receive(self, turn, event)
        turn.commands.append(concluded)
        return concluded

    patch.setattr(HubSession, "_receive", twice)


def hub_fails(patch: pytest.MonkeyPatch) -> None:
    def queue(*_: object) -> None:
        raise IndexError("no box")

    patch.setattr(HubDelivery, "_queue", queue)


def hub_hands_over_twice(patch: pytest.MonkeyPatch) -> None:
    hand_over = HubDelivery._hand_over

    def twice(self: HubDelivery, *args: Any) -> bool:
        hand_over(self, *args)
        return hand_over(self, *args)

    patch.setattr(HubDelivery, "_hand_over", twice)


def hub_parcel(**fields: Callable[[Parcel], object]) -> Break:
    """What waits at the hub is not what was sent."""

    def breaks(patch: pytest.MonkeyPatch) -> None:
        pack = HubDelivery._parcel

        def changed(self: HubDelivery, *args: Any) -> Parcel:
            parcel = pack(self, *args)
            changes = {name: change(parcel) for name, change in fields.items()}
            return msgspec.structs.replace(parcel, **changes)

        patch.setattr(HubDelivery, "_parcel", changed)

    return breaks


def hub_forgets(patch: pytest.MonkeyPatch) -> None:
    store = Parcel.store
    patch.setattr(Parcel, "store", lambda self: _elsewhere(store(self)))


def hub_flushes_nothing(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(HubDelivery, "flush_address", lambda *_: None)


# The peer of a swarm.


def peer_gives_no_reason(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Swarm, "receive", lambda *_: Conclude(Outcome.REJECTED))


def peer_fails(patch: pytest.MonkeyPatch) -> None:
    def window(*_: object) -> None:
        raise IndexError("no window")

    patch.setattr(Answers, "_window", window)


def peer_tells_its_side_twice(patch: pytest.MonkeyPatch) -> None:
    append = Swarm._append

    def twice(self: Swarm, turn: Any, *args: Any) -> None:
        append(self, turn, *args)
        turn.commands.append(turn.commands[-1])

    patch.setattr(Swarm, "_append", twice)


def peer_payload(change: Callable[[bytes], bytes]) -> Break:
    """What the application is told is not what came."""

    def breaks(patch: pytest.MonkeyPatch) -> None:
        def changed(name: str, hashed: bytes, content: Content) -> Received:
            payload = change(content.payload)
            return Received(name, hashed, msgspec.structs.replace(content, payload=payload))

        patch.setattr(peer_swarm, "Received", changed)

    return breaks


def peer_looks_at_no_clock(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Flow, "find", lambda self, msg_hash, now_ms: self._messages.get(msg_hash))


def peer_forgets(patch: pytest.MonkeyPatch) -> None:
    stored = records.stored
    patch.setattr(peer_swarm, "stored", lambda *args: _elsewhere(stored(*args)))


def peer_pulls_once(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Pulls, "retry", lambda *_: None)


def peer_lists_nothing(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Answers, "_window", lambda self, turn, pull, room: ([], pull.end_time))


ALL_DIE = {"die": {"kind": "crash", "who": "peer", "every_seconds": 15, "share": 1.0}}

BROKEN: list[tuple[str, Scenario, Break]] = [
    ("frames", plays.broker(), broker_gives_no_reason),
    ("faults", plays.broker(), broker_fails),
    ("once", plays.broker(faults={}), broker_frame(bytes, times=2)),
    ("unaltered", plays.broker(), broker_frame(_other_end)),
    ("authentic", plays.broker(), broker_frame(_other_sender)),
    ("addressed", plays.broker(), broker_takes_everybody),
    ("in_time", plays.broker(ttl_seconds=5), broker_looks_at_no_clock),
    ("kept", plays.broker(), broker_forgets),
    ("bounded", plays.broker(limits={"held_count": 3}), room_has_no_end),
    ("drained", plays.broker(), broker_delivers_nothing_later),
    ("frames", plays.hub(), hub_says_two_outcomes),
    ("faults", plays.hub(), hub_fails),
    ("once", plays.hub(), hub_hands_over_twice),
    ("unaltered", plays.hub(), hub_parcel(payload=lambda one: one.payload[:-1] + b'!"')),
    ("authentic", plays.hub(), hub_parcel(sender=lambda one: one.target)),
    ("addressed", plays.hub(), hub_parcel(target=lambda one: one.sender)),
    ("in_time", plays.hub(ttl_seconds=2), hub_parcel(deadline_ms=lambda one: 1 << 42)),
    ("kept", plays.hub(), hub_forgets),
    ("bounded", plays.hub(limits={"max_all_queued": 3}), room_has_no_end),
    ("drained", plays.hub(), hub_flushes_nothing),
    ("frames", plays.swarm(), peer_gives_no_reason),
    ("faults", plays.swarm(), peer_fails),
    ("once", plays.swarm(faults={}), peer_tells_its_side_twice),
    ("unaltered", plays.swarm(), peer_payload(lambda said: said[:-1] + b"!")),
    ("authentic", plays.swarm(), peer_payload(lambda said: b"~0" + said[2:])),
    ("in_time", plays.swarm(ttl_seconds=5), peer_looks_at_no_clock),
    ("kept", plays.swarm(faults=ALL_DIE), peer_forgets),
    ("bounded", plays.swarm(limits={"stored_count": 3}), room_has_no_end),
    ("drained", plays.swarm(links={"loss": 0.4}), peer_pulls_once),
]


@pytest.mark.parametrize(
    ("invariant", "scenario", "breaks"),
    BROKEN,
    ids=[f"{one}-{next(iter(played.cast.values())).role}" for one, played, _ in BROKEN],
)
def test_what_is_broken_on_purpose_is_found(
    invariant: str, scenario: Scenario, breaks: Break, monkeypatch: pytest.MonkeyPatch
) -> None:
    breaks(monkeypatch)
    result = plays.found(scenario)
    assert result is not None
    broken = result.broken[0]
    assert broken.invariant == invariant
    assert broken.machines
    assert broken.invariant in SENTENCES


@pytest.mark.parametrize(
    "scenario", [plays.hub(), plays.broker(), plays.swarm()], ids=["hub", "broker", "swarm"]
)
def test_nothing_is_found_where_nothing_is_broken(scenario: Scenario) -> None:
    assert plays.found(scenario, seeds=10) is None


def test_a_swarm_in_which_nobody_is_told_what_was_before_does_not_agree(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    peer_lists_nothing(monkeypatch)
    result = plays.found(plays.swarm())
    assert result is not None
    assert {"agreed", "kept"} == {broken.invariant for broken in result.broken}


def test_every_invariant_has_a_test_on_purpose() -> None:
    assert {one for one, _, _ in BROKEN} | {"agreed"} == set(SENTENCES)


class Peer(Part):
    """Holds what it is told to hold."""

    def __init__(self, name: str, *, joined_ns: int | None, held: set[bytes]) -> None:
        self.machine = World().add(name, "toy")
        self.joined_ns = joined_ns
        self._held = held

    def session(self) -> Session:
        raise NotImplementedError

    @classmethod
    def check(cls, *_: object) -> None:
        raise NotImplementedError

    def flow(self) -> str:
        return "news"

    def held(self, now_ns: int) -> frozenset[bytes]:
        return frozenset(self._held)


def test_peers_that_lack_what_others_hold_are_told_once_they_had_time() -> None:
    late_ns = int(SETTLED_SECONDS * 1e9)
    full = Peer("full", joined_ns=0, held={b"a", b"b"})
    poor = Peer("poor", joined_ns=0, held={b"a"})
    young = Peer("young", joined_ns=1, held=set())
    away = Peer("away", joined_ns=None, held=set())
    scene = SimpleNamespace(parts=[full, poor, young, away], now_ns=late_ns)
    assert list(agreed(scene)) == [("poor lacks 1 of 2 messages of news", ("poor",))]
