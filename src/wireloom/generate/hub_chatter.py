"""Sessions at the hub, and what keeps them going: registration, heartbeats, topics, flow."""

from collections.abc import Sequence
from typing import Any, Final

from wireloom.generate.hub import ACTORS, Hub
from wireloom.generate.scene import Kind
from wireloom.generate.timeline import MINUTE_US, SECOND_US
from wireloom.protocols.signalhub.addresses import path
from wireloom.protocols.signalhub.constants import (
    HEARTBEAT_INTERVAL_MS,
    MAX_ACTORS,
    MAX_MESSAGE_SIZE,
    MAX_PAGE,
    PROTOCOL_VERSION,
    REQUEST_TTL_MS,
    TOKEN_ISSUER,
    ContentType,
    DisconnectReason,
)
from wireloom.protocols.signalhub.envelope import ActorRegistration, SharedMessage
from wireloom.protocols.signalhub.messages import (
    ActorList,
    Connect,
    Connected,
    Disconnect,
    Discover,
    Discovered,
    Heartbeat,
    HeartbeatAck,
    ListActors,
    Pause,
    QueueStats,
    QueueStatsResponse,
    Register,
    Registered,
    Renew,
    Renewed,
    Resume,
    Subscribe,
    Subscribed,
    Unregister,
    Unsubscribe,
    VersionMismatch,
)
from wireloom.protocols.signalhub.metadata import (
    ConnectMetadata,
)
from wireloom.protocols.signalhub.payloads import (
    ActorListPayload,
    ConnectedPayload,
    DisconnectPayload,
    DiscoveredPayload,
    DiscoverPayload,
    Empty,
    HeartbeatAckPayload,
    HeartbeatPayload,
    ListActorsPayload,
    PausePayload,
    QueueStatsResponsePayload,
    RegisteredPayload,
    RegisterPayload,
    RenewedPayload,
    RenewPayload,
    ServerCapabilities,
    SubscribedPayload,
    SubscribePayload,
    UnregisterPayload,
    UnsubscribePayload,
    VersionMismatchPayload,
)
from wireloom.protocols.signalhub.tokens import Claims, create
from wireloom.wire.keys import SigningKey
from wireloom.wire.outcome import Outcome, Reason

TOPICS: Final = ("events/ui", "events/build", "metrics/load")
CAPABILITY: Final = "render"
LEASE_MS: Final = 300_000


