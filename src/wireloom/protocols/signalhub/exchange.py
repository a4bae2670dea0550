"""What the messages of discovery and delivery say, in the specification's order.

A `…Payload` or `…Metadata` belongs to the one message type whose name it bears.
"""

from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType

from wireloom.protocols.signalhub.constants import (
    MAX_PAGE,
    MAX_PRIORITY,
    MAX_TTL_SECONDS,
    MIN_TTL_SECONDS,
    DeliveryStatus,
)
from wireloom.protocols.signalhub.envelope import (
    ActorRegistration,
    Address,
    Count,
    Glob,
    Inner,
    Part,
    Positive,
    SomeNames,
    Topic,
)
from wireloom.wire.fields import Millis

Page = Annotated[int, Meta(ge=1, le=MAX_PAGE, extra={"size": "1 to 100"})]
Priority = Annotated[int, Meta(ge=0, le=MAX_PRIORITY, extra={"size": "0 to 2"})]
TtlSeconds = Annotated[
    int, Meta(ge=MIN_TTL_SECONDS, le=MAX_TTL_SECONDS, extra={"size": "60 to 3600 s"})
]


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


class RegisterMetadata(Part, frozen=True, kw_only=True):
    """How the registration is kept."""

    renew_on_heartbeat: bool | UnsetType = UNSET
    """Whether each heartbeat renews it."""


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


class SendMetadata(Part, frozen=True, kw_only=True):
    """How to deliver it."""

    require_ack: bool | UnsetType = UNSET
    """True demands an acknowledgement, as the pattern `ask` does (R31)."""

    trace_id: str | UnsetType = UNSET
    """For distributed tracing."""

    priority: Priority | UnsetType = UNSET
    """0 (most urgent) to 2 (least)."""


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


class BroadcastMetadata(Part, frozen=True, kw_only=True):
    """Who gets it."""

    target_capability: str | UnsetType = UNSET
    """Only actors with this capability."""


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
