"""A client of the Cthun broker.

    async with CthunClient("ws://127.0.0.1:8142/cthun", "cth://one.example.com/agent") as broker:
        await broker.send(["cth://*/agent"], "http://example.com/ping", b"hello")
        async for packet in broker.messages:
            print(packet.envelope.sender, packet.data)

A lost connection is opened again like a hub's; what was under way fails with a `LostError`. The
broker does not acknowledge messages: what went wrong with one that was sent is in `failures`.
"""

import secrets
import ssl
from collections.abc import Sequence
from typing import Final, TypeVar

from wireloom.live.clients.client import Client
from wireloom.live.clients.driver import ClientDriver
from wireloom.live.clients.sockets import Dialling
from wireloom.live.clients.tuning import Tuning
from wireloom.protocols.cthun.client import requests
from wireloom.protocols.cthun.client.requests import Answer, Draft
from wireloom.protocols.cthun.client.session import BrokerClientSession
from wireloom.protocols.cthun.client.settings import ClientSettings
from wireloom.protocols.cthun.constants import (
    DEFAULT_TTL_MS,
    MAX_MESSAGE_SIZE,
    MAX_MISSED_PINGS,
    PING_INTERVAL_MS,
)
from wireloom.protocols.cthun.messages import DestinationReport, Packet
from wireloom.wire.ids import Ids

URL: Final = "ws://127.0.0.1:8142/cthun"
"""Where `wireloom serve` has its broker."""

_SECONDS: Final = DEFAULT_TTL_MS / 1_000
A = TypeVar("A", bound=Answer)


class CthunClient(Client[Packet]):
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
        settings = ClientSettings(url=url, uri=uri, backoff=tuning.backoff)
        self._session = BrokerClientSession(settings, Ids(secrets.token_hex(16)), tuning.random)
        where = Dialling(
            url=url,
            tls=tls,
            max_size=MAX_MESSAGE_SIZE,
            open_seconds=tuning.dial_seconds,
            close_seconds=tuning.goodbye_seconds,
            ping_seconds=PING_INTERVAL_MS / 1_000,
            missed_pings=MAX_MISSED_PINGS,
        )
        super().__init__(ClientDriver("cthun", self._session, where, tuning))

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
        draft = requests.send(targets, message_type, data, ttl_seconds, in_reply_to=in_reply_to)
        message_id = self._session.ids.next()
        await self._driver.ask(requests.request(message_id, draft, ttl_seconds))
        return message_id

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
        draft = requests.send_reported(targets, message_type, data, ttl_seconds)
        return await self._answer(draft, seconds)

    async def inventory(
        self, query: Sequence[str] = ("cth://*/*",), *, seconds: float = _SECONDS
    ) -> tuple[str, ...]:
        """The connected nodes that a query matches."""
        return (await self._answer(requests.inventory(query, seconds), seconds)).uris

    async def _answer(self, draft: Draft[A], seconds: float) -> A:
        """Sends a draft and waits for its answer."""
        request = requests.request(self._session.ids.next(), draft, seconds)
        answer: A = await self._driver.ask(request)
        return answer
