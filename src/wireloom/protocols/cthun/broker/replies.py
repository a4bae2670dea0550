"""What the broker itself says.

Its messages live for 3 seconds, go to a client that is connected now, and are neither held
nor reported when they expire (R33). Their envelopes keep to the published schema (R43).
"""

from typing import Final

import msgspec

from wireloom.protocols.cthun.broker.clients import Client, State
from wireloom.protocols.cthun.broker.inventory import Inventory
from wireloom.protocols.cthun.broker.settings import BrokerSettings
from wireloom.protocols.cthun.chunks import Chunk, join
from wireloom.protocols.cthun.constants import (
    BROKER_URI,
    ChunkType,
    CloseCode,
    Complaint,
)
from wireloom.protocols.cthun.documents import ENVELOPE
from wireloom.protocols.cthun.messages import (
    BROKER_TYPES,
    BrokerData,
    Envelope,
    ErrorMessage,
)
from wireloom.protocols.cthun.times import text_of
from wireloom.wire.errors import TooLargeError
from wireloom.wire.session import Send, Turn
from wireloom.wire.slow import SlowReaders

_encode: Final = msgspec.json.Encoder().encode
_TYPES: Final = {cls: name for name, cls in BROKER_TYPES.items()}


class Replies:
    """Composes the broker's messages.

    Args:
        settings: The broker's.
        inventory: Where clients are taken out that do not read.
    """

    def __init__(self, settings: BrokerSettings, inventory: Inventory) -> None:
        self._settings = settings
        self._inventory = inventory
        self._told_ms = 0
        self._told_size = 0
        self.slow = SlowReaders()
        """How often a client was cut because it did not read, by its URI."""

    def tell(self, turn: Turn, client: Client, data: BrokerData, *, to: str | None = None) -> None:
        """Says something to a client, or ends the connection of one that never reads (R36).

        Args:
            turn: Where the message goes.
            client: Who is told; nobody if its connection ends already.
            data: What it is told.
            to: The target, where the client is not known under a URI.
        """
        if client.state is State.CLOSING:
            return
        try:
            raw = self.compose(turn, data, to or client.uri)
        except TooLargeError:  # a great many clients with long names (R46)
            error = ErrorMessage(description=Complaint.ANSWER_TOO_LARGE.value)
            raw = self.compose(turn, error, to or client.uri)
        self._count(client, len(raw), turn.now_ms)
        if client.stalled:
            client.unread_size += len(raw)
            if client.unread_size > self._settings.unread_size:
                self._cut(turn, client)
                return
        turn.commands.append(Send(client.line, raw))

    def may_ask(self, client: Client, now_ms: int) -> bool:
        """Whether a client may ask for an answer that can be large, or had enough for now (R46)."""
        mine = client.told_size if client.told_ms == now_ms else 0
        told = self._told_size if self._told_ms == now_ms else 0
        return mine < self._settings.unread_size and told < self._settings.slice_size

    def _count(self, client: Client, size: int, now_ms: int) -> None:
        """Counts the bytes of an answer in this millisecond."""
        if client.told_ms != now_ms:
            client.told_ms, client.told_size = now_ms, 0
        if self._told_ms != now_ms:
            self._told_ms, self._told_size = now_ms, 0
        client.told_size += size
        self._told_size += size

    def _cut(self, turn: Turn, client: Client) -> None:
        self.slow.note(client.uri)
        self._inventory.close(turn, client, CloseCode.UNAVAILABLE, "the client does not read")

    def compose(self, turn: Turn, data: BrokerData, to: str | None) -> bytes:
        """A message of the broker's own.

        Raises:
            TooLargeError: If it is larger than a message may be.
        """
        envelope = Envelope(
            id=turn.ids.next(),
            message_type=_TYPES[type(data)],
            expires=text_of(turn.now_ms + self._settings.broker_ttl_ms),
            targets=() if to is None else (to,),
            sender=BROKER_URI,
        )
        # Without the codec's second look at it: an inventory can be long, and every text in it
        # was looked at when it came.
        chunks = (
            Chunk(ChunkType.ENVELOPE, 0, ENVELOPE.put(envelope)),
            Chunk(ChunkType.DATA, 0, _encode(data)),
        )
        return join(chunks)
