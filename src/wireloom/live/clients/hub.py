"""A client of the Signal Hub.

    async with HubClient("ws://127.0.0.1:8787/hub", "@(shop/orders)") as hub:
        await hub.register(["orders"])
        await hub.send("@(shop/stock)", "stock:reserve", {"item": 7})
        async for message in hub.messages:
            print(message.from_, message.type, message.payload)

A lost connection is opened again by the specification's rules; registrations and subscriptions
are made good then. Meanwhile requests wait as long as their time-outs let them, and those that
were under way fail with a `LostError`: whether the hub has done them is not known.
"""

import asyncio
import ssl
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from msgspec import UNSET

from wireloom.live.clients.errors import ClientError, ClosedError
from wireloom.live.clients.hub_speaker import REQUEST_SECONDS, Draft, HubSpeaker, Registration
from wireloom.live.clients.inbox import Inbox
from wireloom.live.clients.lifeline import Lifeline
from wireloom.live.clients.sockets import Dialling, dial
from wireloom.live.clients.tuning import Tuning
from wireloom.protocols.signalhub.constants import MAX_MESSAGE_SIZE, SEND_TTL_MS, ContentType
from wireloom.protocols.signalhub.envelope import Inner, SharedMessage
from wireloom.protocols.signalhub.messages import (
    ActorList,
    Application,
    Broadcast,
    BroadcastAck,
    DeliveryAck,
    Discover,
    Discovered,
    ListActors,
    Publish,
    Published,
    QueueStats,
    QueueStatsResponse,
    Register,
    Registered,
    Renew,
    Renewed,
    Send,
    Subscribe,
    Subscribed,
    Unregister,
    Unsubscribe,
)
from wireloom.protocols.signalhub.metadata import (
    BroadcastMetadata,
    RegisterMetadata,
    SendMetadata,
)
from wireloom.protocols.signalhub.payloads import (
    ActorListPayload,
    BroadcastAckPayload,
    BroadcastPayload,
    ConnectedPayload,
    DeliveryAckPayload,
    DiscoveredPayload,
    DiscoverPayload,
    Empty,
    ListActorsPayload,
    PublishedPayload,
    PublishPayload,
    QueueStatsResponsePayload,
    RegisteredPayload,
    RegisterPayload,
    RenewedPayload,
    RenewPayload,
    SendPayload,
    SubscribedPayload,
    SubscribePayload,
    UnregisterPayload,
    UnsubscribePayload,
)

URL: Final = "ws://127.0.0.1:8787/hub"
"""Where `wireloom serve` has its hub."""

_SEND_SECONDS: Final = SEND_TTL_MS / 1_000
A = TypeVar("A", bound=SharedMessage)


