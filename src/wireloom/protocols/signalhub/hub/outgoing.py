"""The frames that a hub writes: its own messages, and what it passes on, in two encodings.

Each kind of message is declared once, as a message. Frames of which many are written alike are not
encoded one by one: a message is encoded with marks in the place of what differs and split
there, and a frame is joined from the pieces. A message to a thousand subscribers differs in its
`id` and `to` only; it becomes a `Template`, and each recipient costs one join:

```
head   {"id":"4f0c…-          mid   ","from":"@(a/b)","to":        tail   ,"pattern":"tell",…}
             number ^ 12 hex digits                     address ^
```

A mark has a control character that neither an address (R24) nor a name of a field contains, and the
first mark of its kind is the one that is meant: what an application says comes after it.
"""

from collections.abc import Sequence
from itertools import repeat
from typing import Any, Final, NamedTuple, TypeVar

from msgspec import UNSET, Raw, UnsetType
from msgspec.structs import replace

from wireloom.protocols.signalhub.constants import HUB_PREFIX, MAX_ADDRESS_SIZE, DeliveryStatus
from wireloom.protocols.signalhub.envelope import Inner, SharedMessage
from wireloom.protocols.signalhub.hub.encodings import ENCODINGS, JSON, Encoding
from wireloom.protocols.signalhub.hub.limits import Meter
from wireloom.protocols.signalhub.hub.settings import HubSettings
from wireloom.protocols.signalhub.integrity import expires_ms
from wireloom.protocols.signalhub.messages import (
    Application,
    Broadcast,
    DeliveryAck,
    Publish,
    Published,
    Send,
)
from wireloom.protocols.signalhub.metadata import SendMetadata
from wireloom.protocols.signalhub.payloads import DeliveryAckPayload, PublishedPayload
from wireloom.wire.ids import Ids
from wireloom.wire.rates import Bucket
from wireloom.wire.session import Turn

M = TypeVar("M", bound=SharedMessage)

UNPORTABLE: Final = (OverflowError, ValueError)
"""What an encoding raises that cannot carry a payload."""

NUMBER_SIZE: Final = 12
_DIGITS: Final = b"%012x"
_LAST_DIGITS: Final = [b"%03x" % number for number in range(1 << 12)]
_NO_NOTES: Final[dict[str, Any]] = {}

_join: Final = b"".join
_write: Final = JSON.write


def _mark(name: str) -> Any:
    """Bytes that stand for a value: an encoder writes them as they are, in any place."""
    return Raw(f"\x7f{name}\x7f".encode())


_NUMBER: Final = Raw(b"\x7f" * NUMBER_SIZE)
_FROM, _TO, _TIME, _TTL = map(_mark, ("from", "to", "time", "ttl"))
_TYPE, _PAYLOAD, _STATUS, _COUNT = map(_mark, ("type", "payload", "status", "count"))
_ID, _TOPIC = map(_mark, ("id", "topic"))


def _text(mark: Raw) -> Any:
    """A mark that stands within quotes."""
    return bytes(mark).decode()


def _pieces(raw: bytes, *marks: Raw) -> list[bytes]:
    """What stands between the marks of a frame, which come in this order."""
    pieces = []
    for mark in marks:
        piece, _, raw = raw.partition(bytes(mark))
        pieces.append(piece)
    return [*pieces, raw]


class Template(NamedTuple):
    """What all recipients of a message get alike."""

    head: bytes
    mid: bytes
    tail: bytes

    @property
    def size(self) -> int:
        """Bytes of a frame, but for the address."""
        return len(self.head) + NUMBER_SIZE + len(self.mid) + len(self.tail)

    def to(self, address: bytes, number: int) -> bytes:
        """The frame for one recipient."""
        return _join((self.head, _DIGITS % number, self.mid, address, self.tail))

    def to_each(self, addresses: Sequence[bytes], first: int) -> list[bytes]:
        """The frames for many recipients, numbered from `first` on.

        Of their numbers only the last digits differ, and those are written already.
        """
        frames: list[bytes] = []
        while addresses:
            high, low = divmod(first, len(_LAST_DIGITS))
            lasts = _LAST_DIGITS[low : low + len(addresses)]
            head = self.head + b"%09x" % high
            parts = zip(repeat(head), lasts, repeat(self.mid), addresses, repeat(self.tail))
            frames += map(_join, parts)
            addresses, first = addresses[len(lasts) :], first + len(lasts)
        return frames


_NO_IDS: Final = Ids("")
"""For messages with marks, which get their ids in another way."""

_UNFIT: Final = Template(b"", b"", b"")
"""Stands for a template that cannot be written in an encoding."""