class Chatter:
    """Small talk between actors and the hub."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._rng = hub.rng
        self._issuer = SigningKey(hub.rng.randbytes(32))

    def kinds(self) -> Sequence[Kind]:
        """Every kind of small talk."""
        return (
            (8, self.heartbeat),
            (1, self.session),
            (1, self.version_refused),
            (1, self.discover),
            (1, self.list_actors),
            (2, self.renew),
            (2, self.subscribe),
            (1, self.flow),
            (1, self.stats),
        )

    def connect(self, actor: str, at: int) -> int:
        """An actor opens a session and registers; gives the instant when it is done."""
        asked = self._ask(Connect, actor, at, payload=None, metadata=self._credentials(actor, at))
        connected = ConnectedPayload(
            session_id=f"sess-{self._rng.getrandbits(32):08x}",
            server_version=PROTOCOL_VERSION,
            max_message_size=MAX_MESSAGE_SIZE,
            heartbeat_interval=HEARTBEAT_INTERVAL_MS,
            capabilities=ServerCapabilities(
                max_actors_per_instance=MAX_ACTORS,
                supports_backpressure=True,
                supported_content_types=tuple(ContentType),
            ),
        )
        at = self._answer(Connected, asked, at, connected)
        wish = RegisterPayload(
            actor_address=actor, capabilities=(CAPABILITY,), metadata={"kind": "demo"}
        )
        asked = self._ask(Register, actor, at, payload=wish)
        granted = RegisteredPayload(
            actor_address=actor,
            expires_at=at // 1000 + LEASE_MS,
            renewal_token=self._token(),
            version=1,
        )
        return self._answer(Registered, asked, at, granted)

    def session(self, at: int) -> None:
        """A short session from beginning to end, which an old connection makes way for."""
        actor = self._rng.choice(ACTORS)
        reason = DisconnectReason.DUPLICATE_CONNECTION.value
        at = self._hub.said(Disconnect, actor, at, payload=DisconnectPayload(reason=reason))
        at = self._hub.scene.after(self.connect(actor, at), SECOND_US, 2 * MINUTE_US)
        self._tell(Unregister, actor, at, UnregisterPayload(actor_address=actor))
        bye = DisconnectPayload(reason=DisconnectReason.CLIENT_REQUESTED.value)
        self._tell(Disconnect, actor, at + SECOND_US, bye)

    def version_refused(self, at: int) -> None:
        """A client of another version, which the hub does not speak."""
        actor = self._rng.choice(ACTORS)
        metadata = ConnectMetadata(protocol_version="2.0.0", capabilities=("send",))
        verdict = {"outcome": Outcome.REJECTED, "reason": Reason.UNSUPPORTED_VERSION}
        asked = self._ask(Connect, actor, at, payload=None, metadata=metadata, **verdict)
        told = VersionMismatchPayload(
            client_version="2.0.0",
            server_version=PROTOCOL_VERSION,
            supported_versions=(PROTOCOL_VERSION,),
            message="Use a client of version 0.x",
        )
        self._answer(VersionMismatch, asked, at, told)

    def heartbeat(self, at: int) -> None:
        """An actor lives."""
        actor = self._rng.choice(ACTORS)
        beat = HeartbeatPayload(timestamp=at // 1000)
        asked = self._tell(Heartbeat, actor, at, beat)
        pulse = HeartbeatAckPayload(timestamp=asked.timestamp, server_time=at // 1000)
        self._answer(HeartbeatAck, asked, at, pulse)

    def discover(self, at: int) -> None:
        """An actor looks for others by their addresses."""
        asked = self._ask(
            Discover, self._rng.choice(ACTORS), at, payload=DiscoverPayload(pattern="@(*)")
        )
        found = self._registrations(at)
        self._answer(Discovered, asked, at, DiscoveredPayload(actors=found, has_more=True))

    def list_actors(self, at: int) -> None:
        """An actor asks for all others."""
        asked = self._ask(ListActors, self._rng.choice(ACTORS), at, payload=ListActorsPayload())
        found = self._registrations(at)
        page = ActorListPayload(
            actors=found, total=len(found), offset=0, limit=MAX_PAGE, has_more=False
        )
        self._answer(ActorList, asked, at, page)

    def renew(self, at: int) -> None:
        """An actor prolongs its registration."""
        payload = RenewPayload(renewal_token=self._token())
        asked = self._ask(Renew, self._rng.choice(ACTORS), at, payload=payload)
        renewed = RenewedPayload(expires_at=at // 1000 + LEASE_MS, renewal_token=self._token())
        self._answer(Renewed, asked, at, renewed)

    def subscribe(self, at: int) -> None:
        """An actor wants the messages of a topic, for a while."""
        actor, topic = self._rng.choice(ACTORS), self._rng.choice(TOPICS)
        asked = self._ask(Subscribe, actor, at, payload=SubscribePayload(topic=topic))
        name = f"sub-{path(actor)}-{topic}"
        at = self._answer(
            Subscribed, asked, at, SubscribedPayload(topic=topic, subscription_id=name)
        )
        end = self._hub.scene.after(at, MINUTE_US, 20 * MINUTE_US)
        self._tell(Unsubscribe, actor, end, UnsubscribePayload(subscription_id=name))

    def flow(self, at: int) -> None:
        """The hub stops an actor that sends too fast, and lets it go on."""
        actor = self._rng.choice(ACTORS)
        payload = PausePayload(reason="outbound_queue_full")
        at = self._hub.said(Pause, actor, at, payload=payload)
        self._hub.said(Resume, actor, self._hub.scene.after(at, 1_000, MINUTE_US), payload=Empty())

    def stats(self, at: int) -> None:
        """An actor asks how full the hub is."""
        asked = self._ask(QueueStats, self._rng.choice(ACTORS), at, payload=Empty())
        stats = QueueStatsResponsePayload(
            queue_depth=self._rng.randrange(900),
            processing_rate=self._rng.randrange(8_000) / 4,
            pause_threshold=1000,
            resume_threshold=500,
        )
        self._answer(QueueStatsResponse, asked, at, stats)

    def _ask(self, cls: type[SharedMessage], actor: str, at: int, **more: Any) -> SharedMessage:
        return self._hub.heard(cls, actor, at, pattern="ask", ttl=REQUEST_TTL_MS, **more)

    def _tell(
        self, cls: type[SharedMessage], actor: str, at: int, payload: object
    ) -> SharedMessage:
        return self._hub.heard(cls, actor, at, pattern="tell", payload=payload)

    def _answer(
        self, cls: type[SharedMessage], asked: SharedMessage, at: int, payload: object
    ) -> int:
        """The hub's answer; gives the instant."""
        more = {"correlation_id": asked.id, "payload": payload}
        return self._hub.said(cls, asked.from_, at, **more)

    def _credentials(self, actor: str, at: int) -> ConnectMetadata:
        claims = Claims(
            sub=path(actor), actor_id=path(actor), iss=TOKEN_ISSUER, iat=at // SECOND_US
        )
        token = create(claims, key=self._issuer)
        return ConnectMetadata(
            protocol_version=PROTOCOL_VERSION,
            auth_token=f"bearer {token}",
            capabilities=("send", "broadcast", "subscribe"),
        )

    def _registrations(self, at: int) -> tuple[ActorRegistration, ...]:
        return tuple(
            ActorRegistration(
                actor_address=actor,
                capabilities=(CAPABILITY,),
                metadata={},
                connection_id=f"conn-{number}",
                registered_at=at // 1000 - LEASE_MS // 2,
                expires_at=at // 1000 + LEASE_MS // 2,
                version=1,
            )
            for number, actor in enumerate(sorted(self._rng.sample(ACTORS, 4)))
        )

    def _token(self) -> str:
        return f"renew-{self._rng.getrandbits(64):016x}"
