"""How a client speaks with a hub: the session, requests and answers, heartbeats, pauses.

After a reconnect the registrations and subscriptions of the client are made good before anything
else is sent.
"""

import asyncio
from typing import Any, Final, Literal, TypeVar

import msgspec

from wireloom import __version__
from wireloom.live.clients.errors import (
    AnswerTimeoutError,
    ClientError,
    DeadError,
    HubError,
    LostError,
    RateLimitedError,
    UnauthorizedError,
    UnreadableError,
    UnsendableError,
    VersionMismatchError,
)
from wireloom.live.clients.gate import Gate
from wireloom.live.clients.hub_faults import error_of, may_answer
from wireloom.live.clients.inbox import Inbox
from wireloom.live.clients.lifeline import Lifeline
from wireloom.live.clients.pending import Pending
from wireloom.live.clients.sockets import Socket
from wireloom.live.clients.tuning import Tuning
from wireloom.protocols.signalhub import codec
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
    Register,
    Registered,
    Renew,
    Renewed,
    Resume,
    Subscribe,
    Subscribed,
)
from wireloom.protocols.signalhub.metadata import (
    ClientMetadata,
    ConnectMetadata,
    RegisterMetadata,
)
from wireloom.protocols.signalhub.payloads import (
    ConnectedPayload,
    DisconnectPayload,
    HeartbeatPayload,
    RegisterPayload,
    RenewPayload,
    SubscribePayload,
)
from wireloom.wire.errors import WireError
from wireloom.wire.message import Message, Unknown

A = TypeVar("A", bound=SharedMessage)

CAPABILITIES: Final = ("send", "receive")
REQUEST_SECONDS: Final = REQUEST_TTL_MS / 1_000
_GOODBYES: Final = frozenset(
    {DisconnectReason.DUPLICATE_CONNECTION.value, DisconnectReason.UNAUTHORIZED.value}
)
"""After these a client does not come back by itself."""

_UNLINKED: Final = (HeartbeatAck, BroadcastAck, Published)
"""Answers that may come without the id of their request (R3)."""


class Registration(msgspec.Struct):
    """A registration that the client keeps up."""

    payload: RegisterPayload
    metadata: RegisterMetadata
    token: str
    """What renews it next."""


