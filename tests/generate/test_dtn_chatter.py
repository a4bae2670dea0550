from generate.rehearsal import NOON_US, Rehearsal
from wireloom.generate.dtn import Carriers
from wireloom.generate.dtn_chatter import SUBSCRIBERS, TOPIC, Chatter
from wireloom.protocols.dtn.integrity import authenticate, authenticate_control
from wireloom.protocols.dtn.messages import Bundle, ControlMessage, Payment, SubMsg
from wireloom.wire.outcome import Auth


def chatter() -> tuple[Chatter, Carriers, Rehearsal]:
    rehearsal = Rehearsal("dtn")
    carriers = Carriers(rehearsal.scene)
    return Chatter(carriers), carriers, rehearsal


def test_some_nodes_subscribe_at_the_beginning() -> None:
    talk, carriers, rehearsal = chatter()
    talk.introduce(NOON_US)
    bundles = rehearsal.messages()
    assert {one.header.src_pub for one in bundles} == {
        node.key.public for node in carriers.nodes[:SUBSCRIBERS]
    }
    assert all(isinstance(one.payload, SubMsg) for one in bundles)
    assert {one.payload.topic_id for one in bundles} == {TOPIC}


def test_a_replayed_payment_has_the_same_nonce_in_another_bundle() -> None:
    talk, _, rehearsal = chatter()
    talk.paid(NOON_US)
    talk.paid_twice(NOON_US)
    bundles = set()
    nonces = []
    for one in rehearsal.messages():
        assert isinstance(one.payload, Payment)
        if one.header.created_at not in bundles or one.payload.nonce not in nonces:
            nonces.append(one.payload.nonce)
        bundles.add(one.header.created_at)
    assert sorted(nonces) == [1, 2, 2]


def test_small_talk_is_signed_in_bundles_or_by_itself_and_has_no_fate() -> None:
    talk, carriers, rehearsal = chatter()
    keys = [node.key.public for node in carriers.nodes]
    for _ in range(8):
        for _, say in talk.kinds():
            say(NOON_US)
    messages = rehearsal.messages()
    assert {isinstance(one, Bundle) for one in messages} == {True, False}
    for one in messages:
        if isinstance(one, Bundle):
            assert authenticate(one, b"", ()) is Auth.VALID
        payload = one.payload if isinstance(one, Bundle) else one
        assert isinstance(payload, ControlMessage)
        if payload.signature_field:
            assert authenticate_control(payload, keys) is Auth.VALID
    assert not rehearsal.rows
    assert rehearsal.types() == {"SubMsg", "LinkMetrics", "Payment", "GroupAnnounceMsg"}
