"""What signatures and proofs of work say."""

import pyarrow as pa

from support.cases import case
from wireloom.pipeline.verdicts import SCHEMA, judge, judge_batches
from wireloom.protocols.dtn.constants import CancelReason, Destination
from wireloom.protocols.dtn.integrity import compose, sign
from wireloom.protocols.dtn.messages import DeliveryCancel
from wireloom.wire.keys import SigningKey, uid
from wireloom.wire.outcome import Auth

KEY, OTHER = SigningKey(b"\1" * 32), SigningKey(b"\2" * 32)


def cancel_by(signer: SigningKey, sender: SigningKey) -> bytes:
    cancel = DeliveryCancel(
        msg_id=b"\7" * 32,
        reason=CancelReason.RECALLED,
        issued_by_uid=uid(signer.public),
        sig=bytes(64),
    )
    signed = sign(cancel, signer)
    assert isinstance(signed, DeliveryCancel)
    destination = (Destination.USER, b"\3" * 32)
    bundle = compose(signed, sender, destination, created_at=1_700_000_000_000)
    return case("dtn").protocol.codec.encode(bundle)


def test_a_signed_message_in_a_signed_bundle_needs_both_to_hold() -> None:
    assert judge("dtn", cancel_by(KEY, KEY), ()) is Auth.VALID
    assert judge("dtn", cancel_by(OTHER, KEY), ()) is not Auth.VALID


def test_bytes_that_do_not_decode_prove_nothing() -> None:
    assert judge("uep12", b"", ()) is Auth.INVALID


def test_proof_of_work_is_judged_without_a_key() -> None:
    swarm = case("uep12")
    raw = swarm.protocol.codec.encode(swarm.samples["CONTENT"])
    assert judge("uep12", raw, ()) is Auth.VALID


def test_batches_are_judged_with_the_signers_key() -> None:
    swarm = case("uep12")
    raw = swarm.protocol.codec.encode(swarm.samples["CONTENT"])
    rows = pa.RecordBatch.from_pylist(
        [{"protocol": "uep12", "content": "c", "signer": None, "raw": raw}]
    )
    (judged,) = judge_batches({})(iter([rows, rows.slice(0, 0)]))
    assert judged.schema == SCHEMA
    assert judged.to_pylist() == [{"protocol": "uep12", "content": "c", "auth": "valid"}]