class HubSpeaker:
    """The client's side of the protocol.

    Args:
        address: Who the client is.
        token: What proves it; None where nobody has to log in.
        content_type: How frames are written.
        tuning: Time, chance and patience.
    """

    def __init__(
        self, address: str, token: str | None, content_type: ContentType, tuning: Tuning
    ) -> None:
        self.address = address
        self.hub = HUB_ADDRESS
        self.session: ConnectedPayload | None = None
        self.skew_ms: int | None = None
        self.messages: Inbox[Application] = Inbox(tuning.inbox_limit)
        self.failures: Inbox[ClientError] = Inbox(tuning.inbox_limit)
        self.registrations: dict[str, Registration] = {}
        self.subscriptions: dict[str, SubscribePayload] = {}
        self.gate = Gate()
        self.line: Lifeline
        self._token = token
        self._text = content_type is ContentType.JSON
        self._encode = codec.encode if self._text else codec.encode_msgpack
        self._tuning = tuning
        self._pending: Pending[SharedMessage] = Pending()

    async def request(
        self,
        request: "Draft",
        answer: type[A],
        *,
        seconds: float = REQUEST_SECONDS,
        urgent: bool = False,
    ) -> A:
        """Sends a request and waits for its answer.

        Args:
            request: What to send.
            answer: What is expected.
            seconds: How long to wait, for permission to send and for the answer together.
            urgent: Whether it goes even while the client is paused.

        Raises:
            HubError: If the hub refuses.
            UnreadableError: If it answers, and the answer cannot be read.
            AnswerTimeoutError: If it does not answer in time.
            LostError: If the connection is lost before it does.
        """
        message_id = self._tuning.new_id()
        try:
            async with asyncio.timeout(seconds):
                heard = await (await self._ask(request, message_id, answer, urgent=urgent))
        except TimeoutError:
            name = request.cls.__struct_config__.tag
            text = f"no answer to {name} came within {seconds:g} s"
            raise AnswerTimeoutError(text) from None
        finally:
            self._pending.forget(message_id)
        if not isinstance(heard, answer):
            raise UnreadableError(f"the hub answers with {type(heard).__name__}")
        return heard

    async def tell(self, draft: "Draft", *, seconds: float = REQUEST_SECONDS) -> str:
        """Sends a message that is not answered; gives its id.

        Raises:
            AnswerTimeoutError: If it could not be sent in time.
            LostError: If the connection was lost meanwhile.
        """
        message_id = self._tuning.new_id()
        try:
            async with asyncio.timeout(seconds):
                await self.gate.passed()
                while not await self._is_taken(draft, message_id):
                    await self.gate.passed()
        except TimeoutError:
            raise AnswerTimeoutError(f"nothing could be sent for {seconds:g} s") from None
        return message_id

    async def _ask(
        self, request: "Draft", message_id: str, answer: type[A], *, urgent: bool
    ) -> asyncio.Future[SharedMessage]:
        """Sends a request; gives what will hold the answer."""
        while True:
            if not urgent:
                await self.gate.passed()
            waiting = self._pending.expect(message_id, answer)
            self.messages.release()
            if await self._is_taken(request, message_id):
                return waiting
            if urgent:
                raise LostError(None)
            self._pending.forget(message_id)

    async def _is_taken(self, draft: "Draft", message_id: str) -> bool:
        """Sends a message now; gives whether the connection took it.

        What it did not take may be sent again on the next one: a hub does nothing twice that has
        the same id (R35).
        """
        try:
            await self.line.send(self._written(draft, message_id), text=self._text)
        except LostError:
            self.gate.take_down()  # whoever reads has not noticed yet
            return False
        return True

    async def say_goodbye(self) -> None:
        """Tells the hub that the client goes, even while it is paused."""
        payload = DisconnectPayload(reason=DisconnectReason.CLIENT_REQUESTED.value)
        raw = self._written(Draft(Disconnect, payload), self._tuning.new_id())
        await self.line.send(raw, text=self._text)

    async def greet(self, socket: Socket) -> None:
        """Connects: says who the client is and hears whether the hub takes it."""
        wish = ConnectMetadata(
            protocol_version=PROTOCOL_VERSION,
            auth_token=msgspec.UNSET if self._token is None else self._token,
            capabilities=CAPABILITIES,
            client_metadata=ClientMetadata(user_agent=f"wireloom/{__version__}"),
        )
        draft = Draft(Connect, None, pattern="ask", ttl_ms=CONNECT_TTL_MS, metadata=wish)
        raw = self._written(draft, self._tuning.new_id())
        seconds = CONNECT_TTL_MS / 1_000
        try:
            async with asyncio.timeout(seconds):
                await socket.send(raw, text=self._text)
                heard = _decoded((await socket.receive())[0])
        except TimeoutError:
            raise AnswerTimeoutError(f"no answer to hub:connect within {seconds:g} s") from None
        if isinstance(heard, Disconnect):
            raise _goodbye(heard)
        if not isinstance(heard, Connected):
            raise error_of(heard) or UnreadableError(
                f"the hub answers hub:connect with {type(heard).__name__}"
            )
        self._take_session(heard)

    async def attend(self) -> None:
        """Makes good what the last connection had, opens the gate, and shows signs of life."""
        async with asyncio.TaskGroup() as tasks:
            kept: list[Registration | SubscribePayload] = [
                *self.registrations.values(),
                *self.subscriptions.values(),
            ]
            if kept:
                restored = [tasks.create_task(self._restore(one)) for one in kept]
                await asyncio.wait(restored, timeout=REQUEST_SECONDS)
            self.gate.raise_up()
            tasks.create_task(self._beat())

    async def hear(self, raw: bytes, *, text: bool) -> None:
        """Takes what the hub says."""
        del text  # the first byte tells the encoding (R14)
        try:
            message = _decoded(raw)
        except UnreadableError as error:
            if not (may_answer(raw) and self._pending.fail_unread(raw, error)):
                self.failures.put_latest(error)
            return
        match message:
            case Unknown(type=name):
                unknown = UnreadableError(f"the hub answers with {name:.60}, which is not known")
                self._pending.fail_unread(raw, unknown, named_only=True)
            case Application():
                self.messages.put(message)
                if not self._pending:
                    await self.messages.room()
            case Pause():
                self.gate.pause()
            case Resume():
                self.gate.resume()
            case Disconnect():
                raise _goodbye(message)
            case SharedMessage():
                self._take_answer(message)

    def is_final(self, error: ClientError) -> bool:
        """Whether the specification forbids to connect again."""
        return isinstance(error, UnauthorizedError | VersionMismatchError) or (
            isinstance(error, LostError) and error.reason in _GOODBYES
        )

    def lose(self, error: ClientError) -> None:
        """Nobody gets an answer from a connection that is gone; what is new waits."""
        self.gate.take_down()
        self._pending.fail_all(error)

    def end(self, error: ClientError) -> None:
        """Nothing more comes or goes."""
        self.gate.end(error)
        self._pending.fail_all(error)
        self.messages.end(error)
        self.failures.end()

    def _take_session(self, message: Connected) -> None:
        self.session = message.payload
        self.hub = message.from_
        metadata = message.metadata
        if metadata is not msgspec.UNSET and isinstance(metadata.actor_identity, str):
            self.address = metadata.actor_identity  # what the hub verified holds (R16)

    def _take_answer(self, message: SharedMessage) -> None:
        about = message.correlation_id
        if not isinstance(about, str) and isinstance(message, _UNLINKED):
            about = self._pending.oldest(type(message))
        about = about if isinstance(about, str) else None
        error = error_of(message)
        if error is None:
            self._pending.answer(about, message)
        elif not self._pending.fail(about, error):
            self.failures.put_latest(error)

    async def _beat(self) -> None:
        session = self.session
        assert session is not None
        while True:
            await self._tuning.sleep(session.heartbeat_interval / 1_000)
            payload = HeartbeatPayload(timestamp=self._tuning.now_ms())
            draft = Draft(Heartbeat, payload, ttl_ms=HEARTBEAT_TTL_MS)
            patience = self._tuning.dead_after_seconds
            try:
                ack = await self.request(draft, HeartbeatAck, seconds=patience, urgent=True)
            except AnswerTimeoutError:
                raise DeadError from None
            except (RateLimitedError, UnreadableError):
                continue  # an answer, too
            self.skew_ms = ack.payload.server_time - ack.payload.timestamp

    async def _restore(self, kept: Registration | SubscribePayload) -> None:
        """Makes one thing good; the hub's limits may put that off, another refusal is told."""
        while True:
            await self.gate.resumed()
            try:
                if isinstance(kept, Registration):
                    await self._renewed(kept)
                else:
                    await self._subscribed(kept)
            except RateLimitedError as error:
                await self._tuning.sleep(error.retry_after_ms / 1_000)
                continue
            except (HubError, AnswerTimeoutError, UnreadableError) as error:
                self.failures.put_latest(error)
            return

    async def _renewed(self, kept: Registration) -> None:
        """Renews a registration, or makes it anew if the hub has forgotten it."""
        renew = Draft(Renew, RenewPayload(renewal_token=kept.token), pattern="ask")
        try:
            kept.token = (await self.request(renew, Renewed, urgent=True)).payload.renewal_token
        except UnauthorizedError:
            register = Draft(Register, kept.payload, pattern="ask", metadata=kept.metadata)
            made = await self.request(register, Registered, urgent=True)
            kept.token = made.payload.renewal_token

    async def _subscribed(self, kept: SubscribePayload) -> None:
        await self.request(Draft(Subscribe, kept, pattern="ask"), Subscribed, urgent=True)

    def _written(self, draft: "Draft", message_id: str) -> bytes:
        message = draft.cls(
            id=message_id,
            from_=self.address,
            to=self.hub,
            pattern=draft.pattern,
            timestamp=self._tuning.now_ms(),
            payload=draft.payload,
            metadata=msgspec.UNSET if draft.metadata is None else draft.metadata,
            ttl=draft.ttl_ms,
        )
        try:
            return self._encode(emitted(message))
        except WireError as error:
            raise UnsendableError(f"the message cannot be sent: {error.detail}") from None


class Draft(msgspec.Struct, frozen=True):
    """A message without what is known only when it is sent."""

    cls: type[SharedMessage]
    payload: Any
    pattern: Literal["tell", "ask"] = "tell"
    ttl_ms: int | None = REQUEST_TTL_MS
    metadata: Any = None


def _decoded(raw: bytes) -> Message:
    try:
        return codec.decode(raw, lenient=True)
    except WireError as error:
        raise UnreadableError(f"the hub sent no message: {error.detail}") from None


def _goodbye(message: Disconnect) -> LostError:
    reason = message.payload.reason
    return LostError(None, reason if isinstance(reason, str) else "")