def template(message: Application, encoding: Encoding) -> Template:
    """A message that was made for somebody, for whoever it is sent to.

    Raises:
        OverflowError: If the encoding has no such number.
        ValueError: If it cannot carry the payload for another reason.
    """
    return Template(*_pieces(encoding.write(message), _NUMBER, _TO))


class Forwarding:
    """One message on its way to many recipients; written once in each encoding.

    Args:
        message: What they get.
        max_size: Bytes that a frame may have.
    """

    __slots__ = ("_max_size", "_message", "_templates")

    def __init__(self, message: Application, max_size: int) -> None:
        self._message: Application | None = message
        self._max_size = max_size
        self._templates: list[Template | None] = [None, None]

    def template(self, *, text: bool) -> Template | None:
        """The template in an encoding; None if recipients who speak it cannot get it (R48)."""
        known = self._templates[text]
        if known is None:
            known = self._templates[text] = self._fit_template(ENCODINGS[text]) or _UNFIT
        return known if known is not _UNFIT else None

    def seal(self) -> int:
        """Writes both templates and lets go of the message; gives the size of the larger one."""
        templates = [self.template(text=text) for text in (False, True)]
        self._message = None
        return max(0 if one is None else one.size for one in templates)

    def _fit_template(self, encoding: Encoding) -> Template | None:
        if self._message is None:
            return None
        try:
            made = template(self._message, encoding)
        except UNPORTABLE:
            return None
        return made if made.size + MAX_ADDRESS_SIZE <= self._max_size else None


def is_reserved(inner: Inner) -> bool:
    """Whether a message would pass for one of the hub's own."""
    return inner.type.startswith(HUB_PREFIX)


def notes_of(metadata: SendMetadata | UnsetType) -> dict[str, Any]:
    """What of a send's metadata goes on to the recipient."""
    if metadata is UNSET or (metadata.trace_id is UNSET and metadata.priority is UNSET):
        return _NO_NOTES
    notes = {"traceId": metadata.trace_id, "priority": metadata.priority}
    return {key: value for key, value in notes.items() if value is not UNSET}


def remaining_ms(ends_ms: int | None, now_ms: int) -> int | None:
    """The lifetime that is left to what is passed on now."""
    if ends_ms is None:
        return None
    left_ms = ends_ms - now_ms
    return left_ms if left_ms > 1 else 1


def own(turn: Turn, cls: type[M], payload: object, *, hub: str, to: str, answers: str | None) -> M:
    """A message of the hub's own; what it has no value for is null (R17).

    Args:
        turn: The turn in which it is made.
        cls: Its class.
        payload: What it says.
        hub: The hub's address.
        to: Whom it is for.
        answers: The id of the request, if it answers one.
    """
    return cls(
        id=turn.ids.next(),
        from_=hub,
        to=to,
        pattern="tell",
        correlation_id=answers,
        timestamp=turn.now_ms,
        payload=payload,
        metadata=cls.empty_metadata(),
        ttl=None,
        signature=None,
    )


