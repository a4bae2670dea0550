"""A client of a Signal Hub: events in, commands out.

It connects, keeps its registrations and subscriptions up across connections, shows signs of life,
and keeps silent while the hub pauses it. What it can be asked for is in `requests`.
"""

from collections.abc import Callable
from typing import Any, Final

import msgspec

from wireloom.protocols.signalhub import codec
from wireloom.protocols.signalhub.client.errors import (
    RateLimitedError,
    UnauthorizedError,
    VersionMismatchError,
)
from wireloom.protocols.signalhub.client.faults import error_of, may_answer
from wireloom.protocols.signalhub.client.requests import Draft, HubRequest, request
from wireloom.protocols.signalhub.client.settings import ClientSettings
from wireloom.protocols.signalhub.client.upkeep import LIMITED_TIMER, Upkeep
from wireloom.protocols.signalhub.constants import (
    CONNECT_TTL_MS,
    HEARTBEAT_TTL_MS,
    HUB_ADDRESS,
    PROTOCOL_VERSION,
    REQUEST_TTL_MS,
    ContentType,
    DisconnectReason,
)
from wireloom.protocols.signalhub.envelope import SharedMessage, emitted
from wireloom.protocols.signalhub.messages import (
    Application,
    BroadcastAck,
    Connect,
    Connected,
    Disconnect,
    Heartbeat,
    HeartbeatAck,
    Pause,
    Published,
    Resume,
)
from wireloom.protocols.signalhub.metadata import ClientMetadata, ConnectMetadata
from wireloom.protocols.signalhub.payloads import (
    ConnectedPayload,
    DisconnectPayload,
    HeartbeatPayload,
)
from wireloom.protocols.signalhub.record import type_of
from wireloom.wire.client.application import Arrived, Failed
from wireloom.wire.client.errors import (
    AnswerTimeoutError,
    ClientError,
    DeadError,
    LostError,
    UnreadableError,
    UnsendableError,
)
from wireloom.wire.client.requests import TIMEOUT
from wireloom.wire.client.session import ClientSession, Timer
from wireloom.wire.client.states import State
from wireloom.wire.errors import WireError
from wireloom.wire.ids import Ids
from wireloom.wire.message import Message, Unknown
from wireloom.wire.outcome import Outcome, Reason
from wireloom.wire.session import Conclude, Dial, FrameReceived, Turn

LINK: Final = "websocket"
CAPABILITIES: Final = ("send", "receive")
REQUEST_SECONDS: Final = REQUEST_TTL_MS / 1_000
BEAT_TIMER: Final = ("beat",)
RESTORING_TIMER: Final = (TIMEOUT, "restoring")
_GOODBYES: Final = frozenset(
    {DisconnectReason.DUPLICATE_CONNECTION.value, DisconnectReason.UNAUTHORIZED.value}
)
"""After these a client does not come back by itself."""

_UNLINKED: Final = (HeartbeatAck, BroadcastAck, Published)
"""Answers that may come without the id of their request (R3)."""

Answer = SharedMessage | ClientError


