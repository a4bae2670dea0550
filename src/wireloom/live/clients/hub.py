"""A client of the Signal Hub.

    async with HubClient("ws://127.0.0.1:8787/hub", "@(shop/orders)") as hub:
        await hub.register(["orders"])
        await hub.send("@(shop/stock)", "stock:reserve", {"item": 7})
        async for message in hub.messages:
            print(message.from_, message.type, message.payload)

A lost connection is opened again by the specification's rules; registrations and subscriptions
are made again then. Meanwhile requests wait as long as their time-outs let them, and those that
were under way fail with a `LostError`: whether the hub has done them is not known.
"""

import secrets
import ssl
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeVar

from wireloom import __version__
from wireloom.live.clients.client import Client
from wireloom.live.clients.driver import ClientDriver
from wireloom.live.clients.errors import ClosedError
from wireloom.live.clients.sockets import Dialling
from wireloom.live.clients.tuning import Tuning
from wireloom.protocols.signalhub.client import requests
from wireloom.protocols.signalhub.client.requests import Draft
from wireloom.protocols.signalhub.client.session import REQUEST_SECONDS, HubClientSession
from wireloom.protocols.signalhub.client.settings import ClientSettings
from wireloom.protocols.signalhub.constants import MAX_MESSAGE_SIZE, SEND_TTL_MS, ContentType
from wireloom.protocols.signalhub.envelope import SharedMessage
from wireloom.protocols.signalhub.messages import Application
from wireloom.protocols.signalhub.payloads import (
    ActorListPayload,
    BroadcastAckPayload,
    ConnectedPayload,
    DeliveryAckPayload,
    DiscoveredPayload,
    PublishedPayload,
    QueueStatsResponsePayload,
    RegisteredPayload,
    RenewedPayload,
    SubscribedPayload,
)
from wireloom.wire.ids import Ids

URL: Final = "ws://127.0.0.1:8787/hub"
"""Where `wireloom serve` has its hub."""

_SEND_SECONDS: Final = SEND_TTL_MS / 1_000
A = TypeVar("A", bound=SharedMessage)