class HubClient:
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
        self._tuning = tuning
        self._speaker = HubSpeaker(address, token, content_type, tuning)
        where = Dialling(
            url=url,
            tls=tls,
            # A hub may be set to take more than the specification says; what is too large is told.
            max_size=2 * MAX_MESSAGE_SIZE,
            open_seconds=tuning.dial_seconds,
            close_seconds=tuning.goodbye_seconds,
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
    def messages(self) -> Inbox[Application]:
        """What others send to this client, as it comes. `async for` ends with the client."""
        return self._speaker.messages

    @property
    def failures(self) -> Inbox[ClientError]:
        """What went wrong that nobody waits for; the latest are kept.

        It is about a `tell`, a send that was queued, or a registration after a reconnect.
        """
        return self._speaker.failures

    @property
    def address(self) -> str:
        """Who the client is: what the hub verified, or else what it was told."""
        return self._speaker.address

    @property
    def session(self) -> ConnectedPayload:
        """What the hub said of itself when the last connection opened."""
        if self._speaker.session is None:
            raise ClosedError
        return self._speaker.session

    @property
    def skew_ms(self) -> int | None:
        """How far the hub's clock is ahead, by the last heartbeat; None before the first."""
        return self._speaker.skew_ms

    async def open(self) -> None:
        """Connects. One attempt is made.

        Raises:
            ClientError: If it fails.
        """
        await self._line.open()
        self._speaker.gate.begin()

    async def close(self) -> None:
        """Says goodbye and ends the connection. What came before can still be read."""
        with suppress(ClientError, TimeoutError):
            async with asyncio.timeout(self._tuning.goodbye_seconds):
                await self._speaker.say_goodbye()
        await self._line.close()
        self._speaker.gate.end(ClosedError())
        self._speaker.lose(ClosedError())
        self.messages.end()
        self.failures.end()

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
        draft = Draft(cls, payload, **{"pattern": "ask", **more})
        return await self._speaker.request(draft, answer, seconds=seconds)

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
        payload = RegisterPayload(
            actor_address=address or self.address,
            capabilities=tuple(capabilities),
            metadata=dict(metadata or {}),
            ttl_seconds=UNSET if ttl_seconds is None else ttl_seconds,
        )
        wish = RegisterMetadata(renew_on_heartbeat=renew_on_heartbeat)
        made = (await self.ask(Register, payload, Registered, metadata=wish)).payload
        kept = Registration(payload, wish, made.renewal_token)
        self._speaker.registrations[payload.actor_address] = kept
        return made

    async def renew(self, address: str | None = None) -> RenewedPayload:
        """Prolongs a registration that this client made.

        Raises:
            KeyError: If it made none for the address.
        """
        kept = self._speaker.registrations[address or self.address]
        payload = RenewPayload(renewal_token=kept.token)
        renewed = (await self.ask(Renew, payload, Renewed)).payload
        kept.token = renewed.renewal_token
        return renewed

    async def unregister(self, address: str | None = None) -> None:
        """Makes the hub forget an actor. The hub does not answer."""
        where = address or self.address
        self._speaker.registrations.pop(where, None)
        await self._speaker.tell(Draft(Unregister, UnregisterPayload(actor_address=where)))

    async def discover(self, pattern: str = "*", limit: int | None = None) -> DiscoveredPayload:
        """The actors whose addresses match; `*` stands for any characters."""
        payload = DiscoverPayload(pattern=pattern, limit=UNSET if limit is None else limit)
        return (await self.ask(Discover, payload, Discovered)).payload

    async def list(self, offset: int = 0, limit: int | None = None) -> ActorListPayload:
        """One page of all actors."""
        payload = ListActorsPayload(offset=offset, limit=UNSET if limit is None else limit)
        return (await self.ask(ListActors, payload, ActorList)).payload

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
        body = SendPayload(target_address=target, message=Inner(type=type_, payload=payload))
        how = SendMetadata(require_ack=True, priority=UNSET if priority is None else priority)
        ack = await self.ask(Send, body, DeliveryAck, ttl_ms=ttl_ms, metadata=how, seconds=seconds)
        return ack.payload

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
        body = SendPayload(target_address=target, message=Inner(type=type_, payload=payload))
        how = SendMetadata(priority=UNSET if priority is None else priority)
        return await self._speaker.tell(Draft(Send, body, ttl_ms=ttl_ms, metadata=how))

    async def broadcast(
        self,
        type_: str,
        payload: Any = None,
        *,
        exclude_self: bool = True,
        capability: str | None = None,
    ) -> BroadcastAckPayload:
        """Sends a message to all registered actors, or to those with a capability."""
        body = BroadcastPayload(
            message=Inner(type=type_, payload=payload), exclude_self=exclude_self
        )
        who = BroadcastMetadata(target_capability=UNSET if capability is None else capability)
        ack = await self.ask(Broadcast, body, BroadcastAck, pattern="tell", metadata=who)
        return ack.payload

    async def publish(self, topic: str, type_: str, payload: Any = None) -> PublishedPayload:
        """Sends a message to the subscribers of a topic."""
        body = PublishPayload(topic=topic, message=Inner(type=type_, payload=payload))
        return (await self.ask(Publish, body, Published, pattern="tell")).payload

    async def subscribe(self, topic: str, *, durable: bool = False) -> SubscribedPayload:
        """Asks for the messages of a topic. Reconnecting subscribes again.

        Args:
            topic: Its exact name.
            durable: Whether the hub keeps the subscription while the client is away.
        """
        payload = SubscribePayload(topic=topic, durable=durable)
        made = (await self.ask(Subscribe, payload, Subscribed)).payload
        self._speaker.subscriptions[made.subscription_id] = payload
        return made

    async def unsubscribe(self, subscription_id: str) -> None:
        """Ends a subscription. The hub does not answer."""
        self._speaker.subscriptions.pop(subscription_id, None)
        payload = UnsubscribePayload(subscription_id=subscription_id)
        await self._speaker.tell(Draft(Unsubscribe, payload))

    async def queue_stats(self) -> QueueStatsResponsePayload:
        """How full the hub's queue is."""
        return (await self.ask(QueueStats, Empty(), QueueStatsResponse)).payload
