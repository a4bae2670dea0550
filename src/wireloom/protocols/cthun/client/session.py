"""A client of a Cthun broker: events in, commands out.

It associates on every connection. What it can be asked for is in `requests`. The broker's answers
do not name their requests, except by the id in their data. An inventory_response has none: it
answers the oldest request that was not answered yet (R43).
"""

import re
from collections import deque
from collections.abc import Callable
from typing import Final

from msgspec import UNSET

from wireloom.protocols.cthun import codec
from wireloom.protocols.cthun.client.errors import (
    AssociationError,
    BrokerError,
    ExpiredError,
    RefusedError,
)
from wireloom.protocols.cthun.client.requests import Answer, BrokerRequest, associate
from wireloom.protocols.cthun.client.settings import ClientSettings
from wireloom.protocols.cthun.constants import (
    ASSOCIATION_TIMEOUT_MS,
    BROKER_URI,
    CloseCode,
    Complaint,
    MessageType,
)
from wireloom.protocols.cthun.messages import (
    AssociateResponse,
    DestinationReport,
    ErrorMessage,
    InventoryResponse,
    Packet,
    TtlExpired,
)
from wireloom.wire.client.application import Arrived, Failed
from wireloom.wire.client.errors import (
    ClientError,
    LostError,
    UnreadableError,
    UnsendableError,
)
from wireloom.wire.client.session import ClientSession
from wireloom.wire.errors import MalformedError, WireError
from wireloom.wire.ids import Ids
from wireloom.wire.outcome import Outcome
from wireloom.wire.session import Conclude, Dial, FrameReceived, Turn

LINK: Final = "websocket"
_TYPE: Final = re.compile(rb'"message_type"[ \t\r\n]*:[ \t\r\n]*"([A-Za-z0-9_.:/-]+)"')
_SEARCHED_SIZE: Final = 4_096
"""Bytes of a frame that cannot be read in which its type is looked for."""

_LISTED: Final = frozenset(MessageType)
_FINAL: Final = frozenset(
    {
        int(CloseCode.SUPERSEDED),
        int(CloseCode.ASSOCIATION_UNSUCCESSFUL),
        int(CloseCode.NO_CERTIFICATE),
    }
)
"""After these a client does not come back by itself: it would push another one out for ever, or
fail in the same way."""


