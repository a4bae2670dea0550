"""The control messages of Mycel DTN, application data, and the bundle that carries them.

Fields stand in the specification's order; on the wire a map is sorted by its keys.
"""

from typing import Annotated, ClassVar, Final

from msgspec import Meta

from wireloom.protocols.dtn.constants import (
    ACK_BY_RECIPIENT,
    DELIVERED,
    SHORT_ID_SIZE,
    CancelReason,
    MsgType,
    SubAction,
)
from wireloom.protocols.dtn.maps import put_map
from wireloom.protocols.dtn.parts import BundleHeader, DeliveryPathHop, DtnMap, Extra
from wireloom.wire.fields import U8, U32, U64, Bytes12, Bytes24, Bytes32, Bytes64, Millis
from wireloom.wire.message import Message

Score = Annotated[float, Meta(ge=0, le=1, extra={"size": "4 B, float"})]
Latency = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1, extra={"size": "8 B, ms, signed"})]
Amount = Annotated[int, Meta(ge=1, extra={"size": "8 B"})]
UidHex = Annotated[
    str,
    Meta(
        pattern=r"\A[0-9A-Fa-f]{64}\Z",
        extra={"size": "64 characters", "looks": "a UID in hex has 64 digits 0-9 and a-f"},
    ),
]
ShortId = Annotated[
    str,
    Meta(min_length=SHORT_ID_SIZE, max_length=SHORT_ID_SIZE, extra={"size": "10 characters"}),
]


class ControlMessage(DtnMap, frozen=True, kw_only=True):
    """A map with a `msgType`: what a bundle carries, or what travels by itself."""

    number: ClassVar[MsgType]
    signature_field: ClassVar[str | None] = None
    """The field with the message's own signature, where it has one (R3)."""

    derived: ClassVar[tuple[str, ...]] = ("msg_type",)

    @property
    def msg_type(self) -> MsgType:
        """The number that tells this type of message from the others."""
        return self.number


class SubMsg(ControlMessage, frozen=True, kw_only=True):
    """Subscribes to a topic of a group or channel, or ends that."""

    number = MsgType.SUB_MSG

    topic_id: Bytes32
    """The topic."""

    action: SubAction
    """Whether this begins or ends the subscription."""

    expires_at: Millis | None = None
    """When the subscription ends by itself, in ms since 1970."""

    timestamp: Millis
    """When the message was made, in ms since 1970; the latest of a subscriber wins."""

    extra: Extra = {}
    """Fields that this version does not know."""


class HopAck(ControlMessage, frozen=True, kw_only=True):
    """Says that a node took over a bundle from the hop before it."""

    number = MsgType.HOP_ACK

    bundle_id: Bytes32
    """The bundle that was taken over."""

    from_node: Bytes32
    """Public key (not UID) of the node that took it."""

    timestamp: Millis
    """When it did, in ms since 1970."""

    extra: Extra = {}
    """Fields that this version does not know."""


class DeliveryReceipt(ControlMessage, frozen=True, kw_only=True):
    """The deprecated receipt: none of its fields is known, all are kept (R17)."""

    number = MsgType.DELIVERY_RECEIPT

    extra: Extra = {}
    """All its fields."""


class LinkMetrics(ControlMessage, frozen=True, kw_only=True):
    """How well a cluster's gateway does, for routing."""

    number = MsgType.LINK_METRICS

    cluster_tag: Bytes32
    """The cluster's MycTagStar."""

    gateway_score: Score
    """Quality from 0 to 1, in single precision."""

    queue_length: U32
    """How many bundles wait to be sent."""

    delta_in: U32
    """How many bundles came in since the last report."""

    delta_out: U32
    """How many bundles went out since then."""

    extra: Extra = {}
    """Fields that this version does not know."""


class Payment(ControlMessage, frozen=True, kw_only=True):
    """A micropayment for carrying bundles."""

    number = MsgType.PAYMENT
    signature_field = "sig"

    payer: Bytes32
    """Public key of who pays."""

    payee: Bytes32
    """Public key of who is paid; never the payer's."""

    amount: Amount
    """How much, at least 1."""

    nonce: U64
    """A number that this payer uses once."""

    sig: Bytes64
    """The payer's signature."""

    extra: Extra = {}
    """Fields that this version does not know."""


class GroupInviteMsg(ControlMessage, frozen=True, kw_only=True):
    """An invitation to a private group, sealed for one user."""

    number = MsgType.GROUP_INVITE_MSG

    encrypted_payload: bytes
    """The sealed invitation: XChaCha20-Poly1305, tag last."""

    ephemeral_pub_key: Bytes32
    """X25519 public key made for this invitation."""

    nonce: Bytes24
    """The cipher's nonce."""

    extra: Extra = {}
    """Fields that this version does not know."""


class GroupUpdateMsg(ControlMessage, frozen=True, kw_only=True):
    """A change of a group's members, sealed for the group."""

    number = MsgType.GROUP_UPDATE_MSG

    encrypted_payload: bytes
    """The sealed change: AES-256-GCM under the group's key, tag last."""

    nonce: Bytes12
    """The cipher's nonce."""

    extra: Extra = {}
    """Fields that this version does not know."""


