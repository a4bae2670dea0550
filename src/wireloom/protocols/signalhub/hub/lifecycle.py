"""The life of connections: how they begin, what keeps them alive, slows them down and ends them."""

from typing import Final

from msgspec.structs import replace

from wireloom.protocols.signalhub import addresses, tokens, versions
from wireloom.protocols.signalhub.constants import (
    CONNECT_TIMEOUT,
    HEARTBEAT_TIMEOUT,
    OUTBOUND_QUEUE_FULL,
    PROTOCOL_VERSION,
    SLOW_CONSUMER,
    TOKEN_MAX_AGE_S,
    CloseCode,
    ContentType,
    DisconnectReason,
)
from wireloom.protocols.signalhub.hub.answers import Answers, refused
from wireloom.protocols.signalhub.hub.connections import Client, Clients, Input, State
from wireloom.protocols.signalhub.hub.delivery import Delivery
from wireloom.protocols.signalhub.hub.discovery import Discovery
from wireloom.protocols.signalhub.hub.outgoing import own
from wireloom.protocols.signalhub.hub.settings import HubSettings
from wireloom.protocols.signalhub.hub.topics import Topics
from wireloom.protocols.signalhub.messages import (
    Connect,
    Connected,
    Disconnect,
    Heartbeat,
    HeartbeatAck,
    Pause,
    Resume,
    Unauthorized,
    VersionMismatch,
)
from wireloom.protocols.signalhub.metadata import (
    ConnectedMetadata,
)
from wireloom.protocols.signalhub.payloads import (
    ConnectedPayload,
    DisconnectPayload,
    Empty,
    HeartbeatAckPayload,
    PausePayload,
    ServerCapabilities,
    UnauthorizedPayload,
    VersionMismatchPayload,
)
from wireloom.wire.errors import UnauthenticatedError, UnsupportedVersionError, WireError
from wireloom.wire.outcome import Reason
from wireloom.wire.session import (
    Admit,
    Close,
    Conclude,
    Congested,
    Line,
    Opened,
    Turn,
    WakeAt,
)
from wireloom.wire.slow import SlowReaders

LINE_TIMER: Final = "line"
SLOW_TIMER: Final = "slow"
ABSENT_TIMER: Final = "absent"
_SECOND_MS: Final = 1_000


