"""Reading what clients send, at the speed of a hub.

Most frames are sends and publishes, and most of what they say is known: they come from an actor
of the connection, they are for the hub, and somebody has registered the target or subscribed
to the topic. Such texts have their form, which it takes the codec more time to see than all
the rest. What is not the ordinary case goes through the codec, which knows all rules and
refuses in its own words. So the fast way accepts only what the codec would accept.
"""

import re
from collections.abc import Callable, Mapping
from typing import Annotated, Final

import msgspec
from msgspec import UNSET, Meta, UnsetType

from wireloom.protocols.signalhub import codec
from wireloom.protocols.signalhub.codec import LIST, SHALLOW_SIZE
from wireloom.protocols.signalhub.constants import MAX_NAME_SIZE
from wireloom.protocols.signalhub.envelope import Inner
from wireloom.protocols.signalhub.hub import lengths
from wireloom.protocols.signalhub.hub.directory import Directory
from wireloom.protocols.signalhub.hub.encodings import WireText
from wireloom.protocols.signalhub.hub.topics import Topics
from wireloom.protocols.signalhub.messages import TYPES, Publish, Send
from wireloom.protocols.signalhub.metadata import (
    SendMetadata,
)
from wireloom.protocols.signalhub.payloads import (
    PublishPayload,
    SendPayload,
)
from wireloom.wire.fields import UUID_DIGITS, UUID_SHAPE
from wireloom.wire.message import Message

_FREQUENT: Final = (b'{"type":"hub:send",', b'{"type":"hub:publish",')
_Name = Annotated[str, Meta(min_length=1, max_length=MAX_NAME_SIZE)]


class _Inner(Inner, frozen=True, kw_only=True):
    type: _Name


class _SendPayload(SendPayload, frozen=True, kw_only=True):
    target_address: str
    message: _Inner


class _SendMetadata(SendMetadata, frozen=True, kw_only=True):
    trace_id: _Name | UnsetType = UNSET


class _PublishPayload(PublishPayload, frozen=True, kw_only=True):
    topic: str
    message: _Inner


class KnownSend(Send, frozen=True, kw_only=True, tag="hub:send"):
    """A send of which no text has been checked while it was read, but for lengths."""

    id: str
    from_: str
    to: str
    payload: _SendPayload
    metadata: _SendMetadata | UnsetType = UNSET


class KnownPublish(Publish, frozen=True, kw_only=True, tag="hub:publish"):
    """A publish of which no text has been checked while it was read, but for lengths."""

    id: str
    from_: str
    to: str
    payload: _PublishPayload


_Known = KnownSend | KnownPublish
_read: Final[Callable[[bytes], _Known]] = msgspec.json.Decoder(
    _Known, float_hook=codec.stop_at_float
).decode
_write_into: Final = msgspec.json.Encoder().encode_into

_CLASSES: Final[list[type[Message]]] = [*TYPES.values(), KnownSend, KnownPublish]
TYPE_NAMES: Final = {cls: str(cls.__struct_config__.tag) for cls in _CLASSES}
"""The listed type of every class that `Intake.take` gives: some have classes of their own here."""

NO_ID: Final = "00000000-0000-0000-0000-000000000000"
"""Stands for the id of a frame that tells none."""

_UUID: Final = rb"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
_CLAIMED_ID: Final = re.compile(rb'(?:"id"[ \t\r\n]*:[ \t\r\n]*"|\xa2id\xd9\x24)(' + _UUID + rb")")
_CLAIMED_TYPE: Final = re.compile(
    rb'(?:"type"[ \t\r\n]*:[ \t\r\n]*"|\xa4type[\xa0-\xbf])(hub:[a-z_]{1,27})'
)
_SEARCHED_SIZE: Final = 1_024
"""Bytes of a frame that is not read in which its id and type are looked for."""


def claimed_id(raw: bytes) -> str | None:
    """The id of a frame that was not read, as far as it can be seen (R50)."""
    found = _CLAIMED_ID.search(raw, 0, _SEARCHED_SIZE)
    return found[1].decode() if found else None


def claimed_type(raw: bytes) -> str | None:
    """The type of a frame that was not read, as far as it can be seen (R50)."""
    found = _CLAIMED_TYPE.search(raw, 0, _SEARCHED_SIZE)
    return found[1].decode() if found else None


class Intake:
    """Reads messages for one hub.

    Args:
        address: The hub's own.
        directory: Who has registered.
        topics: Who has subscribed.
    """

    def __init__(self, address: str, directory: Directory, topics: Topics) -> None:
        self._address = address
        self._directory = directory
        self._topics = topics
        self._scratch = bytearray()
        """What was read is written here again, and overwritten by the next."""

    def take(self, raw: bytes, names: Mapping[str, WireText]) -> Message:
        """What a message says.

        Args:
            raw: Any bytes.
            names: What the client's actor may call itself.

        Raises:
            WireError: If it is not a message, or one with texts that are too long (R54).
        """
        size = len(raw)
        if raw.startswith(_FREQUENT) and (
            (size <= SHALLOW_SIZE and LIST not in raw) or codec.is_shallow(raw)
        ):
            try:
                message = _read(raw)
                _write_into(message, self._scratch)
                if len(self._scratch) == size and self._is_sound(message, names):
                    return message
            except codec.UNREADABLE:
                pass  # the codec tells what is wrong, if anything is
        decoded = codec.decode(raw)
        lengths.check(decoded)
        return decoded

    def _is_sound(self, message: _Known, names: Mapping[str, WireText]) -> bool:
        """Whether every text has its form."""
        answered = message.correlation_id
        if (
            message.from_ not in names
            or message.to != self._address
            or not (answered is None or answered is UNSET)
            or message.id.encode().translate(UUID_DIGITS) != UUID_SHAPE
        ):
            return False
        if isinstance(message, KnownSend):
            return self._directory.get(message.payload.target_address) is not None
        return bool(self._topics.subscribers(message.payload.topic))
