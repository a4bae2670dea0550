"""Reading what clients send, at the speed of a broker.

A broker reads the envelope of an application's message and carries the rest. Here that is all
that is read, and much of it is known: the sender is who the line belongs to, the target is
connected, the time and the type were read before. Often all of it is known but for the id: who
sends many messages to one target, sends the same envelope with one id after the other. What is
not the ordinary case goes through the codec, which knows all rules and refuses in its own words.
So the fast ways accept only what the codec would accept.
"""

import struct
from collections.abc import Container
from typing import Final

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from wireloom.protocols.cthun.codec import decode
from wireloom.protocols.cthun.constants import (
    CHUNK_HEADER_SIZE,
    MAX_DEBUG_CHUNKS,
    MAX_MESSAGE_SIZE,
    VERSION,
    VERSION_SIZE,
    ChunkType,
)
from wireloom.protocols.cthun.forms import ID, MESSAGE_TYPE, TARGET, TIME
from wireloom.protocols.cthun.messages import BROKER_TYPES, Envelope, Packet
from wireloom.protocols.cthun.times import millis
from wireloom.wire.errors import TooLargeError
from wireloom.wire.fields import UUID_DIGITS, UUID_SHAPE

_OPENING: Final = struct.Struct(">2sI7s36s")
"""Version and descriptor, the envelope's size, what stands before the id in most, and the id."""

_opening: Final = _OPENING.unpack_from
_ID_STOP: Final = _OPENING.size
_HEAD_SIZE: Final = VERSION_SIZE + CHUNK_HEADER_SIZE
_BEGIN: Final = bytes([VERSION, ChunkType.ENVELOPE])
_BEFORE_ID: Final = b'{"id":"'
_chunk_head: Final = struct.Struct(">BI").unpack_from
_DATA: Final = ChunkType.DATA.value

_CACHED: Final = 4_096
"""Times, types and envelopes that are remembered; all are forgotten when there are more."""

_CACHED_SIZE: Final = 1_024
"""Longer envelopes are not remembered."""

NOTES_SIZE: Final = 8_192
"""Room that the broker's notes need at most, its URI included."""

NOTED_SIZE: Final = MAX_MESSAGE_SIZE - NOTES_SIZE
"""A message of this size has room for them."""

_decode: Final = msgspec.json.Decoder(Envelope).decode
_encode: Final = msgspec.json.Encoder().encode
_is_id: Final = ID.fits
_is_target: Final = TARGET.fits

Taken = tuple[Envelope, int, Packet | None]
"""An envelope, when it expires in ms since 1970, and the whole message if it was read."""


class Intake:
    """Reads messages for one broker.

    Args:
        known: URIs that need no check any more: those of clients.
        max_size: Bytes in a message.
    """

    def __init__(self, known: Container[str], max_size: int) -> None:
        self._known = known
        self._max_size = max_size
        self._times: dict[str, int] = {}
        self._types: set[str] = set()
        self._envelopes: dict[bytes, tuple[Envelope, int]] = {}
        """Envelopes and when they expire, by all that follows their ids."""

    def take(self, raw: bytes, sender: str | None) -> Taken:
        """What a message says.

        Args:
            raw: Any bytes.
            sender: Who the connection belongs to.

        Raises:
            WireError: If it is not a message.
        """
        if len(raw) > self._max_size:
            raise TooLargeError(f"{len(raw)} bytes, a message has at most {self._max_size}")
        if len(raw) >= _ID_STOP:
            begin, size, before_id, name = _opening(raw)
            stop = _HEAD_SIZE + size
            if begin == _BEGIN and (stop == len(raw) or _is_data(raw, stop)):
                is_first = before_id == _BEFORE_ID and name.translate(UUID_DIGITS) == UUID_SHAPE
                known = self._envelopes.get(raw[_ID_STOP:stop]) if is_first else None
                if known is not None and known[0].sender == sender:
                    return replace(known[0], id=name.decode()), known[1], None
                read = self._read(raw[_HEAD_SIZE:stop], sender)
                if read is not None:
                    expires_ms = self._times[read.expires]
                    if is_first:
                        self._remember(raw[_ID_STOP:stop], read, expires_ms)
                    return read, expires_ms, None
        packet = decode(raw)
        return packet.envelope, millis(packet.envelope.expires), packet

    def _read(self, content: bytes, sender: str | None) -> Envelope | None:
        """An ordinary envelope of this sender's, if it is one.

        It stands in its shortest form, which writes back to its own length, so it has no key
        twice: see `documents`.
        """
        try:
            envelope = _decode(content)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None
        is_shortest = len(_encode(envelope)) == len(content)
        is_ordinary = is_shortest and envelope.sender == sender and self._is_sound(envelope)
        return envelope if is_ordinary else None

    def _is_sound(self, envelope: Envelope) -> bool:
        """Whether this is an application's message of which every text has its form."""
        if envelope.message_type not in self._types and not self._learn_type(envelope):
            return False
        if envelope.expires not in self._times and not self._learn_time(envelope.expires):
            return False
        for target in envelope.targets:
            if target not in self._known and not _is_target(target):
                return False
        answered = envelope.in_reply_to
        return _is_id(envelope.id) is not None and (answered is UNSET or bool(_is_id(answered)))

    def _remember(self, rest: bytes, envelope: Envelope, expires_ms: int) -> None:
        """Remembers an envelope: another may be the same but for its id."""
        if len(rest) <= _CACHED_SIZE and envelope.in_reply_to is UNSET:
            if len(self._envelopes) >= _CACHED:
                self._envelopes.clear()
            self._envelopes[rest] = envelope, expires_ms

    def _learn_type(self, envelope: Envelope) -> bool:
        type_ = envelope.message_type
        if type_ in BROKER_TYPES or not MESSAGE_TYPE.fits(type_) or len(type_) > _CACHED:
            return False
        if len(self._types) >= _CACHED:
            self._types.clear()
        self._types.add(type_)
        return True

    def _learn_time(self, text: str) -> bool:
        if not TIME.fits(text):
            return False
        try:
            read = millis(text)
        except ValueError:  # no such day
            return False
        if len(self._times) >= _CACHED:
            self._times.clear()
        self._times[text] = read
        return True


def has_room(raw: bytes, packet: Packet | None) -> bool:
    """Whether a message stays within the limits with the notes that a broker appends (R35)."""
    if packet is not None and len(packet.debug_chunks) >= MAX_DEBUG_CHUNKS - 1:
        return False
    return len(raw) <= NOTED_SIZE


def _is_data(raw: bytes, start: int) -> bool:
    """Whether all from here on is one chunk of data, with no reserved bit set.

    Every message comes by here, so it does without a `Reader`, which costs as much as all the
    rest.
    """
    stop = start + CHUNK_HEADER_SIZE
    if stop > len(raw):
        return False
    descriptor, size = _chunk_head(raw, start)
    return bool(descriptor == _DATA and stop + size == len(raw))
