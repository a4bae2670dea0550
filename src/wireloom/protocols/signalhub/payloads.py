"""What the messages say: the payloads of the hub's own types, in the specification's order.

A `…Payload` belongs to the one message type whose name it bears. What is said about a message
stands in `metadata`.
"""

from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType

from wireloom.protocols.signalhub.constants import (
    MAX_PAGE,
    MAX_TTL_SECONDS,
    MIN_TTL_SECONDS,
    DeliveryStatus,
    ErrorCode,
)
from wireloom.protocols.signalhub.envelope import (
    ActorRegistration,
    Address,
    Count,
    Glob,
    Inner,
    Names,
    Part,
    Positive,
    SomeNames,
    Topic,
)
from wireloom.wire.fields import Millis

Rate = Annotated[float, Meta(ge=0, extra={"size": "0 or more"})]
Page = Annotated[int, Meta(ge=1, le=MAX_PAGE, extra={"size": "1 to 100"})]
TtlSeconds = Annotated[
    int, Meta(ge=MIN_TTL_SECONDS, le=MAX_TTL_SECONDS, extra={"size": "60 to 3600 s"})
]


class Empty(Part, frozen=True, kw_only=True):
    """An object without fields."""


class ServerCapabilities(Part, frozen=True, kw_only=True):
    """What a hub can do."""

    max_actors_per_instance: Positive
    """How many actors it registers."""

    supports_backpressure: bool
    """Whether it sends `hub:pause` and `hub:resume`."""

    supported_content_types: Names
    """Encodings: `json`, `msgpack`."""


class ConnectedPayload(Part, frozen=True, kw_only=True):
    """The session that a hub opened."""

    session_id: str
    """The session's name."""

    server_version: str
    """The version that the hub speaks."""

    max_message_size: Positive
    """Largest frame in bytes (R8)."""

    heartbeat_interval: Positive
    """Time between heartbeats in ms."""

    capabilities: ServerCapabilities
    """What the hub can do."""


class HeartbeatPayload(Part, frozen=True, kw_only=True):
    """The client's clock."""

    timestamp: Millis
    """Client's time, in ms since 1970."""


class HeartbeatAckPayload(Part, frozen=True, kw_only=True):
    """Both clocks."""

    timestamp: Millis
    """Client's time, echoed."""

    server_time: Millis
    """Hub's time, in ms since 1970; the difference is the skew."""


class DisconnectPayload(Part, frozen=True, kw_only=True):
    """Why the connection ends."""

    reason: str | UnsetType = UNSET
    """One of the usual reasons, or any other text."""


class RegisterPayload(Part, frozen=True, kw_only=True):
    """The actor to register."""

    actor_address: Address
    """Where messages shall reach it."""

    capabilities: SomeNames
    """What it can do."""

    metadata: dict[str, Any]
    """What others may know of it, free."""

    ttl_seconds: TtlSeconds | UnsetType = UNSET
    """Lifetime of the registration in seconds; 300 if absent (R11)."""


class RegisteredPayload(Part, frozen=True, kw_only=True):
    """The registration that was made."""

    actor_address: Address
    """The registered address."""

    expires_at: Millis
    """When it ends, in ms since 1970."""

    renewal_token: str
    """What renews it."""

    version: Count
    """Counts the registrations of this address."""


class UnregisterPayload(Part, frozen=True, kw_only=True):
    """The actor to forget."""

    actor_address: Address
    """The registered address."""


class DiscoverPayload(Part, frozen=True, kw_only=True):
    """Which actors are wanted."""

    pattern: Glob
    """An address in which `*` stands for any characters (R27)."""

    limit: Page | UnsetType = UNSET
    """Most actors to answer with; 100 if absent."""


class DiscoveredPayload(Part, frozen=True, kw_only=True):
    """The actors that match."""

    actors: tuple[ActorRegistration, ...]
    """Sorted by address."""

    has_more: bool
    """Whether more match."""


class ListActorsPayload(Part, frozen=True, kw_only=True):
    """Which page of all actors is wanted."""

    offset: Count | UnsetType = UNSET
    """How many to skip; 0 if absent."""

    limit: Page | UnsetType = UNSET
    """Most actors to answer with; 100 if absent."""


class ActorListPayload(Part, frozen=True, kw_only=True):
    """One page of all actors."""

    actors: tuple[ActorRegistration, ...]
    """Sorted by address."""

    total: Count
    """How many are registered."""

    offset: Count
    """How many were skipped."""

    limit: Positive
    """How many a page holds."""

    has_more: bool
    """Whether more follow."""


