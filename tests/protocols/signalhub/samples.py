"""One message of every type, most of them the specification's own examples."""

from typing import Any

from wireloom.protocols.signalhub.constants import DeliveryStatus, ErrorCode
from wireloom.protocols.signalhub.envelope import ActorRegistration, Inner
from wireloom.protocols.signalhub.messages import (
    ActorList,
    Application,
    Broadcast,
    BroadcastAck,
    Connect,
    Connected,
    DeliveryAck,
    Disconnect,
    Discover,
    Discovered,
    Error,
    Heartbeat,
    HeartbeatAck,
    ListActors,
    MessageTooLarge,
    Pause,
    Publish,
    Published,
    QueueStats,
    QueueStatsResponse,
    RateLimited,
    Register,
    Registered,
    Renew,
    Renewed,
    Resume,
    Send,
    Subscribe,
    Subscribed,
    Unauthorized,
    UnknownActor,
    Unregister,
    Unsubscribe,
    VersionMismatch,
)
from wireloom.protocols.signalhub.metadata import (
    BroadcastMetadata,
    ClientMetadata,
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
    ServerCapabilities,
    SubscribedPayload,
    SubscribePayload,
    UnauthorizedPayload,
    UnknownActorPayload,
    UnregisterPayload,
    UnsubscribePayload,
    VersionMismatchPayload,
)
from wireloom.wire.message import Message

NOW = 1_739_731_000_000
ID = "7c9e6679-7425-40de-944b-e07fc1f90ae7"
REQUEST_ID = "0b4a3d52-8f0e-4c1b-9a6d-3d2f6f0c5e11"
HUB = "@(cloudflare/signal-hub)"
CLIENT = "@(browser/client-ui)"
WIDGET = "@(browser/widget-123)"

TO_HUB: dict[str, Any] = {
    "id": ID,
    "from_": CLIENT,
    "to": HUB,
    "correlation_id": None,
    "timestamp": NOW,
    "ttl": 5000,
    "signature": None,
}
FROM_HUB: dict[str, Any] = {
    **TO_HUB,
    "from_": HUB,
    "to": CLIENT,
    "pattern": "tell",
    "correlation_id": REQUEST_ID,
    "ttl": None,
}
ASK: dict[str, Any] = {**TO_HUB, "pattern": "ask"}
TELL: dict[str, Any] = {**TO_HUB, "pattern": "tell", "ttl": None}
FREE: dict[str, Any] = {"metadata": {}}

ACTOR = ActorRegistration(
    actor_address=WIDGET,
    capabilities=("render", "handle-click"),
    metadata={"widgetType": "chart"},
    connection_id="conn-abc",
    registered_at=NOW,
    expires_at=NOW + 300_000,
    version=1,
)
INNER = Inner(type="task:assign", payload={"taskId": "task-456", "priority": 1})

