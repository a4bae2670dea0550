from collections.abc import Callable

import pytest

from generate.rehearsal import NOON_US, Rehearsal
from wireloom.generate.dtn_data import DtnConversations
from wireloom.generate.timeline import END_US
from wireloom.protocols.dtn.messages import Bundle, DeliveryAck, DeliveryCancel
from wireloom.wire.outcome import Fate

Kind = Callable[[DtnConversations], Callable[[int], None]]

FATES: list[tuple[Kind, Fate]] = [
    (lambda t: t.delivered, Fate.DELIVERED),
    (lambda t: t.delivered_to_node, Fate.DELIVERED),
    (lambda t: t.delivered_to_listener, Fate.DELIVERED),
    (lambda t: t.cancelled_as_acked, Fate.DELIVERED),
    (lambda t: t.recalled_too_late, Fate.DELIVERED),
    (lambda t: t.published, Fate.DELIVERED),
    (lambda t: t.to_cluster, Fate.DELIVERED),
    (lambda t: t.invited, Fate.DELIVERED),
    (lambda t: t.membership_changed, Fate.DELIVERED),
    (lambda t: t.configured, Fate.DELIVERED),
    (lambda t: t.recalled, Fate.CANCELLED),
    (lambda t: t.expired_at_origin, Fate.EXPIRED),
    (lambda t: t.expired_by_word, Fate.EXPIRED),
    (lambda t: t.lost, Fate.LOST),
    (lambda t: t.waiting, Fate.IN_FLIGHT),
]


def talk() -> tuple[DtnConversations, Rehearsal]:
    rehearsal = Rehearsal("dtn")
    return DtnConversations(rehearsal.scene), rehearsal


@pytest.mark.parametrize(("kind", "state"), FATES)
def test_each_kind_of_conversation_has_its_fate(kind: Kind, state: Fate) -> None:
    conversations, rehearsal = talk()
    kind(conversations)(NOON_US)
    assert [row.state for row in rehearsal.rows] == [state]


def test_what_would_be_decided_after_the_end_is_still_open() -> None:
    conversations, rehearsal = talk()
    conversations.recalled(END_US - 1_000_000)
    assert [row.state for row in rehearsal.rows] == [Fate.IN_FLIGHT]


def test_the_destination_answers_with_a_receipt_in_a_bundle_of_its_own() -> None:
    conversations, rehearsal = talk()
    conversations.delivered(NOON_US)
    receipts = [one for one in rehearsal.messages() if isinstance(one.payload, DeliveryAck)]
    assert {one.payload.from_uid.hex() for one in receipts} == {rehearsal.rows[0].destination}
    assert {one.payload.msg_id.hex() for one in receipts} == {rehearsal.rows[0].message_id}


def test_a_recall_is_by_the_origin() -> None:
    conversations, rehearsal = talk()
    conversations.recalled(NOON_US)
    first = rehearsal.messages()[0]
    recalls = [one for one in rehearsal.messages() if isinstance(one.payload, DeliveryCancel)]
    assert isinstance(first, Bundle)
    assert {one.header.src_pub for one in recalls} == {first.header.src_pub}


def test_the_opening_subscribes_and_forging_is_counted() -> None:
    conversations, rehearsal = talk()
    conversations.opening(NOON_US)
    assert rehearsal.types() == {"SubMsg"}
    conversations.lost(NOON_US)
    conversations.forge(NOON_US)
    assert rehearsal.truth.counts()["forged"] == 1
