"""One message of every type, bare and in bundles."""

from hashlib import sha256

import msgspec

from wireloom.protocols.dtn.constants import CancelReason, Destination, Priority, SubAction
from wireloom.protocols.dtn.identity import short_id
from wireloom.protocols.dtn.integrity import compose, sign
from wireloom.protocols.dtn.messages import (
    Bundle,
    ConfigUpdate,
    ControlMessage,
    Data,
    DeliveryAck,
    DeliveryCancel,
    DeliveryReceipt,
    GroupAnnounceMsg,
    GroupInviteMsg,
    GroupUpdateMsg,
    HopAck,
    LinkMetrics,
    Payment,
    SubMsg,
)
from wireloom.protocols.dtn.parts import BundleHeader, DeliveryPathHop
from wireloom.wire.keys import SigningKey, uid
from wireloom.wire.message import Message

KEY = SigningKey(bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"))
"""TEST 1 of RFC 8032."""

OTHER_KEY = SigningKey(
    bytes.fromhex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb")
)
"""TEST 2."""

UID = uid(KEY.public)
NOW = 1704067200000
ONES, TWOS, THREES = (bytes([n]) * 32 for n in (0x11, 0x22, 0x33))
NO_SIG = bytes(64)

HOP_ACK = HopAck(bundle_id=ONES, from_node=KEY.public, timestamp=NOW)
SUB_MSG = SubMsg(topic_id=ONES, action=SubAction.SUBSCRIBE, expires_at=NOW + 1, timestamp=NOW)
METRICS = LinkMetrics(
    cluster_tag=ONES, gateway_score=0.75, queue_length=3, delta_in=2**32 - 1, delta_out=0
)
PAYMENT = Payment(payer=KEY.public, payee=TWOS, amount=2**64 - 1, nonce=7, sig=NO_SIG)
INVITE = GroupInviteMsg(encrypted_payload=b"sealed", ephemeral_pub_key=ONES, nonce=b"n" * 24)
UPDATE = GroupUpdateMsg(encrypted_payload=b"sealed", nonce=b"n" * 12)
ACK = DeliveryAck(
    msg_id=ONES,
    to_uid=THREES,
    from_uid=UID,
    delivered_at_ms=NOW,
    transport_hint="nearby",
    sig=NO_SIG,
)
FULL_ACK = msgspec.structs.replace(
    ACK,
    status=2,
    ack_type=0,
    ack_h3r5=0x85283473FFFFFFF,
    ack_h3r7=0x872834700FFFFFF,
    hop_count=4,
    latency_ms=-250,
    path=(
        DeliveryPathHop(node=TWOS, transport="lora", at_ms=NOW - 1),
        DeliveryPathHop(extra={"rssi": -71, "raw": b"\1"}),
    ),
    extra={"note": "kept", "list": [1, 2.5, None, {"deep": True}]},
)
CANCEL = DeliveryCancel(msg_id=ONES, reason=CancelReason.ACKED, issued_by_uid=UID, sig=NO_SIG)
ANNOUNCE = GroupAnnounceMsg(
    group_id_string="group:hiking-club",
    short_id=short_id("group:hiking-club"),
    display_name="Hiking club",
    description="Mountains",
    creator_uid_hex=UID.hex(),
    created_at=NOW,
    creator_sig=NO_SIG,
)
CONFIG = ConfigUpdate(
    version=2,
    issued_at_ms=NOW,
    expires_at_ms=NOW + 1000,
    flags={"spray.max": "8", "log": "on"},
    issuer_key=KEY.public,
    signature=NO_SIG,
)
RECEIPT = DeliveryReceipt(extra={"bundleId": ONES, "ok": True})
DATA = Data(ciphertext=b"\x5a" * 24, nonce=b"\x0b" * 12)


def signed(message: ControlMessage) -> ControlMessage:
    """`message` with the signature of TEST 1."""
    made = sign(message, KEY)
    assert isinstance(made, ControlMessage)
    return made


def bundled(payload: ControlMessage, kind: Destination = Destination.USER) -> Bundle:
    """A bundle that carries `payload`."""
    return compose(payload, KEY, (kind, TWOS), created_at=NOW)


def receipt_bundle() -> Bundle:
    """A bundle with a deprecated payload, as an old node may still send it."""
    raw = bytes.fromhex("a1676d73675479706503")
    header = BundleHeader(
        src_pub=KEY.public,
        created_at=NOW,
        payload_hash=sha256(raw).digest(),
        ttl_sec=60,
        priority=Priority.CRITICAL,
        dst_node=ONES,
    )
    return Bundle(signature=NO_SIG, header=header, payload=DeliveryReceipt())


SAMPLES: dict[str, Message] = {
    "SubMsg": SUB_MSG,
    "HopAck": HOP_ACK,
    "DeliveryReceipt": RECEIPT,
    "LinkMetrics": METRICS,
    "Payment": signed(PAYMENT),
    "GroupInviteMsg": INVITE,
    "GroupUpdateMsg": UPDATE,
    "DeliveryAck": signed(ACK),
    "DeliveryCancel": signed(CANCEL),
    "GroupAnnounceMsg": signed(ANNOUNCE),
    "ConfigUpdate": signed(CONFIG),
    "Data": bundled(DATA),
    "DeliveryAck with all it can have": signed(FULL_ACK),
    "HopAck in a bundle": bundled(HOP_ACK, Destination.NODE),
    "LinkMetrics in a bundle": bundled(METRICS, Destination.CLUSTER),
    "DeliveryAck in a bundle": bundled(signed(FULL_ACK)),
    "DeliveryReceipt in a bundle": receipt_bundle(),
}