class HubClient(Client[Application]):
    """An actor at a hub.

    All waiting ends with a `ClientError`; see `errors` for its kinds.

    Args:
        url: Where the hub is, `ws://` or `wss://`.
        address: Who the client is, `@(…)`; a hub with authentication goes by the token instead.
        token: What proves who the client is.
        content_type: How frames are written; the hub answers in the same way.
        tls: For `wss://`: whom to trust; the system's trust if None.
        tuning: Time, chance and patience.
    """

    def __init__(
        self,
        url: str,
        address: str,
        *,
        token: str | None = None,
        content_type: ContentType = ContentType.JSON,
        tls: ssl.SSLContext | None = None,
        tuning: Tuning = Tuning(),  # noqa: B008, it is frozen
    ) -> None:
        settings = ClientSettings(
            url=url,
            address=address,
            token=token,
            content_type=content_type,
            user_agent=f"wireloom/{__version__}",
            dead_after_ms=max(1, round(tuning.dead_after_seconds * 1_000)),
            backoff=tuning.backoff,
        )
        self._session = HubClientSession(settings, Ids(secrets.token_hex(16)), tuning.random)
        where = Dialling(
            url=url,
            tls=tls,
            # A hub may be set to take more than the specification says; what is too large is told.
            max_size=2 * MAX_MESSAGE_SIZE,
            open_seconds=tuning.dial_seconds,
            close_seconds=tuning.goodbye_seconds,
        )
        super().__init__(ClientDriver("signalhub", self._session, where, tuning))

    @property
    def address(self) -> str:
        """Who the client is: what the hub verified, or else what it was told."""
        return self._session.address

    @property
    def session(self) -> ConnectedPayload:
        """What the hub said of itself when the last connection opened."""
        if self._session.session is None:
            raise ClosedError
        return self._session.session

    @property
    def skew_ms(self) -> int | None:
        """How far the hub's clock is ahead, by the last heartbeat; None before the first."""
        return self._session.skew_ms

    async def ask(
        self, cls: type[SharedMessage], payload: object, answer: type[A], **more: Any
    ) -> A:
        """Sends any request of the protocol and waits for its answer.

        Args:
            cls: The request's class.
            payload: Its payload.
            answer: The class of the answer.
            **more: `seconds` to wait, `ttl_ms`, `metadata`; and `pattern`, where it is not `ask`.
        """
        seconds = more.pop("seconds", REQUEST_SECONDS)
        draft = Draft(cls, payload, answer, **{"pattern": "ask", **more})
        return await self._answer(draft, seconds)

    async def _answer(self, draft: Draft[A], seconds: float = REQUEST_SECONDS) -> A:
        """Sends a draft and waits for its answer."""
        answer: A = await self._driver.ask(requests.request(self._next_id(), draft, seconds))
        return answer

    async def _tell(self, draft: Draft[Any]) -> str:
        """Sends a draft that is not answered; gives its id."""
        message_id = self._next_id()
        await self._driver.ask(requests.request(message_id, draft, REQUEST_SECONDS))
        return message_id

    def _next_id(self) -> str:
        return self._session.ids.next()

    async def register(
        self,
        capabilities: Sequence[str],
        *,
        address: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        ttl_seconds: int | None = None,
        renew_on_heartbeat: bool = True,
    ) -> RegisteredPayload:
        """Makes an actor known to the hub, so that messages reach it. Reconnecting renews it.

        Args:
            capabilities: What it can do, one word or more.
            address: Where messages reach it; the client's own address if None.
            metadata: What others may know of it.
            ttl_seconds: How long it holds, 60 to 3600; the hub's default if None.
            renew_on_heartbeat: Whether it holds on as long as the client is connected.
        """
        draft = requests.register(
            address or self.address,
            capabilities,
            metadata=metadata,
            ttl_seconds=ttl_seconds,
            renew_on_heartbeat=renew_on_heartbeat,
        )
        return (await self._answer(draft)).payload

    async def renew(self, address: str | None = None) -> RenewedPayload:
        """Prolongs a registration that this client made.

        Raises:
            KeyError: If it made none for the address.
        """
        kept = self._session.upkeep.registrations[address or self.address]
        return (await self._answer(requests.renew(kept.token))).payload

    async def unregister(self, address: str | None = None) -> None:
        """Makes the hub forget an actor. The hub does not answer."""
        await self._tell(requests.unregister(address or self.address))

    async def discover(self, pattern: str = "*", limit: int | None = None) -> DiscoveredPayload:
        """The actors whose addresses match; `*` stands for any characters."""
        return (await self._answer(requests.discover(pattern, limit))).payload

    async def list(self, offset: int = 0, limit: int | None = None) -> ActorListPayload:
        """One page of all actors."""
        return (await self._answer(requests.list_actors(offset, limit))).payload

    async def send(
        self,
        target: str,
        type_: str,
        payload: Any = None,
        *,
        ttl_ms: int = SEND_TTL_MS,
        priority: int | None = None,
        seconds: float = _SEND_SECONDS,
    ) -> DeliveryAckPayload:
        """Sends a message to an actor and waits until the hub has delivered or queued it.

        Args:
            target: The actor's address.
            type_: What the message is, in the application's words.
            payload: What it says; any JSON value.
            ttl_ms: How long delivery may take; a failure after it was queued is in `failures`.
            priority: 0 (most urgent) to 2.
            seconds: How long to wait for the hub.

        Raises:
            UnknownActorError: If the actor is not registered.
        """
        draft = requests.send(target, type_, payload, ttl_ms=ttl_ms, priority=priority)
        return (await self._answer(draft, seconds)).payload

    async def tell(
        self,
        target: str,
        type_: str,
        payload: Any = None,
        *,
        ttl_ms: int = SEND_TTL_MS,
        priority: int | None = None,
    ) -> str:
        """Sends a message to an actor without waiting; gives its id. See `send`."""
        return await self._tell(
            requests.tell(target, type_, payload, ttl_ms=ttl_ms, priority=priority)
        )

    async def broadcast(
        self,
        type_: str,
        payload: Any = None,
        *,
        exclude_self: bool = True,
        capability: str | None = None,
    ) -> BroadcastAckPayload:
        """Sends a message to all registered actors, or to those with a capability."""
        draft = requests.broadcast(type_, payload, exclude_self=exclude_self, capability=capability)
        return (await self._answer(draft)).payload

    async def publish(self, topic: str, type_: str, payload: Any = None) -> PublishedPayload:
        """Sends a message to the subscribers of a topic."""
        return (await self._answer(requests.publish(topic, type_, payload))).payload

    async def subscribe(self, topic: str, *, durable: bool = False) -> SubscribedPayload:
        """Asks for the messages of a topic. Reconnecting subscribes again.

        Args:
            topic: Its exact name.
            durable: Whether the hub keeps the subscription while the client is away.
        """
        return (await self._answer(requests.subscribe(topic, durable=durable))).payload

    async def unsubscribe(self, subscription_id: str) -> None:
        """Ends a subscription. The hub does not answer."""
        await self._tell(requests.unsubscribe(subscription_id))

    async def queue_stats(self) -> QueueStatsResponsePayload:
        """How full the hub's queue is."""
        return (await self._answer(requests.queue_stats())).payload
