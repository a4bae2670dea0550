"""What an application can ask of a hub, each as the draft of a message.

request(session.ids.next(), publish("news", "score", [2, 1]), seconds=5)
"""

from collections.abc import Mapping, Sequence
from typing import Any, Generic, Literal, TypeVar

from msgspec import UNSET, Struct

from wireloom.protocols.signalhub.constants import REQUEST_TTL_MS, SEND_TTL_MS
from wireloom.protocols.signalhub.envelope import Inner, SharedMessage
from wireloom.protocols.signalhub.messages import (
    ActorList,
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
    BroadcastPayload,
    DiscoverPayload,
    Empty,
    ListActorsPayload,
    PublishPayload,
    RegisterPayload,
    RenewPayload,
    SendPayload,
    SubscribePayload,
    UnregisterPayload,
    UnsubscribePayload,
)
from wireloom.wire.client.application import Request

A = TypeVar("A", bound=SharedMessage)


class Draft(Struct, Generic[A], frozen=True):
    """A message without what is known only when it is sent."""

    cls: type[SharedMessage]
    payload: Any
    answer: type[A] | None = None
    """The class of the answer; None where the hub does not answer."""

    pattern: Literal["tell", "ask"] = "tell"
    ttl_ms: int | None = REQUEST_TTL_MS
    metadata: Any = None
    is_kept_up: bool = False
    """Whether what the request makes is made again after a reconnect."""


class HubRequest(Request, frozen=True, kw_only=True):
    """A draft is to be sent."""

    draft: Draft[Any]


def request(message_id: str, draft: Draft[Any], seconds: float) -> HubRequest:
    """The request to send a draft.

    Args:
        message_id: The id that the message gets.
        draft: The rest of it.
        seconds: How long to wait, for permission to send and for the answer together.
    """
    return HubRequest(id=message_id, seconds=seconds, answer=draft.answer, draft=draft)


def register(
    address: str,
    capabilities: Sequence[str],
    *,
    metadata: Mapping[str, Any] | None = None,
    ttl_seconds: int | None = None,
    renew_on_heartbeat: bool = True,
) -> Draft[Registered]:
    """Makes an actor known to the hub; after a reconnect the registration is renewed."""
    payload = RegisterPayload(
        actor_address=address,
        capabilities=tuple(capabilities),
        metadata=dict(metadata or {}),
        ttl_seconds=UNSET if ttl_seconds is None else ttl_seconds,
    )
    wish = RegisterMetadata(renew_on_heartbeat=renew_on_heartbeat)
    return Draft(Register, payload, Registered, "ask", metadata=wish, is_kept_up=True)


def renew(token: str) -> Draft[Renewed]:
    """Prolongs a registration."""
    payload = RenewPayload(renewal_token=token)
    return Draft(Renew, payload, Renewed, "ask", is_kept_up=True)


def unregister(address: str) -> Draft[SharedMessage]:
    """Makes the hub forget an actor."""
    return Draft(Unregister, UnregisterPayload(actor_address=address))


def discover(pattern: str, limit: int | None = None) -> Draft[Discovered]:
    """Asks for the actors whose addresses match."""
    payload = DiscoverPayload(pattern=pattern, limit=UNSET if limit is None else limit)
    return Draft(Discover, payload, Discovered, "ask")


def list_actors(offset: int = 0, limit: int | None = None) -> Draft[ActorList]:
    """Asks for one page of all actors."""
    payload = ListActorsPayload(offset=offset, limit=UNSET if limit is None else limit)
    return Draft(ListActors, payload, ActorList, "ask")


def send(
    target: str,
    type_: str,
    payload: Any = None,
    *,
    ttl_ms: int = SEND_TTL_MS,
    priority: int | None = None,
) -> Draft[DeliveryAck]:
    """Sends a message to an actor; the hub tells when it has delivered or queued it."""
    body = SendPayload(target_address=target, message=Inner(type=type_, payload=payload))
    how = SendMetadata(require_ack=True, priority=UNSET if priority is None else priority)
    return Draft(Send, body, DeliveryAck, "ask", ttl_ms=ttl_ms, metadata=how)


def tell(
    target: str,
    type_: str,
    payload: Any = None,
    *,
    ttl_ms: int = SEND_TTL_MS,
    priority: int | None = None,
) -> Draft[SharedMessage]:
    """Sends a message to an actor; the hub does not acknowledge it."""
    body = SendPayload(target_address=target, message=Inner(type=type_, payload=payload))
    how = SendMetadata(priority=UNSET if priority is None else priority)
    return Draft(Send, body, ttl_ms=ttl_ms, metadata=how)


def broadcast(
    type_: str, payload: Any = None, *, exclude_self: bool = True, capability: str | None = None
) -> Draft[BroadcastAck]:
    """Sends a message to all registered actors, or to those with a capability."""
    body = BroadcastPayload(message=Inner(type=type_, payload=payload), exclude_self=exclude_self)
    who = BroadcastMetadata(target_capability=UNSET if capability is None else capability)
    return Draft(Broadcast, body, BroadcastAck, metadata=who)


def publish(topic: str, type_: str, payload: Any = None) -> Draft[Published]:
    """Sends a message to the subscribers of a topic."""
    body = PublishPayload(topic=topic, message=Inner(type=type_, payload=payload))
    return Draft(Publish, body, Published)


def subscribe(topic: str, *, durable: bool = False) -> Draft[Subscribed]:
    """Asks for the messages of a topic; after a reconnect, again."""
    payload = SubscribePayload(topic=topic, durable=durable)
    return Draft(Subscribe, payload, Subscribed, "ask", is_kept_up=True)


def unsubscribe(subscription_id: str) -> Draft[SharedMessage]:
    """Ends a subscription."""
    return Draft(Unsubscribe, UnsubscribePayload(subscription_id=subscription_id))


def queue_stats() -> Draft[QueueStatsResponse]:
    """Asks how full the hub's queue is."""
    return Draft(QueueStats, Empty(), QueueStatsResponse, "ask")
