"""The 33 messages of Signal Hub (R1), and the application messages that it delivers."""

from typing import Annotated, Any, ClassVar, Final, Literal

from msgspec import UNSET, Meta, UnsetType

from wireloom.protocols.signalhub.constants import APPLICATION_TYPE_PATTERN
from wireloom.protocols.signalhub.envelope import Ask, Response, SharedMessage, Tell, Uuid
from wireloom.protocols.signalhub.metadata import (
    BroadcastMetadata,
    ConnectedMetadata,
    ConnectMetadata,
    RegisterMetadata,
    SendMetadata,
)
from wireloom.protocols.signalhub.payloads import (
    ActorListPayload,
    BroadcastAckPayload,
    BroadcastPayload,
    ConnectedPayload,
    DeliveryAckPayload,
    DisconnectPayload,
    DiscoveredPayload,
    DiscoverPayload,
    Empty,
    ErrorPayload,
    HeartbeatAckPayload,
    HeartbeatPayload,
    ListActorsPayload,
    MessageTooLargePayload,
    PausePayload,
    PublishedPayload,
    PublishPayload,
    QueueStatsResponsePayload,
    RateLimitedPayload,
    RegisteredPayload,
    RegisterPayload,
    RenewedPayload,
    RenewPayload,
    SendPayload,
    SubscribedPayload,
    SubscribePayload,
    UnauthorizedPayload,
    UnknownActorPayload,
    UnregisterPayload,
    UnsubscribePayload,
    VersionMismatchPayload,
)
from wireloom.wire.message import Message


class Connect(SharedMessage, frozen=True, kw_only=True, tag="hub:connect"):
    """Opens a session; the first message on every connection."""

    pattern: Literal["ask"]
    """Always `ask`."""

    payload: None | UnsetType = UNSET
    """Always null."""

    metadata: ConnectMetadata
    """Version, credential and abilities."""


class Connected(SharedMessage, frozen=True, kw_only=True, tag="hub:connected"):
    """Answers a connect: the session is open."""

    empty_metadata: ClassVar[type[object]] = ConnectedMetadata

    pattern: Literal["tell"]
    """Always `tell`."""

    correlation_id: Uuid
    """The connect's id."""

    payload: ConnectedPayload
    """The session."""

    metadata: ConnectedMetadata | UnsetType = UNSET
    """The verified identity."""


class Heartbeat(Tell, frozen=True, kw_only=True, tag="hub:heartbeat"):
    """Says that the client lives; the hub answers it all the same (R2)."""

    payload: HeartbeatPayload
    """The client's clock."""


class HeartbeatAck(Tell, frozen=True, kw_only=True, tag="hub:heartbeat_ack"):
    """Answers a heartbeat. Its correlation id may be missing (R3)."""

    payload: HeartbeatAckPayload
    """Both clocks."""


class Disconnect(Tell, frozen=True, kw_only=True, tag="hub:disconnect"):
    """Ends the session, from either side."""

    payload: DisconnectPayload
    """Why."""


class Register(SharedMessage, frozen=True, kw_only=True, tag="hub:register"):
    """Makes an actor known to the hub."""

    empty_metadata: ClassVar[type[object]] = RegisterMetadata

    pattern: Literal["ask"]
    """Always `ask`."""

    payload: RegisterPayload
    """The actor."""

    metadata: RegisterMetadata | UnsetType = UNSET
    """How the registration is kept."""


class Registered(Response, frozen=True, kw_only=True, tag="hub:registered"):
    """Answers a register."""

    payload: RegisteredPayload
    """The registration."""


class Unregister(Tell, frozen=True, kw_only=True, tag="hub:unregister"):
    """Makes the hub forget an actor."""

    payload: UnregisterPayload
    """The actor."""


class Discover(Ask, frozen=True, kw_only=True, tag="hub:discover"):
    """Asks for actors by address."""

    payload: DiscoverPayload
    """Which."""


class Discovered(Response, frozen=True, kw_only=True, tag="hub:discovered"):
    """Answers a discover."""

    payload: DiscoveredPayload
    """The actors."""


class ListActors(Ask, frozen=True, kw_only=True, tag="hub:list_actors"):
    """Asks for all actors, page by page."""

    payload: ListActorsPayload
    """Which page."""


class ActorList(Response, frozen=True, kw_only=True, tag="hub:actor_list"):
    """Answers a list_actors."""

    payload: ActorListPayload
    """The page."""


class Renew(Ask, frozen=True, kw_only=True, tag="hub:renew"):
    """Prolongs a registration."""

    payload: RenewPayload
    """Which."""


class Renewed(Response, frozen=True, kw_only=True, tag="hub:renewed"):
    """Answers a renew."""

    payload: RenewedPayload
    """The registration."""


class Send(SharedMessage, frozen=True, kw_only=True, tag="hub:send"):
    """Carries a message to one actor."""

    empty_metadata: ClassVar[type[object]] = SendMetadata

    payload: SendPayload
    """Message and recipient."""

    metadata: SendMetadata | UnsetType = UNSET
    """How to deliver it."""

    @property
    def is_ask(self) -> bool:
        """Whether its sender wants to hear what became of it, by either of two words (R31)."""
        return self.pattern == "ask" or (
            self.metadata is not UNSET and self.metadata.require_ack is True
        )


