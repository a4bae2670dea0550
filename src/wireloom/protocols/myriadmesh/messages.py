"""The MyriadMesh frame, and every payload by the name of its type."""

from typing import Annotated, ClassVar, Final

from msgspec import Meta

from wireloom.protocols.myriadmesh.bodies import put_body
from wireloom.protocols.myriadmesh.constants import (
    HEADER_SIZE,
    SIGNATURE_SIZE,
    VERSION,
    Band,
    Flags,
    MessageType,
)
from wireloom.protocols.myriadmesh.payloads import (
    Ack,
    Adapter,
    Control,
    Data,
    DhtQuery,
    DhtResponse,
    DhtStore,
    Discovery,
    Error,
    Heartbeat,
    KeyExchange,
    LedgerBlock,
    LedgerQuery,
    NodeResult,
    Payload,
    RouteRequest,
    RouteResponse,
    Sealed,
    TestRequest,
    TestResponse,
)
from wireloom.wire.fields import U8, U64, Bytes16, Bytes32, Bytes64
from wireloom.wire.message import Message

__all__ = [
    "PARTS",
    "TYPES",
    "Ack",
    "Adapter",
    "Control",
    "Data",
    "DataBatch",
    "DhtQuery",
    "DhtResponse",
    "DhtStore",
    "Discovery",
    "Error",
    "Frame",
    "Heartbeat",
    "KeyExchange",
    "LedgerBlock",
    "LedgerQuery",
    "NodeResult",
    "Payload",
    "RouteRequest",
    "RouteResponse",
    "Sealed",
    "TestRequest",
    "TestResponse",
]

_COUNT_SIZE: Final = 2
_LENGTH_SIZE: Final = 2
_BANDS: Final = tuple(max(band for band in Band if band <= level) for level in range(256))


class DataBatch(Payload, frozen=True, kw_only=True):
    """Several whole frames in one. No batch stands in a batch (R8)."""

    message_type: ClassVar[MessageType] = MessageType.DATA_BATCH
    derived: ClassVar[tuple[str, ...]] = ("batch_count",)

    messages: Annotated[
        tuple["Frame", ...], Meta(max_length=0xFFFF, extra={"size": "n × (2 B + frame)"})
    ]
    """The frames, each behind its length."""

    @property
    def batch_count(self) -> int:
        """How many frames there are."""
        return len(self.messages)


class Frame(Message, frozen=True, kw_only=True):
    """A MyriadMesh message: header, payload, signature."""

    derived: ClassVar[tuple[str, ...]] = ("version", "payload_length")

    flags: Flags = Flags(0)
    """How to read the frame, and what is asked for it."""

    message_type: MessageType
    """What the payload is."""

    priority: U8
    """0 to 255, the higher the more urgent, in five bands."""

    ttl: Annotated[int, Meta(ge=1, le=255, extra={"size": "1 B"})]
    """Hops that are left; a frame with none is refused."""

    message_id: Bytes16
    """Unique; what duplicates are known by."""

    source_node_id: Bytes32
    """The hash of the sender's public key."""

    dest_node_id: Bytes32
    """The hash of the receiver's public key, or all ones for everyone."""

    timestamp: U64
    """When it was composed, in ms since 1970."""

    payload: Payload
    """By the message type; a `Sealed` if the frame is encrypted, an `Ack` if the flag says so."""

    signature: Bytes64 | None = None
    """Ed25519 by the source; present if the flag says so."""

    compressed: bytes | None = None
    """The payload's zstd bytes as they came; only in a compressed frame that is not encrypted.
    Encoding makes new ones where they are missing."""

    @property
    def version(self) -> int:
        """The protocol's version, which is always 1."""
        return VERSION

    @property
    def payload_length(self) -> int | None:
        """How many bytes the payload has on the wire; None before it is compressed."""
        if Flags.COMPRESSED in self.flags and Flags.ENCRYPTED not in self.flags:
            return None if self.compressed is None else len(self.compressed)
        if isinstance(self.payload, DataBatch):
            return _batch_size(self.payload)
        return len(put_body(self.payload))

    @property
    def size(self) -> int | None:
        """How many bytes the frame has; None before its payload is compressed."""
        length = self.payload_length
        signature = SIGNATURE_SIZE if Flags.SIGNED in self.flags else 0
        return None if length is None else HEADER_SIZE + length + signature

    @property
    def band(self) -> Band:
        """The priority's band."""
        return _BANDS[self.priority]


def _batch_size(batch: DataBatch) -> int | None:
    total = _COUNT_SIZE
    for message in batch.messages:
        size = message.size
        if size is None:
            return None
        total += _LENGTH_SIZE + size
    return total


TYPES: Final[dict[str, type[Message]]] = {
    cls.message_type.name: cls
    for cls in (
        Data,
        Control,
        DhtQuery,
        DhtResponse,
        DhtStore,
        Discovery,
        Heartbeat,
        KeyExchange,
        LedgerBlock,
        LedgerQuery,
        TestRequest,
        TestResponse,
        RouteRequest,
        RouteResponse,
        DataBatch,
    )
}
"""Every message type by the specification's own name, with what its frames carry."""

PARTS: Final[tuple[type[Message], ...]] = (Frame, Error, Ack, Sealed, Adapter, NodeResult)
"""What `TYPES` does not show: the frame, further payloads of CONTROL, and parts of payloads."""