class RenewPayload(Part, frozen=True, kw_only=True):
    """Which registration to renew."""

    renewal_token: str
    """The newest token of the registration."""


class RenewedPayload(Part, frozen=True, kw_only=True):
    """The registration, renewed."""

    expires_at: Millis
    """When it ends now, in ms since 1970."""

    renewal_token: str
    """What renews it next."""


class SendPayload(Part, frozen=True, kw_only=True):
    """A message and its recipient."""

    target_address: Address
    """The recipient."""

    message: Inner
    """What the recipient gets."""


class DeliveryAckPayload(Part, frozen=True, kw_only=True):
    """What became of a send."""

    message_id: str
    """The id of the send."""

    delivered_at: Millis
    """When it was delivered or queued, in ms since 1970."""

    status: DeliveryStatus
    """Whether the recipient has it."""


class BroadcastPayload(Part, frozen=True, kw_only=True):
    """A message for all."""

    message: Inner
    """What each recipient gets."""

    exclude_self: bool | UnsetType = UNSET
    """Whether the sender is left out."""


class BroadcastAckPayload(Part, frozen=True, kw_only=True):
    """What became of a broadcast."""

    message_id: str
    """The id of the broadcast."""

    delivered_count: Count
    """Actors that have it."""

    queued_count: Count | UnsetType = UNSET
    """Actors that will get it later."""

    failed_count: Count | UnsetType = UNSET
    """Actors that will not get it."""


class SubscribePayload(Part, frozen=True, kw_only=True):
    """The topic wanted."""

    topic: Topic
    """Its exact name."""

    durable: bool | UnsetType = UNSET
    """Whether the subscription outlives the connection."""


class SubscribedPayload(Part, frozen=True, kw_only=True):
    """The subscription that was made."""

    topic: Topic
    """Its topic."""

    subscription_id: str
    """Its name; the same for the same subscriber and topic."""


class PublishPayload(Part, frozen=True, kw_only=True):
    """A message for a topic's subscribers."""

    topic: Topic
    """The topic's exact name."""

    message: Inner
    """What each subscriber gets."""


class PublishedPayload(Part, frozen=True, kw_only=True):
    """What became of a publication."""

    topic: Topic
    """The topic."""

    subscriber_count: Count
    """Subscribers that have it."""


class UnsubscribePayload(Part, frozen=True, kw_only=True):
    """The subscription to end."""

    subscription_id: str
    """Its name (R13)."""


class PausePayload(Part, frozen=True, kw_only=True):
    """Why to pause."""

    reason: str
    """Such as `outbound_queue_full`."""


class QueueStatsResponsePayload(Part, frozen=True, kw_only=True):
    """The hub's queue."""

    queue_depth: Count
    """Messages in it."""

    processing_rate: Rate
    """Messages that leave it each second."""

    pause_threshold: Count
    """Above so many the hub sends `hub:pause`."""

    resume_threshold: Count
    """Below so many it sends `hub:resume`."""


class ErrorPayload(Part, frozen=True, kw_only=True):
    """What went wrong."""

    code: ErrorCode
    """The kind of fault."""

    message: str
    """The fault in words."""

    details: Any = UNSET
    """More about it, free."""

    retryable: bool
    """Whether the same request may succeed later."""


class UnknownActorPayload(Part, frozen=True, kw_only=True):
    """Who is not registered."""

    actor_address: Address
    """The address that was asked for."""

    message: str
    """The fault in words."""


class UnauthorizedPayload(Part, frozen=True, kw_only=True):
    """What is not permitted."""

    action: str
    """What was tried."""

    reason: str
    """Why it is refused."""


class RateLimitedPayload(Part, frozen=True, kw_only=True):
    """How long to wait."""

    retry_after: Count
    """Milliseconds."""


class VersionMismatchPayload(Part, frozen=True, kw_only=True):
    """Which versions do not fit."""

    client_version: str
    """What the client speaks."""

    server_version: str
    """What the hub speaks."""

    supported_versions: Names
    """All that the hub speaks."""

    message: str
    """What to do about it."""


class MessageTooLargePayload(Part, frozen=True, kw_only=True):
    """By how much a frame is too large."""

    message_size: Count
    """Its size in bytes."""

    max_size: Count
    """The largest allowed, in bytes."""