class Outgoing:
    """Writes the frames of one hub of which there are many, and counts what leaves.

    The frames that it writes most are JSON: a message for one recipient, and what senders and
    publishers are answered. Their pieces are joined; some of them stay the same always, some for as
    long as the clock shows the same millisecond.

    Args:
        settings: The hub's.
        ids: What makes its ids.
    """

    def __init__(self, settings: HubSettings, ids: Ids) -> None:
        self._address = settings.address
        self._max_size = settings.max_message_size
        self._id = ids.prefix + _text(_NUMBER)
        self.meter = Meter()
        """How many messages are passed on each second."""
        self.budget = Bucket(settings.slice_size, settings.slice_pause_ms)
        """Bytes that may leave in slices (R53)."""
        sent = self._sent_pieces()
        self._head, self._from, self._to, *self._sent_times, self._via, ends, type_, self._end = (
            sent
        )
        self._for_ever, self._for_a_while = ends + b"null" + type_, ends + b"%d" + type_
        receipt = self._receipt_pieces()
        self._receipt, self._hub, self._answers, *self._receipt_times = receipt
        published = self._published_pieces()
        self._published, _, _, *self._published_times, count, end = published
        self._count = count + b"%d" + end
        self._set_time(0)

    def forwarded(
        self,
        turn: Turn,
        source: str,
        inner: Inner,
        original: str,
        *,
        ttl: int | None,
        notes: dict[str, Any],
    ) -> Application:
        """What recipients get: the application's message in an envelope of the hub's (R34).

        Its number and its recipient are marks: `template` makes a frame of it.

        Args:
            turn: The turn in which it is passed on.
            source: The sender's address.
            inner: The application's message.
            original: The id of the message that carried it.
            ttl: The lifetime that is left to it.
            notes: More for its metadata.
        """
        return Application(
            id=self._id,
            from_=source,
            to=_TO,
            pattern="tell",
            correlation_id=None,
            timestamp=turn.now_ms,
            type=inner.type,
            payload=inner.payload,
            metadata={
                "forwarded": True,
                "via": self._address,
                "originalMessageId": original,
                **notes,
            },
            ttl=ttl,
            signature=None,
        )

    def to_many(
        self, turn: Turn, source: str, message: Publish | Broadcast, notes: dict[str, Any]
    ) -> Forwarding:
        """What the recipients of a publication or broadcast get."""
        ttl = remaining_ms(expires_ms(message), turn.now_ms)
        inner, original = message.payload.message, message.id
        passed = self.forwarded(turn, source, inner, original, ttl=ttl, notes=notes)
        return Forwarding(replace(passed, correlation_id=original), self._max_size)

    def to_one(self, turn: Turn, source: bytes, message: Send, to: bytes) -> bytes:
        """What the recipient of a send without notes gets, as JSON; the addresses are JSON."""
        now_ms, ids, inner = turn.now_ms, turn.ids, message.payload.message
        if now_ms != self._now_ms:
            self._set_time(now_ms)
        ids.number = number = ids.number + 1
        ttl = remaining_ms(expires_ms(message), now_ms)
        return _join(
            (
                self._head,
                _DIGITS % number,
                self._from,
                source,
                self._to,
                to,
                self._sent_now,
                _write(inner.payload),
                self._via,
                message.id.encode(),
                self._for_ever if ttl is None else self._for_a_while % ttl,
                _write(inner.type),
                self._end,
            )
        )

    def receipt(self, turn: Turn, to: bytes, answers: str, status: DeliveryStatus) -> bytes:
        """What a sender is answered, as JSON; its address is JSON."""
        ids, answered = turn.ids, answers.encode()
        if turn.now_ms != self._now_ms:
            self._set_time(turn.now_ms)
        ids.number = number = ids.number + 1
        return _join(
            (
                self._receipt,
                _DIGITS % number,
                self._hub,
                to,
                self._answers,
                answered,
                self._about_now,
                answered,
                self._status_now[status],
            )
        )

    def published(self, turn: Turn, to: bytes, message: Publish, count: int) -> bytes:
        """What a publisher is answered, as JSON; its address is JSON."""
        ids = turn.ids
        if turn.now_ms != self._now_ms:
            self._set_time(turn.now_ms)
        ids.number = number = ids.number + 1
        return _join(
            (
                self._published,
                _DIGITS % number,
                self._hub,
                to,
                self._answers,
                message.id.encode(),
                self._topic_now,
                message.payload.topic.encode(),
                self._count % count,
            )
        )

    def _set_time(self, now_ms: int) -> None:
        """Writes the pieces that tell the time."""
        self._now_ms, time = now_ms, b"%d" % now_ms
        self._sent_now = time.join(self._sent_times)
        self._topic_now = time.join(self._published_times)
        before, after, delivered, status, end = self._receipt_times
        self._about_now = before + time + after
        self._status_now = {
            one: delivered + time + status + one.encode() + end for one in DeliveryStatus
        }

    def _sent_pieces(self) -> list[bytes]:
        inner = Inner(type=_TYPE, payload=_PAYLOAD)
        turn = Turn(_NO_IDS, _TIME)
        message = self.forwarded(turn, _FROM, inner, _text(_ID), ttl=_TTL, notes={})
        marks = (_NUMBER, _FROM, _TO, _TIME, _PAYLOAD, _ID, _TTL, _TYPE)
        return _pieces(_write(message), *marks)

    def _receipt_pieces(self) -> list[bytes]:
        said = DeliveryAckPayload(message_id=_text(_ID), delivered_at=_TIME, status=_text(_STATUS))
        marks = (_NUMBER, _TO, _ID, _TIME, _ID, _TIME, _STATUS)
        return self._own_pieces(DeliveryAck, said, *marks)

    def _published_pieces(self) -> list[bytes]:
        said = PublishedPayload(topic=_text(_TOPIC), subscriber_count=_COUNT)
        return self._own_pieces(Published, said, _NUMBER, _TO, _ID, _TIME, _TOPIC, _COUNT)

    def _own_pieces(self, cls: type[SharedMessage], payload: object, *marks: Raw) -> list[bytes]:
        turn = Turn(_NO_IDS, _TIME)
        message = own(turn, cls, payload, hub=self._address, to=_TO, answers=_text(_ID))
        return _pieces(_write(replace(message, id=self._id)), *marks)
