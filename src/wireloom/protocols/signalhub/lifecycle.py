"""What the messages of connection, flow control and faults say, in the specification's order.

A `…Payload` or `…Metadata` belongs to the one message type whose name it bears.
"""

from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType

from wireloom.protocols.signalhub.constants import ErrorCode
from wireloom.protocols.signalhub.envelope import (
    Address,
    Count,
    Names,
    Part,
    Positive,
    Semver,
    SomeNames,
)
from wireloom.wire.fields import Millis

Rate = Annotated[float, Meta(ge=0, extra={"size": "0 or more"})]


class Empty(Part, frozen=True, kw_only=True):
    """An object without fields."""


class ClientMetadata(Part, frozen=True, kw_only=True):
    """What a client tells of itself."""

    user_agent: str | UnsetType = UNSET
    """The program."""

    platform: str | UnsetType = UNSET
    """What it runs on."""

    origin: str | UnsetType = UNSET
    """Where it was loaded from."""


class ConnectMetadata(Part, frozen=True, kw_only=True):
    """Version, credential and abilities of a client."""

    protocol_version: Semver
    """The version that the client speaks."""

    auth_token: str | UnsetType = UNSET
    """A JSON Web Token, `bearer ` before it or not."""

    capabilities: SomeNames
    """What the client wants to do."""

    client_metadata: ClientMetadata | UnsetType = UNSET
    """About the client itself."""


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


class ConnectedMetadata(Part, frozen=True, kw_only=True):
    """The identity that a hub verified."""

    actor_identity: Address | UnsetType = UNSET
    """Replaces what the client claimed in `from` (R16)."""


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
