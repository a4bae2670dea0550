"""A client of the Cthun broker.

    async with CthunClient("ws://127.0.0.1:8142/cthun", "cth://one.example.com/agent") as broker:
        await broker.send(["cth://*/agent"], "http://example.com/ping", b"hello")
        async for packet in broker.messages:
            print(packet.envelope.sender, packet.data)

A lost connection is opened again like a hub's; what was under way fails with a `LostError`. The
broker does not acknowledge messages: what went wrong with one that was sent is in `failures`.
"""

import ssl
from collections.abc import Sequence
from functools import partial
from types import TracebackType
from typing import Final, Self

from msgspec import UNSET, UnsetType

from wireloom.live.clients.cthun_speaker import CthunSpeaker
from wireloom.live.clients.errors import ClientError, ClosedError
from wireloom.live.clients.inbox import Inbox
from wireloom.live.clients.lifeline import Lifeline
from wireloom.live.clients.sockets import Dialling, dial
from wireloom.live.clients.tuning import Tuning
from wireloom.protocols.cthun.constants import (
    ASSOCIATION_TTL_MS,
    BROKER_URI,
    DEFAULT_TTL_MS,
    MAX_MESSAGE_SIZE,
    MAX_MISSED_PINGS,
    PING_INTERVAL_MS,
    MessageType,
)
from wireloom.protocols.cthun.messages import (
    DestinationReport,
    Envelope,
    InventoryRequest,
    InventoryResponse,
    Packet,
)
from wireloom.protocols.cthun.times import text_of

URL: Final = "ws://127.0.0.1:8142/cthun"
"""Where `wireloom serve` has its broker."""

_SECONDS: Final = DEFAULT_TTL_MS / 1_000


class CthunClient:
    """A node at a broker.

    All waiting ends with a `ClientError`; see `errors` for its kinds.

    Args:
        url: Where the broker is, `ws://` or `wss://`.
        uri: Who the client is, `cth://<common name>/<type>`; over `wss` the common name is that of
            its certificate.
        tls: For `wss://`: whom to trust, and the client's certificate; see `tls.client_context`.
        tuning: Time, chance and patience.
    """

    def __init__(
        self,
        url: str,
        uri: str,
        *,
        tls: ssl.SSLContext | None = None,
        tuning: Tuning = Tuning(),  # noqa: B008, it is frozen
    ) -> None:
        self.uri = uri
        self._tuning = tuning
        self._speaker = CthunSpeaker(self._association, tuning)
        where = Dialling(
            url=url,
            tls=tls,
            max_size=MAX_MESSAGE_SIZE,
            open_seconds=tuning.dial_seconds,
            close_seconds=tuning.goodbye_seconds,
            ping_seconds=PING_INTERVAL_MS / 1_000,
            missed_pings=MAX_MISSED_PINGS,
        )
        self._speaker.line = self._line = Lifeline(self._speaker, partial(dial, where), tuning)

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    @property
    def messages(self) -> Inbox[Packet]:
        """What others send to this client, as it comes. `async for` ends with the client."""
        return self._speaker.messages

    @property
    def failures(self) -> Inbox[ClientError]:
        """What went wrong with messages that nobody waits for; the latest are kept.

        A `RefusedError` or an `ExpiredError` names the message in `about`.
        """
        return self._speaker.failures

    async def open(self) -> None:
        """Connects and associates. One attempt is made.

        Raises:
            ClientError: If it fails.
        """
        await self._line.open()
        self._speaker.gate.begin()

    async def close(self) -> None:
        """Ends the connection. What came before can still be read."""
        await self._line.close()
        self._speaker.gate.end(ClosedError())
        self._speaker.lose(ClosedError())
        self.messages.end()
        self.failures.end()

    async def send(
        self,
        targets: Sequence[str],
        message_type: str,
        data: bytes | None = None,
        *,
        ttl_seconds: float = _SECONDS,
        in_reply_to: str | None = None,
    ) -> str:
        """Sends a message; gives its id.

        Args:
            targets: The receivers; `*` stands for a whole component, and for those connected now.
            message_type: What the data is.
            data: The application's bytes.
            ttl_seconds: How long the broker holds it for targets that are away.
            in_reply_to: The id of the message that this answers.
        """
        envelope = self._envelope(
            targets,
            message_type,
            ttl_seconds,
            in_reply_to=UNSET if in_reply_to is None else in_reply_to,
        )
        await self._speaker.send(Packet(envelope=envelope, data=data), ttl_seconds)
        return envelope.id

    async def send_reported(
        self,
        targets: Sequence[str],
        message_type: str,
        data: bytes | None = None,
        *,
        ttl_seconds: float = _SECONDS,
        seconds: float = _SECONDS,
    ) -> DestinationReport:
        """Sends a message and waits until the broker tells who its receivers are.

        Args:
            targets: As for `send`.
            message_type: What the data is.
            data: The application's bytes.
            ttl_seconds: As for `send`.
            seconds: How long to wait for the report.

        Raises:
            RefusedError: If the broker does not take the message.
            ExpiredError: If it expired on the way.
        """
        envelope = self._envelope(targets, message_type, ttl_seconds, destination_report=True)
        packet = Packet(envelope=envelope, data=data)
        return await self._speaker.request(packet, DestinationReport, seconds)

    async def inventory(
        self, query: Sequence[str] = ("cth://*/*",), *, seconds: float = _SECONDS
    ) -> tuple[str, ...]:
        """The connected nodes that a query matches."""
        envelope = self._envelope([BROKER_URI], MessageType.INVENTORY_REQUEST.value, seconds)
        packet = Packet(envelope=envelope, data=InventoryRequest(query=tuple(query)))
        return (await self._speaker.request(packet, InventoryResponse, seconds)).uris

    def _association(self) -> Packet:
        kind = MessageType.ASSOCIATE_REQUEST.value
        return Packet(envelope=self._envelope([BROKER_URI], kind, ASSOCIATION_TTL_MS / 1_000))

    def _envelope(
        self,
        targets: Sequence[str],
        message_type: str,
        ttl_seconds: float,
        *,
        destination_report: bool | UnsetType = UNSET,
        in_reply_to: str | UnsetType = UNSET,
    ) -> Envelope:
        return Envelope(
            id=self._tuning.new_id(),
            message_type=message_type,
            expires=text_of(self._tuning.now_ms() + int(ttl_seconds * 1_000)),
            targets=tuple(targets),
            sender=self.uri,
            destination_report=destination_report,
            in_reply_to=in_reply_to,
        )
