"""The messages of Cthun: a packet, its parts, and the data of the broker's own messages.

Every frame is a `Packet`. What its data chunk holds depends on the `message_type` of its
envelope: for the broker's seven types one of the classes in `TYPES`, otherwise the
application's bytes.
"""

from typing import Annotated, ClassVar, Final

from msgspec import UNSET, Meta, UnsetType

from wireloom.protocols.cthun.constants import (
    MAX_FLAGS,
    MAX_TRAILING_SIZE,
    VERSION,
    MessageType,
)
from wireloom.wire.message import Message

Id = Annotated[str, Meta(extra={"size": "36 characters"})]
Address = Annotated[str, Meta(extra={"size": "URI"})]
Target = Annotated[str, Meta(extra={"size": "URI"})]
Time = Annotated[str, Meta(extra={"size": "ISO 8601"})]
Flags = Annotated[int, Meta(ge=0, le=MAX_FLAGS, extra={"size": "4 bits"})]


class Envelope(
    Message,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    rename={"in_reply_to": "in-reply-to"},
):
    """Who sends what to whom, and until when it is worth delivering."""

    id: Id
    """The message's identity: a UUID of any version, in either case (R7)."""

    message_type: str
    """What the data chunk holds; letters, digits and `_-.:/` (R18)."""

    expires: Time
    """When the message stops being valid."""

    targets: tuple[Target, ...]
    """The receivers, wildcards allowed; may be empty (R8)."""

    sender: Address
    """The node that sent it."""

    destination_report: bool | UnsetType = UNSET
    """Whether the broker is to tell the sender who the receivers are."""

    in_reply_to: Id | UnsetType = UNSET
    """The message that this one answers: `in-reply-to` of later brokers (R19)."""


class Hop(Message, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One stage of a message's way."""

    server: Address
    """The broker that notes it."""

    stage: str | UnsetType = UNSET
    """What happened there; see `Stage` for the words in use."""

    time: Time
    """When it happened, by the broker's clock (R26)."""


class DebugChunk(Message, frozen=True, kw_only=True):
    """What one node noted of a message's way."""

    flags: Flags = 0
    """The reserved bits of the chunk's descriptor: 0 when composing, kept when receiving."""

    hops: tuple[Hop, ...] | None = None
    """The stages in order; null for a chunk without content (R5)."""


class AssociateRequest(Message, frozen=True, kw_only=True):
    """A client asks to be known under its sender URI. It has no data (R20)."""


class AssociateResponse(Message, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The broker's answer to an associate_request, granted or not (R11)."""

    id: Id
    """The request's id."""

    success: bool
    """Whether the session is associated now."""

    reason: str | UnsetType = UNSET
    """Why not."""


class InventoryRequest(Message, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Asks which nodes are connected."""

    query: tuple[Target, ...]
    """The nodes asked for, wildcards allowed (R24)."""


class InventoryResponse(Message, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The broker's answer to an inventory_request."""

    uris: tuple[Address, ...]
    """The connected nodes that match the query."""


class ErrorMessage(Message, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The broker could not handle a message."""

    id: Id | UnsetType = UNSET
    """That message's id, where it could be read."""

    description: str
    """What went wrong, for a person."""


class DestinationReport(Message, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Tells a sender who the receivers of his message are, before it is delivered."""

    id: Id
    """That message's id."""

    targets: tuple[Address, ...]
    """The receivers, wildcards resolved."""


class TtlExpired(Message, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Tells a sender that his message expired before it could be delivered."""

    id: Id
    """That message's id."""


BrokerData = (
    AssociateRequest
    | AssociateResponse
    | InventoryRequest
    | InventoryResponse
    | ErrorMessage
    | DestinationReport
    | TtlExpired
)


class Packet(Message, frozen=True, kw_only=True):
    """One message: an envelope, the data it speaks of, and notes of its way."""

    derived: ClassVar[tuple[str, ...]] = ("version",)

    envelope: Envelope
    """The envelope chunk."""

    envelope_flags: Flags = 0
    """The reserved bits of its descriptor: 0 when composing, kept when receiving."""

    data: bytes | BrokerData | None = None
    """The data chunk: an object for the broker's types, else bytes; null if there is none."""

    data_flags: Flags = 0
    """The reserved bits of its descriptor."""

    debug_chunks: tuple[DebugChunk, ...] = ()
    """One for each node that noted the message's way."""

    trailing_bytes: Annotated[
        bytes, Meta(max_length=MAX_TRAILING_SIZE, extra={"size": "0–4 B"})
    ] = b""
    """What stood after the last chunk: only lenient decoding keeps it, nothing sends it (R6)."""

    @property
    def version(self) -> int:
        """The message's version, which is always 1."""
        return VERSION

    @property
    def hops(self) -> tuple[Hop, ...]:
        """The hops of all debug chunks, in order."""
        return tuple(hop for chunk in self.debug_chunks for hop in chunk.hops or ())


BROKER_TYPES: Final[dict[str, type[BrokerData]]] = {
    MessageType.ASSOCIATE_REQUEST.value: AssociateRequest,
    MessageType.ASSOCIATE_RESPONSE.value: AssociateResponse,
    MessageType.INVENTORY_REQUEST.value: InventoryRequest,
    MessageType.INVENTORY_RESPONSE.value: InventoryResponse,
    MessageType.ERROR_MESSAGE.value: ErrorMessage,
    MessageType.DESTINATION_REPORT.value: DestinationReport,
    MessageType.TTL_EXPIRED.value: TtlExpired,
}
"""The data of every broker message by its `message_type`; all others are applications'."""

TYPES: Final[dict[str, type[Message]]] = {**BROKER_TYPES}
"""Every message type that the specification defines."""

PARTS: Final[tuple[type[Message], ...]] = (Packet, Envelope, DebugChunk, Hop)
"""What every message consists of, whatever its type."""
