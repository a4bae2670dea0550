"""The four messages of UEP-12, fields in wire order."""

from typing import Annotated, ClassVar, Final

from msgspec import Meta

from wireloom.protocols.uep12.constants import MAX_REFERENCES, VERSION, Opcode
from wireloom.wire.fields import I16, U16, U64, Bytes4, Bytes8, Millis48
from wireloom.wire.message import Message

Hashes = Annotated[tuple[Bytes8, ...], Meta(max_length=255, extra={"size": "n × 8 B"})]


class Reference(Message, frozen=True, kw_only=True):
    """An earlier message that a new one refers to."""

    msg_hash: Bytes8
    """The earlier message's hash."""

    epoch_diff: I16
    """This message's expiry minus the earlier one's, in epochs, saturated."""


class Content(Message, frozen=True, kw_only=True):
    """A message of the swarm: pushed when new, or in answer to a pull."""

    opcode: ClassVar[Opcode] = Opcode.CONTENT
    derived: ClassVar[tuple[str, ...]] = ("version", "msg_refer_count")

    pow_nonce: U64
    """What makes the work fall below the target."""

    timestamp: Millis48
    """When it was composed, in ms since 1970."""

    ttl_epoch: U16
    """Lifetime in epochs; 0 lives one epoch and is never pulled."""

    references: Annotated[
        tuple[Reference, ...], Meta(max_length=MAX_REFERENCES, extra={"size": "n × 10 B"})
    ] = ()
    """Recent and seldom referred messages, none to four."""

    reserved: Annotated[int, Meta(ge=0, le=31, extra={"size": "5 bits"})] = 0
    """Bits of the count byte without a meaning: 0 when composing, kept when receiving."""

    payload: bytes = b""
    """The application's envelope, opaque here."""

    @property
    def version(self) -> int:
        """The message's version, which is always 5."""
        return VERSION

    @property
    def msg_refer_count(self) -> int:
        """How many references there are."""
        return len(self.references)


class MessageList(Message, frozen=True, kw_only=True):
    """Hashes of the messages in a time range, in answer to a PULL_BY_TIME of too many."""

    opcode: ClassVar[Opcode] = Opcode.MESSAGE_LIST
    derived: ClassVar[tuple[str, ...]] = ("count",)

    ticket: Bytes4
    """Echoed from the pull."""

    start_time: Millis48
    """Begin of the range that the list covers, in ms since 1970, inclusive."""

    end_time: Millis48
    """End of that range, inclusive."""

    msg_hashes: Hashes
    """The unexpired messages, in order of time."""

    @property
    def count(self) -> int:
        """How many hashes there are."""
        return len(self.msg_hashes)


class PullByHash(Message, frozen=True, kw_only=True):
    """Asks for messages by their hashes."""

    opcode: ClassVar[Opcode] = Opcode.PULL_BY_HASH
    derived: ClassVar[tuple[str, ...]] = ("count",)

    msg_hashes: Hashes
    """The messages wanted."""

    @property
    def count(self) -> int:
        """How many hashes there are."""
        return len(self.msg_hashes)


class PullByTime(Message, frozen=True, kw_only=True):
    """Asks for the messages of a time range."""

    opcode: ClassVar[Opcode] = Opcode.PULL_BY_TIME

    ticket: Bytes4
    """Chosen by the asker and echoed in a list."""

    start_time: Millis48
    """Begin of the range, in ms since 1970, inclusive."""

    end_time: Millis48
    """End of the range, inclusive."""


Uep12Message = Content | MessageList | PullByHash | PullByTime

TYPES: Final[dict[str, type[Message]]] = {
    cls.opcode.name: cls for cls in (Content, MessageList, PullByHash, PullByTime)
}
"""Every message type by the specification's own name."""

PARTS: Final[tuple[type[Message], ...]] = ()
"""What the messages consist of besides the classes that their fields name."""
