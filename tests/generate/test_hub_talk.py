from collections.abc import Callable

import pytest

from generate.rehearsal import NOON_US, Rehearsal
from wireloom.capture.frame import Direction
from wireloom.generate.hub import ACTORS
from wireloom.generate.hub_talk import REFUSALS, HubConversations
from wireloom.generate.timeline import END_US
from wireloom.protocols.signalhub.messages import Published
from wireloom.wire.outcome import Fate, Outcome, Reason

Kind = Callable[[HubConversations], Callable[[int], None]]

FATES: list[tuple[Kind, Fate]] = [
    (lambda t: t.told, Fate.DELIVERED),
    (lambda t: t.asked, Fate.DELIVERED),
    (lambda t: t.queued_and_delivered, Fate.DELIVERED),
    (lambda t: t.broadcast, Fate.DELIVERED),
    (lambda t: t.broadcast_queued, Fate.DELIVERED),
    (lambda t: t.broadcast_in_vain, Fate.REJECTED),
    (lambda t: t.refused, Fate.REJECTED),
    (lambda t: t.publication_refused, Fate.REJECTED),
    (lambda t: t.queued_and_expired, Fate.EXPIRED),
    (lambda t: t.expired, Fate.EXPIRED),
    (lambda t: t.queued, Fate.IN_FLIGHT),
    (lambda t: t.lost, Fate.LOST),
    (lambda t: t.published_in_vain, Fate.LOST),
]


def talk() -> tuple[HubConversations, Rehearsal]:
    rehearsal = Rehearsal("signalhub")
    return HubConversations(rehearsal.scene), rehearsal


@pytest.mark.parametrize(("kind", "state"), FATES)
def test_each_kind_of_conversation_has_its_fate(kind: Kind, state: Fate) -> None:
    conversations, rehearsal = talk()
    for _ in range(4):
        kind(conversations)(NOON_US)
    assert {row.state for row in rehearsal.rows} == {state}
    assert len(rehearsal.rows) >= 4


def test_a_publication_is_delivered_if_somebody_gets_it() -> None:
    conversations, rehearsal = talk()
    for _ in range(12):
        conversations.published(NOON_US)
    counts = [
        message.payload.subscriber_count
        for message in rehearsal.messages()
        if isinstance(message, Published)
    ]
    assert {(row.state, row.reason) for row in rehearsal.rows} == {
        (Fate.DELIVERED, None),
        (Fate.REJECTED, Reason.UNKNOWN_DESTINATION),
    }
    heard = [row for row in rehearsal.rows if row.state is Fate.DELIVERED]
    assert len(heard) == sum(count > 0 for count in counts)


def test_every_refusal_has_its_reason() -> None:
    conversations, rehearsal = talk()
    for _ in REFUSALS:
        conversations.refused(NOON_US)
    assert [row.reason for row in rehearsal.rows] == [reason for reason, _, _ in REFUSALS]


def test_a_queued_message_that_is_released_after_the_end_is_in_flight_or_lost() -> None:
    conversations, rehearsal = talk()
    for _ in range(8):
        conversations.queued_and_delivered(END_US - 5_000_000)
    assert Fate.DELIVERED not in {row.state for row in rehearsal.rows}


def test_an_actor_that_speaks_for_the_hub_is_refused_and_changes_nothing() -> None:
    conversations, rehearsal = talk()
    conversations.forge(NOON_US)
    assert not rehearsal.frames
    conversations.lost(NOON_US)
    for _ in range(8):
        conversations.forge(NOON_US)
    conversations.forge(END_US)
    forged = [frame for frame in rehearsal.frames if frame.outcome is Outcome.REJECTED]
    assert {(f.direction, f.reason) for f in forged} == {(Direction.IN, Reason.UNAUTHORIZED)}
    assert rehearsal.types() == {"hub:send", "hub:delivery_ack", "hub:error"}
    assert [row.state for row in rehearsal.rows] == [Fate.LOST]
    assert rehearsal.truth.counts()["forged"] == 8


def test_all_actors_connect_at_the_beginning() -> None:
    conversations, rehearsal = talk()
    conversations.opening(NOON_US)
    assert {frame.peer for frame in rehearsal.frames} == set(ACTORS)
