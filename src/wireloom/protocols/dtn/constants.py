"""The tables of Mycel DTN: message types, actions, priorities, sizes, limits, times."""

from enum import IntEnum, StrEnum
from typing import Final


class MsgType(IntEnum):
    """What a map says it is under the key `msgType`."""

    DATA = 0
    """Application data; only a bundle carries it."""

    SUB_MSG = 1
    HOP_ACK = 2
    DELIVERY_RECEIPT = 3
    """Deprecated: read and carried, never composed (R17)."""

    LINK_METRICS = 4
    PAYMENT = 5
    GROUP_INVITE_MSG = 6
    GROUP_UPDATE_MSG = 7
    DELIVERY_ACK = 8
    DELIVERY_CANCEL = 9
    GROUP_ANNOUNCE_MSG = 10
    CONFIG_UPDATE = 12


class SubAction(IntEnum):
    """What a SubMsg does."""

    SUBSCRIBE = 0
    UNSUBSCRIBE = 1


class CancelReason(IntEnum):
    """Why a bundle is cancelled."""

    ACKED = 1
    EXPIRED = 2
    RECALLED = 3


class GroupAction(StrEnum):
    """What a group update does to a member (R12)."""

    ADD_MEMBER = "ADD_MEMBER"
    REMOVE_MEMBER = "REMOVE_MEMBER"


class Priority(IntEnum):
    """The order in which a queue is served, lowest number first."""

    CRITICAL = 0
    NORMAL = 1
    BULK = 2


class Destination(StrEnum):
    """The four kinds of destination: which field of a bundle's header names it."""

    USER = "dst_user"
    NODE = "dst_node"
    TOPIC = "dst_topic"
    CLUSTER = "dst_cluster"


SHORT_ACTIONS: Final = {
    "ADD": GroupAction.ADD_MEMBER,
    "REMOVE": GroupAction.REMOVE_MEMBER,
}
"""The short words for an action: read in updates, and what an admin's signature covers."""

PRIORITIES: Final = {
    MsgType.DATA: Priority.NORMAL,
    MsgType.SUB_MSG: Priority.NORMAL,
    MsgType.HOP_ACK: Priority.CRITICAL,
    MsgType.DELIVERY_RECEIPT: Priority.CRITICAL,
    MsgType.LINK_METRICS: Priority.BULK,
    MsgType.PAYMENT: Priority.NORMAL,
    MsgType.GROUP_INVITE_MSG: Priority.NORMAL,
    MsgType.GROUP_UPDATE_MSG: Priority.NORMAL,
    MsgType.DELIVERY_ACK: Priority.CRITICAL,
    MsgType.DELIVERY_CANCEL: Priority.CRITICAL,
    MsgType.GROUP_ANNOUNCE_MSG: Priority.NORMAL,
    MsgType.CONFIG_UPDATE: Priority.CRITICAL,
}
"""Six are the specification's, the others follow from what they are for (R7)."""

COPY_BUDGETS: Final = {Priority.CRITICAL: 8, Priority.NORMAL: 3, Priority.BULK: 2}
"""How many copies of a new bundle are sprayed."""

PORT: Final = 4556
"""What IANA assigned to bundles of delay-tolerant networks."""

HAS_PROOF: Final = True
"""Whether a frame carries a proof of its own: a signature."""

MSG_TYPE_KEY: Final = "msgType"

MAP_HEADS: Final = range(0xA0, 0xC0)
"""First bytes of a CBOR map."""

TEXT_HEADS: Final = range(0x60, 0x80)
"""First bytes of CBOR text, and so of a key."""

SURE_MAP_HEADS: Final = frozenset(range(0xA0, 0xBA))
"""Those of a map that cannot be a bundle as well. A count in more than two bytes could be
the length of a header (R23)."""

LENGTHS_SIZE: Final = 8
"""Two 32-bit lengths stand in front of a bundle."""

SIGNATURE_SIZE: Final = 64
BUNDLE_PREFIX_SIZE: Final = LENGTHS_SIZE + SIGNATURE_SIZE
"""What stands before the header: two lengths and the signature."""

UNSIGNED: Final = bytes(SIGNATURE_SIZE)
"""64 zero bytes where a signature would stand: nobody signed."""

MAX_HEADER_SIZE: Final = 4_096
MAX_PAYLOAD_SIZE: Final = 262_144
"""A bundle's payload, and a control message without a bundle."""

MAX_BUNDLE_SIZE: Final = BUNDLE_PREFIX_SIZE + MAX_HEADER_SIZE + MAX_PAYLOAD_SIZE

MAX_GROWTH: Final = 32
"""By how much deterministic CBOR can be longer than what came in: two defaults that a sender
left out, and a score that it wrote as an integer, make 20 bytes."""

SURE_SIZE: Final = MAX_PAYLOAD_SIZE - MAX_GROWTH
"""Up to this size, a message that comes in is never too large to go out again."""

MAX_COPY_BUDGET: Final = 15
MAX_ROUTE_PATH: Final = 8
MUTABLE_KEYS: Final = ("copyBudget", "attempts", "routePath")
"""What every hop may change: outside the id and the signature (R14)."""

KEY_SIZE: Final = 32
"""A public key, a group key, an X25519 key."""

INVITE_NONCE_SIZE: Final = 24
"""XChaCha20-Poly1305."""

GCM_NONCE_SIZE: Final = 12
"""AES-256-GCM."""

SHORT_ID_SIZE: Final = 10
"""Characters of a short id: 48 bits in base 32."""

SHORT_ID_BYTES: Final = 6
TAG_PREFIX: Final = "myc:"
GROUP_PREFIX: Final = "group:"

INVITE_INFO: Final = b"GroupInvite"
"""Context of the key that seals an invitation (R13)."""

DATA_INFO: Final = b"DmEncryption"
"""Context of the key that seals a direct message."""

DELIVERED: Final = 1
"""`status` of a DeliveryAck: it reached the application."""

ACK_BY_RECIPIENT: Final = 1
"""`ackType` of a DeliveryAck: the recipient itself says so."""

DATA_TTL_SEC: Final = 604_800
"""Seven days for a direct text message."""

MEDIA_TTL_SEC: Final = 259_200
"""Three days for a direct message with media."""

GROUP_TTL_SEC: Final = 14_400
"""Four hours for group and channel messages."""

CONTROL_TTL_SEC: Final = 86_400
"""One day for control messages and acknowledgments."""

MAX_MILLIS: Final = 0x7FFF_FFFF_FFFF_FFFF
"""The latest instant that can be told; later ends of a lifetime saturate here."""