class DeliveryAck(Response, frozen=True, kw_only=True, tag="hub:delivery_ack"):
    """Answers a send with the pattern `ask`."""

    payload: DeliveryAckPayload
    """What became of it."""


class Broadcast(SharedMessage, frozen=True, kw_only=True, tag="hub:broadcast"):
    """Carries a message to all actors."""

    empty_metadata: ClassVar[type[object]] = BroadcastMetadata

    pattern: Literal["tell"]
    """Always `tell`."""

    payload: BroadcastPayload
    """The message."""

    metadata: BroadcastMetadata | UnsetType = UNSET
    """Who gets it."""


class BroadcastAck(Tell, frozen=True, kw_only=True, tag="hub:broadcast_ack"):
    """Answers a broadcast. Its correlation id may be missing (R3)."""

    payload: BroadcastAckPayload
    """What became of it."""


class Subscribe(Ask, frozen=True, kw_only=True, tag="hub:subscribe"):
    """Asks for the messages of a topic."""

    payload: SubscribePayload
    """The topic."""


class Subscribed(Response, frozen=True, kw_only=True, tag="hub:subscribed"):
    """Answers a subscribe."""

    payload: SubscribedPayload
    """The subscription."""


class Publish(Tell, frozen=True, kw_only=True, tag="hub:publish"):
    """Carries a message to a topic's subscribers."""

    payload: PublishPayload
    """Message and topic."""


class Published(Tell, frozen=True, kw_only=True, tag="hub:published"):
    """Answers a publish. Its correlation id may be missing (R3)."""

    payload: PublishedPayload
    """What became of it."""


class Unsubscribe(Tell, frozen=True, kw_only=True, tag="hub:unsubscribe"):
    """Ends a subscription."""

    payload: UnsubscribePayload
    """Which."""


class Pause(Tell, frozen=True, kw_only=True, tag="hub:pause"):
    """Tells a client to stop sending."""

    payload: PausePayload
    """Why."""


class Resume(Tell, frozen=True, kw_only=True, tag="hub:resume"):
    """Lets a client send again."""

    payload: Empty
    """An empty object."""


class QueueStats(Ask, frozen=True, kw_only=True, tag="hub:queue_stats"):
    """Asks how full the hub's queue is."""

    payload: Empty
    """An empty object."""


class QueueStatsResponse(Response, frozen=True, kw_only=True, tag="hub:queue_stats_response"):
    """Answers a queue_stats."""

    payload: QueueStatsResponsePayload
    """The queue."""


class Error(Tell, frozen=True, kw_only=True, tag="hub:error"):
    """Tells of a fault that has no type of its own (R4)."""

    payload: ErrorPayload
    """The fault."""


class UnknownActor(Response, frozen=True, kw_only=True, tag="hub:unknown_actor"):
    """Tells that a recipient is not registered."""

    payload: UnknownActorPayload
    """Who."""


class Unauthorized(Tell, frozen=True, kw_only=True, tag="hub:unauthorized"):
    """Tells that something is not permitted."""

    payload: UnauthorizedPayload
    """What."""


class RateLimited(Response, frozen=True, kw_only=True, tag="hub:rate_limited"):
    """Tells that a client sends too much."""

    payload: RateLimitedPayload
    """How long to wait."""


class VersionMismatch(Response, frozen=True, kw_only=True, tag="hub:version_mismatch"):
    """Tells that client and hub do not speak the same version."""

    payload: VersionMismatchPayload
    """Which."""


class MessageTooLarge(Response, frozen=True, kw_only=True, tag="hub:message_too_large"):
    """Tells that a frame is too large."""

    payload: MessageTooLargePayload
    """By how much."""


class Application(SharedMessage, frozen=True, kw_only=True):
    """What a recipient gets from a send, broadcast or publish: any type but the hub's own (R20)."""

    metadata: dict[str, Any] | UnsetType = UNSET
    """Free; the hub notes there that it forwarded the message."""

    type: Annotated[
        str,
        Meta(
            pattern=APPLICATION_TYPE_PATTERN,
            extra={"size": "not `hub:…`", "looks": "a type is text that does not begin with hub:"},
        ),
    ]
    """The application's type, as written."""


HUB_CLASSES: Final[tuple[type[SharedMessage], ...]] = (
    Connect,
    Connected,
    Heartbeat,
    HeartbeatAck,
    Disconnect,
    Register,
    Registered,
    Unregister,
    Discover,
    Discovered,
    ListActors,
    ActorList,
    Renew,
    Renewed,
    Send,
    DeliveryAck,
    Broadcast,
    BroadcastAck,
    Subscribe,
    Subscribed,
    Publish,
    Published,
    Unsubscribe,
    Pause,
    Resume,
    QueueStats,
    QueueStatsResponse,
    Error,
    UnknownActor,
    Unauthorized,
    RateLimited,
    VersionMismatch,
    MessageTooLarge,
)
"""The 33, in the order of the specification."""

TYPES: Final[dict[str, type[Message]]] = {
    str(cls.__struct_config__.tag): cls for cls in HUB_CLASSES
}
"""Every message type by the specification's own name."""

PARTS: Final[tuple[type[Message], ...]] = (Application,)
"""What stands beside the 33."""
