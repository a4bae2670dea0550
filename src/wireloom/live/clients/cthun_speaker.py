"""How a client speaks with a Cthun broker: association, requests and answers, bad news.

The broker's answers do not name their requests, except by the id in their data. An
inventory_response has none: it answers the oldest request that was not answered yet (R43).
"""

import asyncio
import re
from collections import deque
from collections.abc import Callable
from typing import Final, TypeVar

from msgspec import UNSET

from wireloom.live.clients.errors import (
    AnswerTimeoutError,
    AssociationError,
    BrokerError,
    ClientError,
    ExpiredError,
    LostError,
    RefusedError,
    UnreadableError,
    UnsendableError,
)
from wireloom.live.clients.gate import Gate
from wireloom.live.clients.inbox import Inbox
from wireloom.live.clients.lifeline import Lifeline
from wireloom.live.clients.pending import Pending
from wireloom.live.clients.sockets import Socket
from wireloom.live.clients.tuning import Tuning
from wireloom.protocols.cthun import codec
from wireloom.protocols.cthun.constants import (
    ASSOCIATION_TIMEOUT_MS,
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
from wireloom.wire.errors import WireError

Answer = DestinationReport | InventoryResponse
A = TypeVar("A", DestinationReport, InventoryResponse)

_TYPE: Final = re.compile(rb'"message_type"[ \t\r\n]*:[ \t\r\n]*"([A-Za-z0-9_.:/-]+)"')
_SEARCHED_SIZE: Final = 4_096
"""Bytes of a frame that cannot be read in which its type is looked for."""

_FINAL: Final = frozenset(
    {
        int(CloseCode.SUPERSEDED),
        int(CloseCode.ASSOCIATION_UNSUCCESSFUL),
        int(CloseCode.NO_CERTIFICATE),
    }
)
"""After these a client does not come back by itself: it would push another one out for ever, or
fail in the same way."""


class CthunSpeaker:
    """The client's side of the protocol.

    Args:
        association: Makes a request for association.
        tuning: Time, chance and patience.
    """

    def __init__(self, association: Callable[[], Packet], tuning: Tuning) -> None:
        self.messages: Inbox[Packet] = Inbox(tuning.inbox_limit)
        self.failures: Inbox[ClientError] = Inbox(tuning.inbox_limit)
        self.gate = Gate()
        self.line: Lifeline
        self._association = association
        self._pending: Pending[Answer] = Pending()
        self._inventories: deque[str] = deque()
        """Inventory requests that the broker has not answered, those included for whose answer
        nobody waits any more."""

    async def send(self, packet: Packet, seconds: float) -> None:
        """Sends a message.

        Raises:
            AnswerTimeoutError: If it could not be sent in time.
            LostError: If the connection was lost meanwhile.
        """
        raw = _encoded(packet)
        try:
            async with asyncio.timeout(seconds):
                await self.gate.passed()
                while not await self._is_taken(raw):
                    await self.gate.passed()
        except TimeoutError:
            raise AnswerTimeoutError(f"nothing could be sent for {seconds:g} s") from None

    async def request(self, packet: Packet, answer: type[A], seconds: float) -> A:
        """Sends a message and waits for what the broker says about it.

        Raises:
            BrokerError: If the broker refuses.
            UnreadableError: If it answers, and the answer cannot be read.
            AnswerTimeoutError: If it does not answer in time.
            LostError: If the connection is lost before it does.
        """
        message_id = packet.envelope.id
        raw = _encoded(packet)
        try:
            async with asyncio.timeout(seconds):
                heard = await (await self._ask(raw, message_id, answer))
        except TimeoutError:
            raise AnswerTimeoutError(f"no answer came within {seconds:g} s") from None
        finally:
            self._pending.forget(message_id)
        if not isinstance(heard, answer):
            raise UnreadableError(f"the broker answers with {type(heard).__name__}")
        return heard

    async def _ask(self, raw: bytes, message_id: str, answer: type[A]) -> asyncio.Future[Answer]:
        """Sends a request; gives what will hold the answer."""
        while True:
            await self.gate.passed()
            waiting = self._pending.expect(message_id, answer)
            if answer is InventoryResponse:
                self._inventories.append(message_id)  # answers come in the order of the requests
            self.messages.release()
            if await self._is_taken(raw):
                return waiting
            self._drop_inventory(message_id)
            self._pending.forget(message_id)

    async def _is_taken(self, raw: bytes) -> bool:
        """Sends a frame now; gives whether the connection took it.

        What it did not take may be sent again on the next one: a broker delivers nothing twice that
        has the same id (R34).
        """
        try:
            await self.line.send(raw)
        except LostError:
            self.gate.take_down()  # whoever reads has not noticed yet
            return False
        return True

    async def greet(self, socket: Socket) -> None:
        """Associates: says who the client is and hears whether the broker takes it."""
        request = self._association()
        seconds = ASSOCIATION_TIMEOUT_MS / 1_000
        try:
            async with asyncio.timeout(seconds):
                await socket.send(_encoded(request))
                heard = _decoded(*await socket.receive()).data
        except TimeoutError:
            text = f"no answer to the association within {seconds:g} s"
            raise AnswerTimeoutError(text) from None
        if isinstance(heard, ErrorMessage):
            raise AssociationError(f"the broker refuses the association: {heard.description}")
        if not isinstance(heard, AssociateResponse):
            raise UnreadableError("the broker does not answer the association")
        if not heard.success:
            why = heard.reason if isinstance(heard.reason, str) else "it does not say why"
            raise AssociationError(f"the broker refuses the association: {why}", heard.id)

    async def attend(self) -> None:
        """Lets messages pass: an association is all that a connection needs."""
        self.gate.raise_up()

    async def hear(self, raw: bytes, *, text: bool) -> None:
        """Takes what the broker says or passes on."""
        try:
            packet = _decoded(raw, text)
        except UnreadableError as error:
            self._miss(raw, error)
            return
        match packet.data:
            case DestinationReport() as report:
                self._pending.answer(report.id, report)
            case InventoryResponse() as response:
                self._pending.answer(self._next_inventory(), response)
            case ErrorMessage() as refusal:
                self._take_refusal(refusal)
            case TtlExpired(id=about):
                self._fail(about, ExpiredError(f"message {about} expired undelivered", about))
            case bytes() | None:
                self.messages.put(packet)
                if not self._pending:
                    await self.messages.room()

    def is_final(self, error: ClientError) -> bool:
        """Whether there is no use in connecting again."""
        return isinstance(error, AssociationError) or (
            isinstance(error, LostError) and error.code in _FINAL
        )

    def lose(self, error: ClientError) -> None:
        """Nobody gets an answer from a connection that is gone; what is new waits."""
        self.gate.take_down()
        self._inventories.clear()
        self._pending.fail_all(error)

    def end(self, error: ClientError) -> None:
        """Nothing more comes or goes."""
        self.gate.end(error)
        self._pending.fail_all(error)
        self.messages.end(error)
        self.failures.end()

    def _miss(self, raw: bytes, error: UnreadableError) -> None:
        """Tells of a frame that cannot be read who may have waited for it.

        Raises:
            UnreadableError: If it may be an inventory: whose the next one is, is not known then.
        """
        found = _TYPE.search(raw, 0, _SEARCHED_SIZE)
        name = None if found is None else found[1].decode()
        if name == MessageType.INVENTORY_RESPONSE:
            is_awaited = self._pending.fail(self._next_inventory(), error)
        elif name is None and self._inventories:
            raise error  # the connection ends, and all that was asked on it
        else:
            is_awaited = name in (None, *MessageType) and self._pending.fail_unread(raw, error)
        if not is_awaited:
            self.failures.put_latest(error)

    def _next_inventory(self) -> str | None:
        return self._inventories.popleft() if self._inventories else None

    def _drop_inventory(self, message_id: str | None) -> None:
        """No answer will come to this message."""
        if message_id is not None and message_id in self._inventories:
            self._inventories.remove(message_id)

    def _take_refusal(self, error: ErrorMessage) -> None:
        about = None if error.id is UNSET else error.id
        if about is None and error.description == Complaint.ANSWER_TOO_LARGE:  # R46
            about = self._next_inventory()
        self._fail(about, RefusedError(f"the broker refuses: {error.description}", about))

    def _fail(self, about: str | None, error: BrokerError) -> None:
        """Tells of a failure who waits for an answer, or else everyone."""
        self._drop_inventory(about)
        if not self._pending.fail(about, error):
            self.failures.put_latest(error)


def _encoded(packet: Packet) -> bytes:
    try:
        return codec.encode(packet)
    except WireError as error:
        raise UnsendableError(f"the message cannot be sent: {error.detail}") from None


def _decoded(raw: bytes, text: bool) -> Packet:  # noqa: FBT001, as a socket gives it
    if text:
        raise UnreadableError("the broker sent text")
    try:
        return codec.decode(raw, lenient=True)
    except WireError as error:
        raise UnreadableError(f"the broker sent no message: {error.detail}") from None
