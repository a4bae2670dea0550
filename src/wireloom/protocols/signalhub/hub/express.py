"""The frames that a hub writes most: a message for one recipient, and the receipts of senders.

They are JSON, and joined from parts, most of which stay the same: some always, some for as long
as the clock shows the same millisecond. The encoder would write the same bytes in twice the time.
"""

from typing import Final

import msgspec

from wireloom.protocols.signalhub.constants import DeliveryStatus
from wireloom.protocols.signalhub.envelope import Inner

_NUMBER: Final = b"%012x"
_FROM: Final = b'","from":'
_TO: Final = b',"to":'
_PAYLOAD: Final = b',"payload":'
_FOR_EVER: Final = b'"},"ttl":null,"signature":null}'
_FOR_A_WHILE: Final = b'"},"ttl":%d,"signature":null}'
_TOLD: Final = b',"pattern":"tell","correlationId":null,"timestamp":%d,"type":'
_ANSWERS: Final = b',"pattern":"tell","correlationId":"'
_ABOUT: Final = b'","timestamp":%d,"payload":{"messageId":"'
_DONE: Final = b'","deliveredAt":%d,"status":"%b"},"metadata":{},"ttl":null,"signature":null}'

_TOPIC: Final = b'","timestamp":%d,"payload":{"topic":"'
_COUNT: Final = b'","subscriberCount":%d},"metadata":{},"ttl":null,"signature":null}'

_STATUSES: Final = {status: status.encode() for status in DeliveryStatus}

_join: Final = b"".join
_write: Final = msgspec.json.Encoder().encode


class Express:
    """Writes them for one hub.

    Args:
        address: The hub's, as JSON.
        id_head: What all its ids begin with; a number follows.
    """

    def __init__(self, address: bytes, id_head: bytes) -> None:
        self._id = b'{"id":"' + id_head
        self._via = b',"metadata":{"forwarded":true,"via":' + address + b',"originalMessageId":"'
        self._receipt_id = b'{"type":"hub:delivery_ack","id":"' + id_head
        self._published_id = b'{"type":"hub:published","id":"' + id_head
        self._receipt_from = _FROM + address + _TO
        self._now_ms = -1

    def at(self, now_ms: int) -> None:
        """Says what time it is; to be called before the others."""
        if now_ms != self._now_ms:
            self._now_ms = now_ms
            self._told = _TOLD % now_ms
            self._about = _ABOUT % now_ms
            self._topic = _TOPIC % now_ms
            self._done = {one: _DONE % (now_ms, text) for one, text in _STATUSES.items()}

    def message(
        self, number: int, source: bytes, to: bytes, inner: Inner, original: bytes, ttl: int | None
    ) -> bytes:
        """What a recipient gets; the addresses are JSON, the id of what carried it is text."""
        return _join(
            (
                self._id,
                _NUMBER % number,
                _FROM,
                source,
                _TO,
                to,
                self._told,
                _write(inner.type),
                _PAYLOAD,
                _write(inner.payload),
                self._via,
                original,
                _FOR_EVER if ttl is None else _FOR_A_WHILE % ttl,
            )
        )

    def receipt(self, number: int, to: bytes, answers: bytes, status: DeliveryStatus) -> bytes:
        """What a sender hears; its address is JSON, the id of its message is text."""
        return _join(
            (
                self._receipt_id,
                _NUMBER % number,
                self._receipt_from,
                to,
                _ANSWERS,
                answers,
                self._about,
                answers,
                self._done[status],
            )
        )

    def published(self, number: int, to: bytes, answers: bytes, topic: bytes, count: int) -> bytes:
        """What a publisher hears; its address is JSON, the id of its message and the topic text."""
        return _join(
            (
                self._published_id,
                _NUMBER % number,
                self._receipt_from,
                to,
                _ANSWERS,
                answers,
                self._topic,
                topic,
                _COUNT % count,
            )
        )
