from collections.abc import Callable

import pytest

from generate.rehearsal import NOON_US, Rehearsal
from wireloom.capture.frame import Direction
from wireloom.generate.broker import AGENTS, ALL_AGENTS, BROKER, ERRORS, BrokerConversations
from wireloom.generate.timeline import END_US
from wireloom.protocols.cthun.constants import Stage
from wireloom.protocols.cthun.messages import DestinationReport
from wireloom.wire.outcome import Fate, Outcome, Reason

Kind = Callable[[BrokerConversations], Callable[[int], None]]

FATES: list[tuple[Kind, set[Fate]]] = [
    (lambda t: t.asked, {Fate.DELIVERED}),
    (lambda t: t.told_all, {Fate.DELIVERED}),
    (lambda t: t.asked_all_in_vain, {Fate.LOST}),
    (lambda t: t.expired, {Fate.EXPIRED}),
    (lambda t: t.expired_unheard, {Fate.EXPIRED}),
    (lambda t: t.expired_on_arrival, {Fate.EXPIRED}),
    (lambda t: t.partly_expired, {Fate.DELIVERED, Fate.EXPIRED}),
    (lambda t: t.refused, {Fate.REJECTED}),
    (lambda t: t.lost, {Fate.LOST}),
    (lambda t: t.waiting, {Fate.IN_FLIGHT}),
    (lambda t: t.associated, set()),
    (lambda t: t.association_refused, set()),
    (lambda t: t.inventory, set()),
    (lambda t: t.undecodable, set()),
]


def talk() -> tuple[BrokerConversations, Rehearsal]:
    rehearsal = Rehearsal("cthun")
    return BrokerConversations(rehearsal.scene), rehearsal


@pytest.mark.parametrize(("kind", "states"), FATES)
def test_each_kind_of_conversation_has_its_fates(kind: Kind, states: set[Fate]) -> None:
    conversations, rehearsal = talk()
    kind(conversations)(NOON_US)
    assert {row.state for row in rehearsal.rows} == states
    assert {frame.node for frame in rehearsal.frames} == {BROKER}


def test_a_delivery_leaves_for_its_target_with_a_note_of_every_stage() -> None:
    conversations, rehearsal = talk()
    conversations.asked(NOON_US)
    left = [
        (frame, message)
        for frame, message in zip(rehearsal.frames, rehearsal.messages(), strict=True)
        if frame.direction is Direction.OUT
    ]
    for frame, message in left:
        assert frame.peer in message.envelope.targets
        stages = [hop.stage for hop in message.hops]
        assert stages == [Stage.ACCEPTED, Stage.ACCEPT_TO_QUEUE, Stage.DELIVER]
    assert len(left) == len(rehearsal.rows)


def test_a_wildcard_is_accounted_by_its_report() -> None:
    outcomes = set()
    for seed in range(40):
        rehearsal = Rehearsal("cthun", str(seed))
        BrokerConversations(rehearsal.scene).asked_all(NOON_US)
        reports = [
            message.data.targets
            for message in rehearsal.messages()
            if isinstance(message.data, DestinationReport)
        ]
        assert [row.destination for row in rehearsal.rows] == list(*reports)
        outcomes |= {row.state for row in rehearsal.rows}
    assert outcomes == {Fate.DELIVERED, Fate.EXPIRED, Fate.LOST}


def test_a_wildcard_of_which_nothing_is_known_stands_for_itself() -> None:
    conversations, rehearsal = talk()
    conversations.asked_all_in_vain(NOON_US)
    assert [row.destination for row in rehearsal.rows] == [ALL_AGENTS]


def test_every_refusal_has_its_reason() -> None:
    conversations, rehearsal = talk()
    for _ in ERRORS:
        conversations.refused(NOON_US)
    assert [row.reason for row in rehearsal.rows] == [reason for _, reason in ERRORS]


def test_a_client_that_speaks_for_the_broker_is_refused_and_changes_nothing() -> None:
    conversations, rehearsal = talk()
    conversations.forge(NOON_US)
    assert not rehearsal.frames
    conversations.lost(NOON_US)
    for _ in range(8):
        conversations.forge(NOON_US)
    conversations.forge(END_US)
    forged = [frame for frame in rehearsal.frames if frame.outcome is Outcome.REJECTED]
    assert {(f.direction, f.reason) for f in forged} == {(Direction.IN, Reason.UNAUTHENTICATED)}
    assert {frame.peer for frame in forged} <= set(AGENTS)
    assert len(rehearsal.types()) == 3
    assert [row.state for row in rehearsal.rows] == [Fate.LOST]
    assert rehearsal.truth.counts()["forged"] == 8


def test_clients_make_themselves_known_at_the_beginning() -> None:
    conversations, rehearsal = talk()
    conversations.opening(NOON_US)
    assert len({frame.peer for frame in rehearsal.frames}) == 8