class DeliveryAck(ControlMessage, frozen=True, kw_only=True):
    """The destination's signed word that a bundle reached it."""

    number = MsgType.DELIVERY_ACK
    signature_field = "sig"

    msg_id: Bytes32
    """The bundle that arrived."""

    to_uid: Bytes32
    """UID of who sent that bundle."""

    from_uid: Bytes32
    """UID of its destination, who signs."""

    delivered_at_ms: Millis
    """When it arrived, in ms since 1970."""

    status: U8 = DELIVERED
    """1: delivered to the application (R29)."""

    ack_type: U8 = ACK_BY_RECIPIENT
    """1: by the recipient."""

    ack_h3r5: U64 | None = None
    """Coarse place of the recipient: an H3 index of resolution 5."""

    ack_h3r7: U64 | None = None
    """Finer place: an H3 index of resolution 7."""

    hop_count: U32 | None = None
    """How many hops the bundle took (R11)."""

    latency_ms: Latency | None = None
    """How long it took; below 0 where the clocks disagree (R18)."""

    transport_hint: str | None = None
    """How it came: `nearby`, `nostr`, `relay`, `lora` or another word (R9)."""

    path: tuple[DeliveryPathHop, ...] | None = None
    """The hops it took."""

    sig: Bytes64
    """The destination's signature."""

    extra: Extra = {}
    """Fields that this version does not know."""


class DeliveryCancel(ControlMessage, frozen=True, kw_only=True):
    """Tells all who hold a bundle to drop it."""

    number = MsgType.DELIVERY_CANCEL
    signature_field = "sig"

    msg_id: Bytes32
    """The bundle to drop."""

    reason: CancelReason
    """Why."""

    issued_by_uid: Bytes32
    """UID of who says so and signs."""

    sig: Bytes64
    """The issuer's signature."""

    extra: Extra = {}
    """Fields that this version does not know."""


class GroupAnnounceMsg(ControlMessage, frozen=True, kw_only=True):
    """Makes a public group known, in plain text."""

    number = MsgType.GROUP_ANNOUNCE_MSG
    signature_field = "creator_sig"

    group_id_string: str
    """The group, such as `group:hiking-club`."""

    short_id: ShortId
    """Ten characters that follow from the group's id (R19)."""

    display_name: str
    """The name that people see."""

    description: str | None = None
    """What the group is about."""

    creator_uid_hex: UidHex
    """UID of who made the group, in hex."""

    created_at: Millis
    """When, in ms since 1970."""

    creator_sig: Bytes64
    """The creator's signature."""

    extra: Extra = {}
    """Fields that this version does not know."""


class ConfigUpdate(ControlMessage, frozen=True, kw_only=True):
    """Settings from a manager whom the node trusts."""

    number = MsgType.CONFIG_UPDATE
    signature_field = "signature"

    version: U64
    """Counts up; only a greater one than the last is applied."""

    issued_at_ms: Millis
    """When it was issued, in ms since 1970."""

    expires_at_ms: Millis | None = None
    """When it is void, in ms since 1970."""

    flags: dict[str, str]
    """The settings by name."""

    issuer_key: Bytes32
    """The manager's public key."""

    signature: Bytes64
    """The manager's signature."""

    extra: Extra = {}
    """Fields that this version does not know."""


class Data(ControlMessage, frozen=True, kw_only=True):
    """Application data in a bundle."""

    number = MsgType.DATA

    ciphertext: bytes
    """The data, sealed by its sender or as it is."""

    nonce: Bytes12 | None = None
    """The cipher's nonce, where it is sealed."""

    ephemeral_pub: Bytes32 | None = None
    """X25519 public key made for this bundle, where it is sealed for one user."""

    extra: Extra = {}
    """Fields that this version does not know."""


class Bundle(Message, frozen=True, kw_only=True):
    """A control message or application data, signed by its sender and carried by others."""

    derived: ClassVar[tuple[str, ...]] = ("header_length", "payload_length")

    signature: Bytes64
    """The sender's signature; 64 zero bytes if there is none."""

    header: BundleHeader
    """Where it comes from and where it goes."""

    payload: ControlMessage
    """What it carries."""

    payload_cbor: bytes | None = None
    """The payload as it came, where that is not deterministic CBOR: hash, id and signature
    are over these bytes."""

    @property
    def header_length(self) -> int:
        """How many bytes the header takes in deterministic CBOR."""
        return len(put_map(self.header))

    @property
    def payload_length(self) -> int:
        """How many bytes the payload takes."""
        return len(self.payload_bytes())

    def payload_bytes(self) -> bytes:
        """The payload as it travels.

        Raises:
            MalformedError: If it cannot be written.
        """
        return put_map(self.payload) if self.payload_cbor is None else self.payload_cbor


ALL_TYPES: Final[dict[str, type[ControlMessage]]] = {
    cls.__name__: cls
    for cls in (
        SubMsg,
        HopAck,
        DeliveryReceipt,
        LinkMetrics,
        Payment,
        GroupInviteMsg,
        GroupUpdateMsg,
        DeliveryAck,
        DeliveryCancel,
        GroupAnnounceMsg,
        ConfigUpdate,
        Data,
    )
}
"""Every message type that is read, by the specification's own name."""

DEPRECATED: Final = frozenset({DeliveryReceipt})
"""Read and carried, never composed (R17)."""

TYPES: Final[dict[str, type[Message]]] = {
    name: cls for name, cls in ALL_TYPES.items() if cls not in DEPRECATED
}
"""Every message type that is composed."""

PARTS: Final[tuple[type[Message], ...]] = (DeliveryReceipt, Bundle, BundleHeader)
"""Further classes that a reader of the field tables looks for."""