class Lifecycle:
    """Lets clients in and out.

    Args:
        settings: The hub's.
        answers: What answers clients.
        clients: Who is connected.
        topics: Who has subscribed.
        discovery: What heartbeats renew.
        delivery: What waits for those who connect.
    """

    def __init__(
        self,
        settings: HubSettings,
        answers: Answers,
        clients: Clients,
        topics: Topics,
        discovery: Discovery,
        delivery: Delivery,
    ) -> None:
        self._settings = settings
        self._answers = answers
        self._clients = clients
        self.topics = topics
        self._discovery = discovery
        self._delivery = delivery
        self.slow = SlowReaders()
        """How often a slow reader was cut off, by its address."""

    def open(self, turn: Turn, event: Opened) -> None:
        """Takes a new connection, whose client has to say soon who it is."""
        settings = self._settings
        if len(self._clients.lines) >= settings.max_lines:
            code = int(CloseCode.TRY_AGAIN_LATER)
            turn.commands.append(Close(event.line, code, "too many connections"))
            return
        name = f"conn-{turn.ids.prefix:.8}-{event.line}"
        self._clients.lines[event.line] = Client(event, settings, name, turn.now_ms)
        turn.commands.append(WakeAt((LINE_TIMER, event.line), turn.now_ms + settings.connect_ms))

    def handle_connect(self, turn: Turn, client: Client, message: Connect) -> Conclude:
        """Opens a session; what waits for the actor follows."""
        try:
            versions.check_compatible(message.metadata.protocol_version)
            address = self._identity(turn, client, message)
        except UnsupportedVersionError as error:
            return self._mismatch(turn, client, message, error)
        except WireError as error:
            return self._reject(turn, client, message, error)
        self._supersede(turn, address)
        self.topics.refresh(self._clients.attach(client, address))
        turn.commands.append(Admit(client.line))
        self._welcome(turn, client, message)
        self._delivery.flush(turn, client)
        return client.accepted

    def handle_heartbeat(self, turn: Turn, client: Client, message: Heartbeat) -> Conclude:
        """Answers with both clocks, and renews what is to be renewed so."""
        self._discovery.renew_by_heartbeat(turn, client.actor)
        payload = HeartbeatAckPayload(timestamp=message.payload.timestamp, server_time=turn.now_ms)
        self._answers.answer(turn, client, message, HeartbeatAck, payload)
        return client.accepted

    def handle_disconnect(self, turn: Turn, client: Client, message: Disconnect) -> Conclude:
        """Ends the connection, as the client wishes."""
        del message
        self.close(turn, client, DisconnectReason.CLIENT_REQUESTED, CloseCode.NORMAL)
        return client.accepted

    def congest(self, turn: Turn, event: Congested) -> None:
        """Pauses a client that reads too slowly, lets it go on, or cuts it off (R40)."""
        client = self._clients.lines.get(event.line)
        if client is None or not client.is_known:
            return
        settings = self._settings
        if event.frames >= settings.cut_threshold or event.bytes >= settings.cut_size:
            self._cut(turn, client)
        elif event.frames > settings.pause_threshold or event.bytes > settings.pause_size:
            self._pause(turn, client)
        elif event.frames < settings.resume_threshold and event.bytes <= settings.pause_size // 2:
            self._resume(turn, client)

    def cut_if_slow(self, turn: Turn, line: Line) -> None:
        """Cuts off a client that has not caught up since it was paused."""
        client = self._clients.lines.get(line)
        if client is not None and client.state is State.PAUSED:
            self._cut(turn, client)

    def check(self, turn: Turn, line: Line) -> None:
        """Ends a connection that was silent for too long or whose token is over."""
        client = self._clients.lines.get(line)
        if client is None or client.state is State.ENDED:
            return
        if client.state is State.OPENED:
            self.end(turn, client, CONNECT_TIMEOUT, CloseCode.POLICY)
        elif client.ends_ms is not None and client.ends_ms <= turn.now_ms:
            self.end(turn, client, DisconnectReason.UNAUTHORIZED, CloseCode.POLICY)
        elif client.heard_ms + self._settings.silence_ms <= turn.now_ms:
            self.end(turn, client, HEARTBEAT_TIMEOUT, CloseCode.GOING_AWAY)
        else:
            self._watch(turn, client)

    def forget(self, turn: Turn, line: Line) -> None:
        """Forgets a connection that went away."""
        client = self._clients.lines.pop(line, None)
        if client is not None:
            self._detach(turn, client)
            client.advance(Input.RECV_CLOSE)

    def forget_absent(self, turn: Turn, address: str) -> None:
        """Ends the subscriptions of an actor that stayed away (R42)."""
        actor = self._clients.actors.get(address)
        if actor is not None and actor.client is None and not actor.registrations:
            turn.commands.extend(self.topics.clear(actor))
            self._clients.release(actor)

    def stop(self, turn: Turn) -> None:
        """Says goodbye to all."""
        for client in self._clients.lines.values():
            if client.state is not State.ENDED:
                self.end(turn, client, DisconnectReason.SERVER_SHUTDOWN, CloseCode.GOING_AWAY)

    def end(self, turn: Turn, client: Client, reason: str, code: CloseCode) -> None:
        """Tells a client that its connection ends, and ends it."""
        self._answers.tell(turn, client, Disconnect, DisconnectPayload(reason=str(reason)))
        self.close(turn, client, reason, code)

    def close(self, turn: Turn, client: Client, reason: str, code: CloseCode) -> None:
        """Ends a connection without a message."""
        self._detach(turn, client)
        client.advance(Input.SEND_CLOSE)
        turn.commands.append(Close(client.line, int(code), str(reason)))

    def watch_absent(self, turn: Turn, address: str) -> None:
        """Sets the timer after which an absent actor's subscriptions end."""
        at_ms = turn.now_ms + self._settings.durable_ms
        turn.commands.append(WakeAt((ABSENT_TIMER, address), at_ms))

    def _identity(self, turn: Turn, client: Client, message: Connect) -> str:
        """Who the client is: what its token says or, without authentication, what it says."""
        settings = self._settings
        if settings.auth:
            given = message.metadata.auth_token
            token = given if isinstance(given, str) else client.token
            if not token:
                raise UnauthenticatedError("a token is wanted")
            claims = tokens.verify(
                token,
                now_ms=turn.now_ms,
                secrets=settings.token_secrets,
                public_keys=settings.token_keys,
                hub=settings.address,
            )
            address = addresses.address(claims.actor_id)
            client.ends_ms = _end_ms(claims)
        else:
            address = message.from_
        if address == settings.address or not addresses.is_kept(address):
            raise UnauthenticatedError("this address is not taken")
        return address

    def _supersede(self, turn: Turn, address: str) -> None:
        """Ends the actor's older connection: the last one wins."""
        actor = self._clients.actors.get(address)
        if actor is not None and actor.client is not None:
            self.end(turn, actor.client, DisconnectReason.DUPLICATE_CONNECTION, CloseCode.NORMAL)

    def _welcome(self, turn: Turn, client: Client, message: Connect) -> None:
        settings = self._settings
        payload = ConnectedPayload(
            session_id=f"sess-{turn.ids.next()}",
            server_version=PROTOCOL_VERSION,
            max_message_size=settings.max_message_size,
            heartbeat_interval=settings.heartbeat_interval_ms,
            capabilities=ServerCapabilities(
                max_actors_per_instance=settings.max_actors,
                supports_backpressure=True,
                supported_content_types=tuple(ContentType),
            ),
        )
        hub, to = settings.address, client.address
        welcome = own(turn, Connected, payload, hub=hub, to=to, answers=message.id)
        if settings.auth:
            welcome = replace(welcome, metadata=ConnectedMetadata(actor_identity=to))
        self._answers.send(turn, client, welcome)
        self._watch(turn, client)

    def _mismatch(self, turn: Turn, client: Client, message: Connect, error: WireError) -> Conclude:
        payload = VersionMismatchPayload(
            client_version=message.metadata.protocol_version,
            server_version=PROTOCOL_VERSION,
            supported_versions=(PROTOCOL_VERSION,),
            message=f"{error.detail}. Use a client of the hub's MAJOR version",
        )
        self._answers.tell(turn, client, VersionMismatch, payload, answers=message.id)
        self.close(turn, client, "version_mismatch", CloseCode.POLICY)
        return refused(client, Reason.UNSUPPORTED_VERSION)

    def _reject(self, turn: Turn, client: Client, message: Connect, error: WireError) -> Conclude:
        payload = UnauthorizedPayload(action="connect", reason=error.detail)
        self._answers.tell(turn, client, Unauthorized, payload, answers=message.id)
        self.close(turn, client, DisconnectReason.UNAUTHORIZED, CloseCode.POLICY)
        return refused(client, Reason.UNAUTHENTICATED)

    def _pause(self, turn: Turn, client: Client) -> None:
        if client.state is State.CONNECTED:
            client.advance(Input.SEND_PAUSE)
            self.topics.refresh(client.actor)
            self._answers.tell(turn, client, Pause, PausePayload(reason=OUTBOUND_QUEUE_FULL))
            at_ms = turn.now_ms + self._settings.slow_ms
            turn.commands.append(WakeAt((SLOW_TIMER, client.line), at_ms))

    def _resume(self, turn: Turn, client: Client) -> None:
        if client.state is State.PAUSED:
            client.advance(Input.SEND_RESUME)
            self.topics.refresh(client.actor)
            turn.commands.append(WakeAt((SLOW_TIMER, client.line), None))
            self._answers.tell(turn, client, Resume, Empty())
            self._delivery.flush(turn, client)

    def _cut(self, turn: Turn, client: Client) -> None:
        self.slow.note(client.address)
        self.end(turn, client, SLOW_CONSUMER, CloseCode.TRY_AGAIN_LATER)

    def _watch(self, turn: Turn, client: Client) -> None:
        at_ms = client.heard_ms + self._settings.silence_ms
        if client.ends_ms is not None:
            at_ms = min(at_ms, client.ends_ms)
        turn.commands.append(WakeAt((LINE_TIMER, client.line), at_ms))

    def _detach(self, turn: Turn, client: Client) -> None:
        """Parts an actor from its connection; only what is durable stays."""
        actor = client.actor
        if actor.client is not client:
            return
        actor.client = None
        self.topics.refresh(actor)
        self.topics.leave(actor)
        if actor.subscriptions and not actor.registrations:
            self.watch_absent(turn, actor.address)
        self._clients.release(actor)


def _end_ms(claims: tokens.Claims) -> int:
    """When a token ends: at the time it names, and a day after it was made (R29)."""
    oldest_ms = int((claims.iat + TOKEN_MAX_AGE_S) * _SECOND_MS)
    if isinstance(claims.exp, int | float):
        return min(int(claims.exp * _SECOND_MS), oldest_ms)
    return oldest_ms
