"""Reading what clients send, at the speed of a broker.

A broker reads the envelope of an application's message and carries the rest. Here that is all
that is read, and much of it is known: the sender is who the line belongs to, the target is
connected, the time and the type were read before. Often all of it is known but for the id: who
sends many messages to one target, sends the same envelope with one id after the other. What is
not the ordinary case goes through the codec, which knows all rules and refuses in its own words.
So the fast ways accept only what the codec would accept.

A message can be large, but what is read of it cannot (R49): the sizes of chunks are looked at
before what is in them, so that no message takes long to read.
"""

import struct
from collections.abc import Container, Iterator
from typing import Final

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from wireloom.protocols.cthun.broker.settings import BrokerSettings
from wireloom.protocols.cthun.codec import decode
from wireloom.protocols.cthun.constants import (
    CHUNK_HEADER_SIZE,
    MAX_MESSAGE_SIZE,
    MAX_NOTE_COUNT,
    TYPE_MASK,
    VERSION,
    VERSION_SIZE,
    ChunkType,
    Complaint,
    MessageType,
)
from wireloom.protocols.cthun.documents import ENVELOPE
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

_INVENTORY_REQUEST: Final = MessageType.INVENTORY_REQUEST.value
_PATTERN_SIZE: Final = len('"cth://a/b",')
"""Bytes of the shortest pattern in an inventory request."""

_CACHED: Final = 4_096
"""Times, types and envelopes that are remembered; all are forgotten when there are more."""

_CACHED_SIZE: Final = 1_024
"""Longer envelopes are not remembered."""

NOTES_SIZE: Final = 8_192
"""Room that the broker's notes need at most, its URI included."""

NOTED_SIZE: Final = MAX_MESSAGE_SIZE - NOTES_SIZE
"""A message of this size has room for them (R35)."""

_decode: Final = msgspec.json.Decoder(Envelope).decode
_encode: Final = msgspec.json.Encoder().encode
_is_id: Final = ID.fits
_is_target: Final = TARGET.fits

Taken = tuple[Envelope, int, Packet | None]
"""An envelope, when it expires in ms since 1970, and the whole message if it was read."""


class BoundError(TooLargeError):
    """A message has more of something than this broker reads.

    Args:
        detail: Of what, for a person.
        envelope: The message's, if it was read.
    """

    def __init__(self, detail: str, envelope: Envelope | None = None) -> None:
        super().__init__(detail)
        self.envelope = envelope


class Intake:
    """Reads messages for one broker.

    Args:
        known: URIs that need no check any more: those of clients.
        settings: The broker's.
    """

    def __init__(self, known: Container[str], settings: BrokerSettings) -> None:
        self._known = known
        self._settings = settings
        self._max_size = settings.max_message_size
        self._max_envelope_size = settings.max_envelope_size
        shortest = _PATTERN_SIZE * settings.max_query_count
        self._glanced_size = min(settings.max_request_size, shortest)
        """No request with less data can have more of anything than it may."""
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
            raise BoundError(too_large("Message", len(raw), self._max_size))
        if len(raw) >= _ID_STOP:
            begin, size, before_id, name = _opening(raw)
            stop = _HEAD_SIZE + size
            if begin == _BEGIN and (stop == len(raw) or _is_data(raw, stop)):
                is_first = before_id == _BEFORE_ID and name.translate(UUID_DIGITS) == UUID_SHAPE
                known = self._envelopes.get(raw[_ID_STOP:stop]) if is_first else None
                if known is not None and known[0].sender == sender:
                    return replace(known[0], id=name.decode()), known[1], None
                within = size <= self._max_envelope_size
                read = self._read(raw[_HEAD_SIZE:stop], sender) if within else None
                if read is not None:
                    expires_ms = self._times[read.expires]
                    if is_first:
                        self._remember(raw[_ID_STOP:stop], read, expires_ms)
                    return read, expires_ms, None
        self._check_parts(raw)
        packet = decode(raw)
        return packet.envelope, millis(packet.envelope.expires), packet

    def _check_parts(self, raw: bytes) -> None:
        """Refuses a message with a part that takes long to read, before it is read (R49).

        What is no row of chunks is the codec's to refuse.
        """
        most = self._max_envelope_size
        notes_size = note_count = 0
        for type_, start, stop in _chunks(raw):
            if type_ == ChunkType.ENVELOPE and stop - start > most:
                raise BoundError(too_large("Envelope", stop - start, most))
            if type_ == ChunkType.DEBUG:
                notes_size += stop - start
                note_count += 1
                if note_count > MAX_NOTE_COUNT:
                    raise BoundError(f"Message has more than {MAX_NOTE_COUNT} debug chunks")
                if notes_size > most:
                    raise BoundError(f"Debug chunks have more than {most} bytes")
            if type_ == ChunkType.DATA and stop - start > self._glanced_size:
                self._check_request(raw, start, stop)

    def _check_request(self, raw: bytes, data_start: int, data_stop: int) -> None:
        """Refuses much data if it is for the broker: that of applications is not read."""
        type_, start, stop = next(_chunks(raw))
        if type_ != ChunkType.ENVELOPE:
            return
        envelope = ENVELOPE.take(raw[start:stop], start)
        size, most = data_stop - data_start, self._settings.max_request_size
        if envelope.message_type in BROKER_TYPES and size > most:
            raise BoundError(too_large("Data", size, most), envelope)
        # No URI has a comma, so they tell how many patterns there are (R50).
        if envelope.message_type == _INVENTORY_REQUEST and (
            raw.count(b",", data_start, data_stop) >= self._settings.max_query_count
        ):
            raise BoundError(Complaint.TOO_MANY_PATTERNS.value, envelope)

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
        if (
            type_ in BROKER_TYPES
            or not MESSAGE_TYPE.fits(type_)
            or len(type_) > self._settings.max_type_size
        ):
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


def too_large(what: str, size: int, most: int) -> str:
    """What to say of something that is too large."""
    return f"{what} has {size} bytes, at most {most} are taken"


def _chunks(raw: bytes) -> Iterator[tuple[int, int, int]]:
    """Types of chunks and where their contents lie, as far as they lie within the message."""
    offset = VERSION_SIZE
    while (start := offset + CHUNK_HEADER_SIZE) <= len(raw):
        descriptor, size = _chunk_head(raw, offset)
        offset = start + size
        if offset > len(raw):
            return
        yield descriptor & TYPE_MASK, start, offset


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
