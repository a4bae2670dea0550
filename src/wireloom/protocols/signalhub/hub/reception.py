"""Connections: how they begin, what keeps them alive, what slows them down and ends them."""

from typing import Final

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
from wireloom.protocols.signalhub.hub.delivery import Delivery
from wireloom.protocols.signalhub.hub.desk import Desk
from wireloom.protocols.signalhub.hub.discovery import Discovery
from wireloom.protocols.signalhub.hub.roster import Connection, State
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
from wireloom.wire.session import Admit, Close, Conclude, Congested, Line, Opened, WakeAt

LINE_TIMER: Final = "line"
SLOW_TIMER: Final = "slow"
ABSENT_TIMER: Final = "absent"
_SECOND_MS: Final = 1_000


class Reception:
    """The door of the hub."""

    def __init__(self, desk: Desk, topics: Topics, discovery: Discovery, delivery: Delivery):
        self._desk = desk
        self._roster = desk.roster
        self.topics = topics
        self._discovery = discovery
        self._delivery = delivery

    def open(self, event: Opened) -> None:
        """Takes a new connection, which has to say soon who it is."""
        desk, settings = self._desk, self._desk.settings
        if len(self._roster.lines) >= settings.max_lines:
            code = int(CloseCode.TRY_AGAIN_LATER)
            desk.out.append(Close(event.line, code, "too many connections"))
            return
        name = f"conn-{desk.ids.prefix:.8}-{event.line}"
        self._roster.lines[event.line] = Connection(event, settings, name, desk.now_ms)
        desk.out.append(WakeAt((LINE_TIMER, event.line), desk.now_ms + settings.connect_ms))

    def handle_connect(self, connection: Connection, message: Connect) -> Conclude:
        """Opens a session; what waits for the actor follows."""
        try:
            versions.check_compatible(message.metadata.protocol_version)
            address = self._identity(connection, message)
        except UnsupportedVersionError as error:
            return self._mismatch(connection, message, error)
        except WireError as error:
            return self._reject(connection, message, error)
        self._supersede(address)
        self.topics.refresh(self._roster.attach(connection, address))
        self._desk.out.append(Admit(connection.line))
        self._welcome(connection, message)
        self._delivery.flush(connection)
        return connection.accepted

    def handle_heartbeat(self, connection: Connection, message: Heartbeat) -> Conclude:
        """Answers with both clocks, and renews what is to be renewed so."""
        desk = self._desk
        self._discovery.renew_by_heartbeat(connection.actor)
        payload = HeartbeatAckPayload(timestamp=message.payload.timestamp, server_time=desk.now_ms)
        desk.answer(connection, message, HeartbeatAck, payload)
        return connection.accepted

    def handle_disconnect(self, connection: Connection, message: Disconnect) -> Conclude:
        """Ends the connection, as the client wishes."""
        del message
        self.shut(connection, DisconnectReason.CLIENT_REQUESTED, CloseCode.NORMAL)
        return connection.accepted

    def congest(self, event: Congested) -> None:
        """Pauses a client that reads too slowly, lets it go on, or cuts it off (R40)."""
        connection = self._roster.lines.get(event.line)
        if connection is None or connection.state is not State.CONNECTED:
            return
        settings = self._desk.settings
        if event.frames >= settings.cut_threshold or event.bytes >= settings.cut_size:
            self._cut(connection)
        elif event.frames > settings.pause_threshold or event.bytes > settings.pause_size:
            self._pause(connection)
        elif event.frames < settings.resume_threshold and event.bytes <= settings.pause_size // 2:
            self._resume(connection)

    def cut_if_slow(self, line: Line) -> None:
        """Cuts off a client that has not caught up since it was paused."""
        connection = self._roster.lines.get(line)
        if connection is not None and connection.paused and connection.state is State.CONNECTED:
            self._cut(connection)

    def check(self, line: Line) -> None:
        """Ends a connection that was silent for too long or whose token is over."""
        connection = self._roster.lines.get(line)
        if connection is None or connection.state is State.ENDED:
            return
        desk = self._desk
        if connection.state is State.OPENED:
            self.end(connection, CONNECT_TIMEOUT, CloseCode.POLICY)
        elif connection.ends_ms is not None and connection.ends_ms <= desk.now_ms:
            self.end(connection, DisconnectReason.UNAUTHORIZED, CloseCode.POLICY)
        elif connection.heard_ms + desk.settings.silence_ms <= desk.now_ms:
            self.end(connection, HEARTBEAT_TIMEOUT, CloseCode.GOING_AWAY)
        else:
            self._watch(connection)

    def close(self, line: Line) -> None:
        """Forgets a connection that went away."""
        connection = self._roster.lines.pop(line, None)
        if connection is not None:
            self._detach(connection)
            connection.state = State.ENDED

    def forget_absent(self, address: str) -> None:
        """Ends the subscriptions of an actor that stayed away (R42)."""
        actor = self._roster.actors.get(address)
        if actor is not None and actor.connection is None and not actor.registrations:
            self._desk.out.extend(self.topics.clear(actor))
            self._roster.release(actor)

    def stop(self) -> None:
        """Says goodbye to all."""
        for connection in self._roster.lines.values():
            if connection.state is not State.ENDED:
                self.end(connection, DisconnectReason.SERVER_SHUTDOWN, CloseCode.GOING_AWAY)

    def end(self, connection: Connection, reason: str, code: CloseCode) -> None:
        """Tells a client that its connection ends, and ends it."""
        self._desk.tell(connection, Disconnect, DisconnectPayload(reason=str(reason)))
        self.shut(connection, reason, code)

    def shut(self, connection: Connection, reason: str, code: CloseCode) -> None:
        """Ends a connection without a word."""
        self._detach(connection)
        connection.state = State.ENDED
        self._desk.out.append(Close(connection.line, int(code), str(reason)))

    def watch_absent(self, address: str) -> None:
        """Sets the timer after which an absent actor's subscriptions end."""
        at_ms = self._desk.now_ms + self._desk.settings.durable_ms
        self._desk.out.append(WakeAt((ABSENT_TIMER, address), at_ms))

    def _identity(self, connection: Connection, message: Connect) -> str:
        """Who the client is: what its token says or, without authentication, what it says."""
        settings = self._desk.settings
        if settings.auth:
            given = message.metadata.auth_token
            token = given if isinstance(given, str) else connection.token
            if not token:
                raise UnauthenticatedError("a token is wanted")
            claims = tokens.verify(
                token,
                now_ms=self._desk.now_ms,
                secrets=settings.token_secrets,
                public_keys=settings.token_keys,
                hub=settings.address,
            )
            address = addresses.address(claims.actor_id)
            connection.ends_ms = _end_ms(claims)
        else:
            address = message.from_
        if address == settings.address or not addresses.is_kept(address):
            raise UnauthenticatedError("this address is not taken")
        return address

    def _supersede(self, address: str) -> None:
        """Ends the actor's older connection: the last one wins."""
        actor = self._roster.actors.get(address)
        if actor is not None and actor.connection is not None:
            self.end(actor.connection, DisconnectReason.DUPLICATE_CONNECTION, CloseCode.NORMAL)

    def _welcome(self, connection: Connection, message: Connect) -> None:
        desk, settings = self._desk, self._desk.settings
        payload = ConnectedPayload(
            session_id=f"sess-{desk.next_id()}",
            server_version=PROTOCOL_VERSION,
            max_message_size=settings.max_message_size,
            heartbeat_interval=settings.heartbeat_interval_ms,
            capabilities=ServerCapabilities(
                max_actors_per_instance=settings.max_actors,
                supports_backpressure=True,
                supported_content_types=tuple(ContentType),
            ),
        )
        known = ConnectedMetadata(actor_identity=connection.address)
        metadata = known if settings.auth else ConnectedMetadata()
        desk.tell(connection, Connected, payload, answers=message.id, metadata=metadata)
        self._watch(connection)

    def _mismatch(self, connection: Connection, message: Connect, error: WireError) -> Conclude:
        payload = VersionMismatchPayload(
            client_version=message.metadata.protocol_version,
            server_version=PROTOCOL_VERSION,
            supported_versions=(PROTOCOL_VERSION,),
            message=f"{error.detail}. Use a client of the hub's MAJOR version",
        )
        self._desk.tell(connection, VersionMismatch, payload, answers=message.id)
        self.shut(connection, "version_mismatch", CloseCode.POLICY)
        return self._desk.refused(connection, Reason.UNSUPPORTED_VERSION)

    def _reject(self, connection: Connection, message: Connect, error: WireError) -> Conclude:
        payload = UnauthorizedPayload(action="connect", reason=error.detail)
        self._desk.tell(connection, Unauthorized, payload, answers=message.id)
        self.shut(connection, DisconnectReason.UNAUTHORIZED, CloseCode.POLICY)
        return self._desk.refused(connection, Reason.UNAUTHENTICATED)

    def _pause(self, connection: Connection) -> None:
        if not connection.paused:
            connection.paused = True
            self.topics.refresh(connection.actor)
            self._desk.tell(connection, Pause, PausePayload(reason=OUTBOUND_QUEUE_FULL))
            at_ms = self._desk.now_ms + self._desk.settings.slow_ms
            self._desk.out.append(WakeAt((SLOW_TIMER, connection.line), at_ms))

    def _resume(self, connection: Connection) -> None:
        if connection.paused:
            connection.paused = False
            self.topics.refresh(connection.actor)
            self._desk.out.append(WakeAt((SLOW_TIMER, connection.line), None))
            self._desk.tell(connection, Resume, Empty())
            self._delivery.flush(connection)

    def _cut(self, connection: Connection) -> None:
        self._desk.name_slow(connection.address)
        self.end(connection, SLOW_CONSUMER, CloseCode.TRY_AGAIN_LATER)

    def _watch(self, connection: Connection) -> None:
        at_ms = connection.heard_ms + self._desk.settings.silence_ms
        if connection.ends_ms is not None:
            at_ms = min(at_ms, connection.ends_ms)
        self._desk.out.append(WakeAt((LINE_TIMER, connection.line), at_ms))

    def _detach(self, connection: Connection) -> None:
        """Parts an actor from its connection; only what is durable stays."""
        actor = connection.actor
        if actor.connection is not connection:
            return
        actor.connection = None
        self.topics.refresh(actor)
        self.topics.leave(actor)
        if actor.subscriptions and not actor.registrations:
            self.watch_absent(actor.address)
        self._roster.release(actor)


def _end_ms(claims: tokens.Claims) -> int:
    """When a token ends: at the time it names, and a day after it was made (R29)."""
    oldest_ms = int((claims.iat + TOKEN_MAX_AGE_S) * _SECOND_MS)
    if isinstance(claims.exp, int | float):
        return min(int(claims.exp * _SECOND_MS), oldest_ms)
    return oldest_ms