class BrokerClientSession(ClientSession[BrokerRequest, Answer]):
    """One node at a broker.

    Args:
        settings: Where the broker is, and who the client is.
        ids: What makes its ids.
        random: Gives a number from 0 to 1.
    """

    server = "the broker"
    greeting = "the association"
    greeting_ms = ASSOCIATION_TIMEOUT_MS

    def __init__(self, settings: ClientSettings, ids: Ids, random: Callable[[], float]) -> None:
        super().__init__(Dial(LINK, settings.url), ids, settings.backoff, random)
        self._uri = settings.uri
        self._inventories: deque[str] = deque()
        """Inventory requests that the broker has not answered, those included for whose answer
        nobody waits any more."""

    def greet(self, turn: Turn) -> None:
        """Says who the client is."""
        self.send(_encoded(associate().packet(turn.ids.next(), self._uri, turn.now_ms)), turn)

    def hear_greeting(self, event: FrameReceived, turn: Turn) -> Conclude:
        """Takes the answer to the association."""
        try:
            packet = _decoded(event)
        except WireError as error:
            self.lose(_unreadable(error, event), turn)
            return Conclude(Outcome.REJECTED, error.reason, BROKER_URI)
        refusal = _refusal(packet)
        if refusal is None:
            self.accept(turn)
        else:
            self.lose(refusal, turn)
        return _concluded(packet, Outcome.ACCEPTED)

    def hear(self, event: FrameReceived, turn: Turn) -> Conclude:
        """Takes what the broker says or passes on."""
        try:
            packet = _decoded(event)
        except WireError as error:
            self._miss(event.raw, _unreadable(error, event), turn)
            return Conclude(Outcome.REJECTED, error.reason, BROKER_URI)
        match packet.data:
            case DestinationReport() as report:
                self.asks.answer(report.id, report, turn)
            case InventoryResponse() as response:
                self.asks.answer(self._next_inventory(), response, turn)
            case ErrorMessage() as refusal:
                self._take_refusal(refusal, turn)
            case TtlExpired(id=about):
                self._fail(about, ExpiredError(f"message {about} expired undelivered", about), turn)
            case bytes() | None:
                self.tell(Arrived(packet), turn)
                return _concluded(packet, Outcome.DELIVERED)
        return _concluded(packet, Outcome.ACCEPTED)

    def prepare(self, request: BrokerRequest, turn: Turn) -> bytes:
        """The whole message: its time to live begins when it is asked for.

        Raises:
            UnsendableError: If it cannot be written.
        """
        return self.write(request, turn)

    def write(self, request: BrokerRequest, turn: Turn) -> bytes:
        """The frame of a request.

        Raises:
            UnsendableError: If it cannot be written.
        """
        return _encoded(request.draft.packet(request.id, self._uri, turn.now_ms))

    def leave(self, request: BrokerRequest) -> None:
        """Takes note of inventory requests: answers come in the order of the requests."""
        if request.answer is InventoryResponse:
            self._inventories.append(request.id)

    def stay(self, request: BrokerRequest) -> None:
        """No answer will come to a request that did not leave."""
        self._drop_inventory(request.id)

    def is_final(self, error: ClientError) -> bool:
        """Whether there is no use in connecting again."""
        return isinstance(error, AssociationError) or (
            isinstance(error, LostError) and error.code in _FINAL
        )

    def forget_connection(self) -> None:
        """Forgets what belonged to the connection: nothing is answered on the next one."""
        self._inventories.clear()

    def _miss(self, raw: bytes, error: UnreadableError, turn: Turn) -> None:
        """Fails those who may have waited for a frame that cannot be read.

        If it may be an inventory, whose the next one is is not known: the connection ends, and all
        that was asked on it.
        """
        found = _TYPE.search(raw, 0, _SEARCHED_SIZE)
        name = None if found is None else found[1].decode()
        if name == MessageType.INVENTORY_RESPONSE:
            is_awaited = self.asks.answer(self._next_inventory(), error, turn)
        elif name is None and self._inventories:
            self.lose(error, turn)
            return
        else:
            is_awaited = (name is None or name in _LISTED) and self.asks.fail_unread(
                raw, error, turn
            )
        if not is_awaited:
            self.tell(Failed(error), turn)

    def _next_inventory(self) -> str | None:
        return self._inventories.popleft() if self._inventories else None

    def _drop_inventory(self, message_id: str | None) -> None:
        """No answer will come to this message."""
        if message_id is not None and message_id in self._inventories:
            self._inventories.remove(message_id)

    def _take_refusal(self, error: ErrorMessage, turn: Turn) -> None:
        about = None if error.id is UNSET else error.id
        if about is None and error.description == Complaint.ANSWER_TOO_LARGE:  # R46
            about = self._next_inventory()
        self._fail(about, RefusedError(f"the broker refuses: {error.description}", about), turn)

    def _fail(self, about: str | None, error: BrokerError, turn: Turn) -> None:
        """Tells of a failure who waits for an answer, or else the application."""
        self._drop_inventory(about)
        if not self.asks.answer(about, error, turn):
            self.tell(Failed(error), turn)


def _refusal(packet: Packet) -> ClientError | None:
    """Why the client is not associated, if it is not."""
    match packet.data:
        case AssociateResponse(success=True):
            return None
        case AssociateResponse(id=about, reason=reason):
            why = reason if isinstance(reason, str) else "it does not say why"
            return AssociationError(f"the broker refuses the association: {why}", about)
        case ErrorMessage(description=why):
            return AssociationError(f"the broker refuses the association: {why}")
    return UnreadableError("the broker does not answer the association")


def _concluded(packet: Packet, outcome: Outcome) -> Conclude:
    name = packet.envelope.message_type
    return Conclude(outcome, None, BROKER_URI, name if name in _LISTED else None)


def _encoded(packet: Packet) -> bytes:
    try:
        return codec.encode(packet)
    except WireError as error:
        raise UnsendableError(f"the message cannot be sent: {error.detail}") from None


def _decoded(event: FrameReceived) -> Packet:
    if event.text:
        raise MalformedError("a message is binary")  # R40
    return codec.decode(event.raw, lenient=True)


def _unreadable(error: WireError, event: FrameReceived) -> UnreadableError:
    if event.text:
        return UnreadableError("the broker sent text")
    return UnreadableError(f"the broker sent no message: {error.detail}")