class HubClientSession(ClientSession[HubRequest, SharedMessage]):
    """One actor at a hub.

    Args:
        settings: Where the hub is, who the client is, and its patience.
        ids: What makes its ids.
        random: Gives a number from 0 to 1.
    """

    server = "the hub"
    greeting = "hub:connect"
    greeting_ms = CONNECT_TTL_MS

    def __init__(self, settings: ClientSettings, ids: Ids, random: Callable[[], float]) -> None:
        super().__init__(Dial(LINK, settings.url), ids, settings.backoff, random)
        self.address = settings.address
        """Who the client is: what the hub verified, or else what the settings say."""
        self.hub = HUB_ADDRESS
        """Who the hub is, by its own word."""
        self.session: ConnectedPayload | None = None
        """What the hub said of itself on the last connection."""
        self.skew_ms: int | None = None
        """How far the hub's clock is ahead, by the last heartbeat."""
        self.is_paused = False
        """Whether the hub wants to hear nothing."""
        self.upkeep = Upkeep(self)
        self.text = settings.content_type is ContentType.JSON
        self._encode = codec.encode if self.text else codec.encode_msgpack
        self._settings = settings

    @property
    def may_send(self) -> bool:
        """Whether requests may leave now."""
        return super().may_send and not self.is_paused

    def greet(self, turn: Turn) -> None:
        """Says who the client is, and what it speaks."""
        token = self._settings.token
        wish = ConnectMetadata(
            protocol_version=PROTOCOL_VERSION,
            auth_token=msgspec.UNSET if token is None else token,
            capabilities=CAPABILITIES,
            client_metadata=ClientMetadata(user_agent=self._settings.user_agent),
        )
        draft: Draft[Connected] = Draft(
            Connect, None, Connected, "ask", ttl_ms=CONNECT_TTL_MS, metadata=wish
        )
        self._say(draft, turn)

    def hear_greeting(self, event: FrameReceived, turn: Turn) -> Conclude:
        """Takes the hub's welcome, or its refusal."""
        try:
            message = codec.decode(event.raw, lenient=True)
        except WireError as error:
            self.lose(_unreadable(error), turn)
            return Conclude(Outcome.REJECTED, error.reason, self.hub)
        match message:
            case Connected():
                self._take_session(message)
                self.accept(turn)
            case Disconnect():
                self.lose(_goodbye(message), turn)
            case _:
                name = type(message).__name__
                refusal = error_of(message)
                strange = UnreadableError(f"the hub answers hub:connect with {name}")
                self.lose(refusal or strange, turn)
        return self._concluded(message, Outcome.ACCEPTED)

    def hear(self, event: FrameReceived, turn: Turn) -> Conclude:
        """Takes what the hub says; the first byte tells the encoding (R14)."""
        try:
            message = codec.decode(event.raw, lenient=True)
        except WireError as error:
            self._miss(event.raw, _unreadable(error), turn)
            return Conclude(Outcome.REJECTED, error.reason, self.hub)
        match message:
            case Unknown(type=name):
                unknown = UnreadableError(f"the hub answers with {name:.60}, which is not known")
                self.asks.fail_unread(event.raw, unknown, turn, named_only=True)
                return Conclude(Outcome.REJECTED, Reason.UNKNOWN_TYPE, self.hub)
            case Application():
                self.tell(Arrived(message), turn)
                return self._concluded(message, Outcome.DELIVERED)
            case Pause():
                self.is_paused = True
            case Resume():
                self.is_paused = False
                self.upkeep.resume(turn)
                self.release(turn)
            case Disconnect():
                self.lose(_goodbye(message), turn)
            case SharedMessage():
                self._take_answer(message, turn)
        return self._concluded(message, Outcome.ACCEPTED)

    def prepare(self, request: HubRequest, turn: Turn) -> None:
        """Forgets what the request ends; the message is written when it leaves."""
        del turn
        self.upkeep.drop(request.draft)

    def write(self, request: HubRequest, turn: Turn) -> bytes:
        """The frame of a request, in the encoding that the settings choose.

        Raises:
            UnsendableError: If it cannot be written.
        """
        return self._written(request.draft, request.id, turn)

    def note(self, request: HubRequest, answer: SharedMessage) -> None:
        """Keeps up what the request has made."""
        if request.draft.is_kept_up:
            self.upkeep.note(request.draft, answer)

    def overdue(self, request: HubRequest) -> AnswerTimeoutError:
        """What to say of a request that took too long."""
        if request.answer is None:
            return super().overdue(request)
        name = request.draft.cls.__struct_config__.tag
        return AnswerTimeoutError(f"no answer to {name} came within {request.seconds:g} s")

    def is_final(self, error: ClientError) -> bool:
        """Whether the specification forbids to connect again."""
        return isinstance(error, UnauthorizedError | VersionMismatchError) or (
            isinstance(error, LostError) and error.reason in _GOODBYES
        )

    def restart(self, turn: Turn) -> None:
        """Makes again what the last connection had; requests wait for it, but not for long."""
        self.wake(RESTORING_TIMER, turn.now_ms + REQUEST_TTL_MS, turn)
        self.upkeep.begin(turn)

    def kept_up(self, turn: Turn) -> None:
        """All is made again, or took too long: requests may leave, and heartbeats begin."""
        if self.state is not State.RESTORING:
            return
        self.take_back(RESTORING_TIMER, turn)
        self._wake_for_beat(turn)
        self.restored(turn)

    def forget_connection(self) -> None:
        """Forgets what belonged to the connection: a pause ends with it."""
        self.is_paused = False
        self.upkeep.forget_connection()

    def say_goodbye(self, turn: Turn) -> None:
        """Tells the hub that the client goes, even while it is paused."""
        payload = DisconnectPayload(reason=DisconnectReason.CLIENT_REQUESTED.value)
        self._say(Draft(Disconnect, payload), turn)

    def fire(self, timer: Timer, turn: Turn) -> None:
        """Sends a heartbeat, or tries again what the hub's limits have put off."""
        if timer == BEAT_TIMER:
            self._beat(turn)
        elif timer == RESTORING_TIMER:
            self.kept_up(turn)
        elif timer[0] == LIMITED_TIMER:
            self.upkeep.attempt(timer[1], turn)

    def ask(
        self,
        draft: Draft[Any],
        settle: Callable[[Answer, Turn], None],
        turn: Turn,
        seconds: float = REQUEST_SECONDS,
    ) -> None:
        """Asks the hub on the session's own behalf, whether requests may leave or not."""
        self.ask_now(request(turn.ids.next(), draft, seconds), settle, turn)

    def regret(self, error: ClientError, turn: Turn) -> None:
        """Tells the application of a failure that nobody waits for."""
        self.tell(Failed(error), turn)

    def _beat(self, turn: Turn) -> None:
        clock = HeartbeatPayload(timestamp=turn.now_ms)
        draft = Draft(Heartbeat, clock, HeartbeatAck, ttl_ms=HEARTBEAT_TTL_MS)
        self.ask(draft, self._take_beat, turn, self._settings.dead_after_ms / 1_000)

    def _take_beat(self, answer: Answer, turn: Turn) -> None:
        match answer:
            case HeartbeatAck(payload=clocks):
                self.skew_ms = clocks.server_time - clocks.timestamp
            case RateLimitedError() | UnreadableError():
                pass  # an answer, too
            case AnswerTimeoutError():
                self.lose(DeadError(), turn)
                return
            case ClientError():
                self.lose(answer, turn)
                return
        self._wake_for_beat(turn)

    def _wake_for_beat(self, turn: Turn) -> None:
        assert self.session is not None
        self.wake(BEAT_TIMER, turn.now_ms + self.session.heartbeat_interval, turn)

    def _take_session(self, message: Connected) -> None:
        self.session = message.payload
        self.hub = message.from_
        metadata = message.metadata
        if metadata is not msgspec.UNSET and isinstance(metadata.actor_identity, str):
            self.address = metadata.actor_identity  # what the hub verified holds (R16)

    def _take_answer(self, message: SharedMessage, turn: Turn) -> None:
        about = message.correlation_id
        if not isinstance(about, str) and isinstance(message, _UNLINKED):
            about = self.asks.oldest(type(message))
        about = about if isinstance(about, str) else None
        error = error_of(message)
        is_awaited = self.asks.answer(about, error or message, turn)
        if error is not None and not is_awaited:
            self.regret(error, turn)

    def _miss(self, raw: bytes, error: UnreadableError, turn: Turn) -> None:
        """Fails those who may have waited for a frame that cannot be read."""
        if not (may_answer(raw) and self.asks.fail_unread(raw, error, turn)):
            self.regret(error, turn)

    def _concluded(self, message: Message, outcome: Outcome) -> Conclude:
        if isinstance(message, SharedMessage) and not isinstance(message, Application):
            return Conclude(outcome, None, self.hub, type_of(message))
        return Conclude(outcome, None, self.hub)

    def _say(self, draft: Draft[Any], turn: Turn) -> None:
        self.send(self._written(draft, turn.ids.next(), turn), turn)

    def _written(self, draft: Draft[Any], message_id: str, turn: Turn) -> bytes:
        message = draft.cls(
            id=message_id,
            from_=self.address,
            to=self.hub,
            pattern=draft.pattern,
            timestamp=turn.now_ms,
            payload=draft.payload,
            metadata=msgspec.UNSET if draft.metadata is None else draft.metadata,
            ttl=draft.ttl_ms,
        )
        try:
            return self._encode(emitted(message))
        except WireError as error:
            raise UnsendableError(f"the message cannot be sent: {error.detail}") from None


def _unreadable(error: WireError) -> UnreadableError:
    return UnreadableError(f"the hub sent no message: {error.detail}")


def _goodbye(message: Disconnect) -> LostError:
    reason = message.payload.reason
    return LostError(None, reason if isinstance(reason, str) else "")