SAMPLES: dict[str, Message] = {
    "hub:connect": Connect(
        **ASK,
        payload=None,
        metadata=ConnectMetadata(
            protocol_version="0.1.0",
            auth_token="bearer eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9...",
            capabilities=("send", "broadcast", "subscribe"),
            client_metadata=ClientMetadata(user_agent="demo/1", platform="linux"),
        ),
    ),
    "hub:connected": Connected(
        **FROM_HUB,
        payload=ConnectedPayload(
            session_id="sess-abc123",
            server_version="0.1.0",
            max_message_size=1_048_576,
            heartbeat_interval=25_000,
            capabilities=ServerCapabilities(
                max_actors_per_instance=50_000,
                supports_backpressure=True,
                supported_content_types=("json", "msgpack"),
            ),
        ),
        metadata=ConnectedMetadata(actor_identity="@(verified/user-123-browser)"),
    ),
    "hub:heartbeat": Heartbeat(**TELL, **FREE, payload=HeartbeatPayload(timestamp=NOW)),
    "hub:heartbeat_ack": HeartbeatAck(
        **FROM_HUB, **FREE, payload=HeartbeatAckPayload(timestamp=NOW, server_time=NOW + 40)
    ),
    "hub:disconnect": Disconnect(
        **TELL, **FREE, payload=DisconnectPayload(reason="duplicate_connection")
    ),
    "hub:register": Register(
        **ASK,
        payload=RegisterPayload(
            actor_address="@(browser/widget-actor-123)",
            capabilities=("render", "handle-click", "handle-resize"),
            metadata={"widgetType": "chart", "version": "2.1.0"},
            ttl_seconds=300,
        ),
        metadata=RegisterMetadata(renew_on_heartbeat=True),
    ),
    "hub:registered": Registered(
        **FROM_HUB,
        **FREE,
        payload=RegisteredPayload(
            actor_address=WIDGET,
            expires_at=NOW + 300_000,
            renewal_token="renewal-token-xyz",
            version=1,
        ),
    ),
    "hub:unregister": Unregister(**TELL, **FREE, payload=UnregisterPayload(actor_address=WIDGET)),
    "hub:discover": Discover(
        **ASK, **FREE, payload=DiscoverPayload(pattern="@(browser/widget-*)", limit=50)
    ),
    "hub:discovered": Discovered(
        **FROM_HUB, **FREE, payload=DiscoveredPayload(actors=(ACTOR,), has_more=False)
    ),
    "hub:list_actors": ListActors(**ASK, **FREE, payload=ListActorsPayload(offset=100, limit=100)),
    "hub:actor_list": ActorList(
        **FROM_HUB,
        **FREE,
        payload=ActorListPayload(
            actors=(ACTOR, ACTOR), total=102, offset=100, limit=100, has_more=False
        ),
    ),
    "hub:renew": Renew(**ASK, **FREE, payload=RenewPayload(renewal_token="renewal-token-xyz")),
    "hub:renewed": Renewed(
        **FROM_HUB,
        **FREE,
        payload=RenewedPayload(expires_at=NOW + 600_000, renewal_token="renewal-token-abc"),
    ),
    "hub:send": Send(
        **ASK,
        payload=SendPayload(target_address=WIDGET, message=INNER),
        metadata=SendMetadata(require_ack=True, trace_id="trace-xyz", priority=0),
    ),
    "send_tell": Send(
        **TELL, payload=SendPayload(target_address=WIDGET, message=INNER), metadata=SendMetadata()
    ),
    "send_bare": Send(
        id=ID,
        from_=CLIENT,
        to=HUB,
        pattern="tell",
        timestamp=NOW,
        payload=SendPayload(target_address=WIDGET, message=Inner(type="ping", payload=None)),
    ),
    "send_float": Send(
        **TELL,
        payload=SendPayload(
            target_address=WIDGET, message=Inner(type="move", payload=[1.5, -0.0, 1e300, "é\n"])
        ),
    ),
    "hub:delivery_ack": DeliveryAck(
        **FROM_HUB,
        **FREE,
        payload=DeliveryAckPayload(
            message_id=REQUEST_ID, delivered_at=NOW + 12, status=DeliveryStatus.QUEUED
        ),
    ),
    "hub:broadcast": Broadcast(
        **TELL,
        payload=BroadcastPayload(
            message=Inner(type="system:shutdown", payload={"reason": "maintenance"}),
            exclude_self=True,
        ),
        metadata=BroadcastMetadata(target_capability="compute"),
    ),
    "hub:broadcast_ack": BroadcastAck(
        **{**FROM_HUB, "correlation_id": None},
        **FREE,
        payload=BroadcastAckPayload(
            message_id=REQUEST_ID, delivered_count=7, queued_count=2, failed_count=0
        ),
    ),
    "hub:subscribe": Subscribe(
        **ASK, **FREE, payload=SubscribePayload(topic="events/ui", durable=True)
    ),
    "hub:subscribed": Subscribed(
        **FROM_HUB, **FREE, payload=SubscribedPayload(topic="events/ui", subscription_id="sub-1")
    ),
    "hub:publish": Publish(
        **TELL, **FREE, payload=PublishPayload(topic="events/ui", message=INNER)
    ),
    "hub:published": Published(
        **FROM_HUB, **FREE, payload=PublishedPayload(topic="events/ui", subscriber_count=3)
    ),
    "hub:unsubscribe": Unsubscribe(
        **TELL, **FREE, payload=UnsubscribePayload(subscription_id="sub-1")
    ),
    "hub:pause": Pause(**FROM_HUB, **FREE, payload=PausePayload(reason="outbound_queue_full")),
    "hub:resume": Resume(**FROM_HUB, **FREE, payload=Empty()),
    "hub:queue_stats": QueueStats(**ASK, **FREE, payload=Empty()),
    "hub:queue_stats_response": QueueStatsResponse(
        **FROM_HUB,
        **FREE,
        payload=QueueStatsResponsePayload(
            queue_depth=17, processing_rate=812.5, pause_threshold=1000, resume_threshold=500
        ),
    ),
    "hub:error": Error(
        **FROM_HUB,
        **FREE,
        payload=ErrorPayload(
            code=ErrorCode.TIMEOUT,
            message="Message delivery timed out after 30s",
            details={"targetAddress": "@(offline/actor-456)"},
            retryable=True,
        ),
    ),
    "hub:unknown_actor": UnknownActor(
        **FROM_HUB,
        **FREE,
        payload=UnknownActorPayload(
            actor_address=WIDGET, message="Actor not registered with Signal Hub"
        ),
    ),
    "hub:unauthorized": Unauthorized(
        **{**FROM_HUB, "correlation_id": None},
        **FREE,
        payload=UnauthorizedPayload(action="register", reason="Expired token"),
    ),
    "hub:rate_limited": RateLimited(
        **FROM_HUB, **FREE, payload=RateLimitedPayload(retry_after=1500)
    ),
    "hub:version_mismatch": VersionMismatch(
        **FROM_HUB,
        **FREE,
        payload=VersionMismatchPayload(
            client_version="1.0.0",
            server_version="0.1.0",
            supported_versions=("0.1.0",),
            message="Use a client of version 0.x",
        ),
    ),
    "hub:message_too_large": MessageTooLarge(
        **FROM_HUB,
        **FREE,
        payload=MessageTooLargePayload(message_size=1_048_577, max_size=1_048_576),
    ),
    "application": Application(
        **{**TELL, "to": WIDGET},
        type="task:assign",
        payload={"taskId": "task-456"},
        metadata={"forwarded": True, "via": HUB, "originalMessageId": REQUEST_ID},
    ),
}
