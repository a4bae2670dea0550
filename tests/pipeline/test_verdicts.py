"""What signatures and proofs of work say."""

import pyarrow as pa
from msgspec.structs import replace

from support.cases import case
from wireloom.pipeline.verdicts import SCHEMA, judge, judge_batches
from wireloom.protocols.dtn.constants import CancelReason, Destination
from wireloom.protocols.dtn.integrity import compose, sign
from wireloom.protocols.dtn.messages import DeliveryCancel
from wireloom.protocols.myriadmesh.constants import Flags
from wireloom.protocols.myriadmesh.integrity import node_id, relay
from wireloom.protocols.myriadmesh.integrity import sign as mesh_sign
from wireloom.protocols.myriadmesh.messages import Discovery, Frame
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
    judged, nothing = judge_batches({}, 3)(iter([rows, rows.slice(0, 0)]))
    assert not nothing.num_rows
    assert judged.schema == SCHEMA
    assert judged.to_pylist() == [
        {"protocol": "uep12", "content": "c", "signer": None, "auth": "valid", "slice": 3}
    ]


def mesh_frames() -> list[bytes]:
    """Signed, relayed, tampered with, unsigned, by a stranger, and one that brings its key."""
    mesh = case("myriadmesh")
    encode = mesh.protocol.codec.encode
    sample, announcement = mesh.samples["DATA"], mesh.samples["DISCOVERY"]
    assert isinstance(sample, Frame)
    assert isinstance(announcement, Frame)
    data = replace(sample, source_node_id=node_id(KEY.public))
    raw = encode(mesh_sign(data, KEY))
    tampered = raw[:-70] + bytes([raw[-70] ^ 1]) + raw[-69:]
    stranger = replace(data, source_node_id=node_id(OTHER.public))
    discovery = replace(
        announcement,
        source_node_id=node_id(OTHER.public),
        payload=Discovery(public_key=OTHER.public),
    )
    unsigned = replace(data, flags=data.flags & ~Flags.SIGNED, signature=None)
    others = [encode(mesh_sign(one, OTHER)) for one in (stranger, discovery)]
    return [raw, relay(raw), tampered, encode(unsigned), *others, raw[:50]]


def test_frames_of_the_mesh_are_judged_alike_one_by_one_and_in_batches() -> None:
    raws = mesh_frames()
    signers = [raw[27:59].hex() for raw in raws]
    keys = {node_id(KEY.public).hex(): KEY.public}
    rows = pa.RecordBatch.from_pylist(
        [
            {"protocol": "myriadmesh", "content": "c", "signer": signer, "raw": raw}
            for signer, raw in zip(signers, raws, strict=True)
        ]
    )
    (judged,) = judge_batches(keys, 0)(iter([rows]))
    found = judged.column("auth").to_pylist()
    assert found == ["valid", "valid", "invalid", "unsigned", "unknown_key", "valid", "invalid"]
    assert found == [judge("myriadmesh", raw, list(keys.values())).value for raw in raws]
