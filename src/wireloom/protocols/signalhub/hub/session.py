"""A Signal Hub: one session for all its connections.

```
frame → size → form → connected? → rate → lifetime → seen before? → handler of its type
```

What fails a step is answered with the specification's error for it and goes no further. The
handlers are in `lifecycle`, `discovery`, `delivery` and `fanout`; they append their commands to the
turn and give the frame's one outcome, which comes last.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from wireloom.protocols.signalhub import codec, spans
from wireloom.protocols.signalhub.constants import (
    MAX_STRANGER_FRAMES,
    MAX_STRANGER_PARTS,
    MAX_STRANGER_SIZE,
    REPLAY_WINDOW_MS,
    CloseCode,
    Detail,
    ErrorCode,
)
from wireloom.protocols.signalhub.envelope import SharedMessage
from wireloom.protocols.signalhub.hub.answers import Answers, fault, refused
from wireloom.protocols.signalhub.hub.connections import Client, Clients, State
from wireloom.protocols.signalhub.hub.delivery import (
    FLUSH_TIMER,
    PARCELS_TIMER,
    REPORTS_TIMER,
    Delivery,
)
from wireloom.protocols.signalhub.hub.directory import Directory
from wireloom.protocols.signalhub.hub.discovery import REGISTRATION_TIMER, Discovery
from wireloom.protocols.signalhub.hub.encodings import JSON, PACKED
from wireloom.protocols.signalhub.hub.fanout import Fanout
from wireloom.protocols.signalhub.hub.intake import (
    NO_ID,
    TYPE_NAMES,
    Intake,
    claimed_id,
    claimed_type,
)
from wireloom.protocols.signalhub.hub.lifecycle import (
    ABSENT_TIMER,
    LINE_TIMER,
    SLOW_TIMER,
    Lifecycle,
)
from wireloom.protocols.signalhub.hub.outgoing import Outgoing
from wireloom.protocols.signalhub.hub.recovery import Recovery
from wireloom.protocols.signalhub.hub.search import SEARCH_TIMER
from wireloom.protocols.signalhub.hub.settings import HubSettings
from wireloom.protocols.signalhub.hub.slices import SLICE_TIMER
from wireloom.protocols.signalhub.hub.topics import Topics
from wireloom.protocols.signalhub.integrity import check_fresh
from wireloom.protocols.signalhub.messages import (
    TYPES,
    Broadcast,
    Connect,
    Disconnect,
    Discover,
    Error,
    Heartbeat,
    ListActors,
    Publish,
    QueueStats,
    QueueStatsResponse,
    Register,
    Renew,
    Send,
    Subscribe,
    Unauthorized,
    Unregister,
    Unsubscribe,
)
from wireloom.protocols.signalhub.payloads import QueueStatsResponsePayload, UnauthorizedPayload
from wireloom.protocols.signalhub.record import type_of
from wireloom.wire import session
from wireloom.wire.errors import ExpiredError, FutureError, StaleError, UnknownTypeError, WireError
from wireloom.wire.ids import Ids
from wireloom.wire.message import Message
from wireloom.wire.outcome import Outcome, Reason
from wireloom.wire.session import (
    Closed,
    Conclude,
    Congested,
    Event,
    FrameReceived,
    FrameRefused,
    Opened,
    Stopping,
    Store,
    TimerFired,
    Turn,
)

Handler = Callable[[Turn, Client, Any], Conclude]

_ENDED: Final = State.ENDED
_OPENED: Final = State.OPENED
"""Named once: the interpreter looks up a member of an enum slowly."""

_CONNECT: Final = TYPE_NAMES[Connect].encode()
_TIMELESS: Final = frozenset({Heartbeat, Disconnect})
"""Messages of which the clock does not matter: one of them measures it (R45)."""


class HubSession:
    """A hub: events in, commands out.

    Args:
        settings: Its limits and times.
        ids: What makes its ids.
    """

    def __init__(self, settings: HubSettings, ids: Ids) -> None:
        self.ids = ids
        self._settings = settings
        self._clients = clients = Clients(settings)
        self._answers = answers = Answers(settings)
        self._outgoing = outgoing = Outgoing(settings, ids)
        self._directory = directory = Directory(settings)
        self._topics = topics = Topics(settings.max_all_subscriptions)
        self._intake = Intake(settings.address, directory, topics)
        self._delivery = delivery = Delivery(settings, answers, outgoing, clients, directory)
        self._discovery = discovery = Discovery(
            settings, answers, clients, directory, topics, delivery
        )
        self._fanout = Fanout(settings, answers, outgoing, clients, directory, topics)
        self._lifecycle = life = Lifecycle(settings, answers, clients, topics, discovery, delivery)
        self._recovery = Recovery(settings.address, clients, discovery, delivery, life)
        handlers = self._handlers_by_class()
        self._handlers: dict[type[Message], Handler] = {
            cls: handlers[TYPES[name]]
            for cls, name in TYPE_NAMES.items()
            if TYPES[name] in handlers
        }
        self._timers: dict[str, Callable[..., None]] = {
            LINE_TIMER: life.check,
            SLOW_TIMER: life.cut_if_slow,
            ABSENT_TIMER: life.forget_absent,
            REGISTRATION_TIMER: discovery.expire,
            SEARCH_TIMER: discovery.searches.advance,
            FLUSH_TIMER: delivery.flush_address,
            PARCELS_TIMER: delivery.expire_parcels,
            REPORTS_TIMER: delivery.expire_reports,
            SLICE_TIMER: self._fanout.slices.advance,
        }
        self.slow: Mapping[str, int] = life.slow
        """How often a slow reader was cut off, by its address."""

    def _handlers_by_class(self) -> dict[type[Message], Handler]:
        return {
            Heartbeat: self._lifecycle.handle_heartbeat,
            Disconnect: self._lifecycle.handle_disconnect,
            Register: self._discovery.handle_register,
            Unregister: self._discovery.handle_unregister,
            Discover: self._discovery.handle_discover,
            ListActors: self._discovery.handle_list_actors,
            Renew: self._discovery.handle_renew,
            Send: self._delivery.handle_send,
            Broadcast: self._fanout.handle_broadcast,
            Subscribe: self._fanout.handle_subscribe,
            Publish: self._fanout.handle_publish,
            Unsubscribe: self._fanout.handle_unsubscribe,
            QueueStats: self._handle_queue_stats,
        }

    def gauges(self) -> dict[str, int]:
        """How much of everything there is now."""
        return {
            "connections": len(self._clients.lines),
            "registrations": len(self._directory),
            "registration_bytes": self._directory.shares.size,
            "subscriptions": self._topics.shares.count,
            "subscription_bytes": self._topics.shares.size,
            "queued": self._delivery.mailboxes.count,
            "reports": self._delivery.reports.count,
            "queued_bytes": self._delivery.waiting.size,
            "seen_bytes": self._answers.size,
            "pending_bytes": self._fanout.slices.shares.size,
            "pending": self._fanout.slices.pending,
            "unreadable_records": self._recovery.unreadable_count,
        }

    def handle(self, event: Event, turn: Turn) -> None:
        """Appends what is to be done about an event."""
        if type(event) is FrameReceived:
            turn.commands.append(self._receive(turn, event))
            return
        match event:
            case Opened():
                self._lifecycle.open(turn, event)
            case FrameRefused():
                turn.commands.append(self._refuse(turn, event))
            case Closed():
                self._lifecycle.forget(turn, event.line)
            case Congested():
                self._lifecycle.congest(turn, event)
            case TimerFired(timer=(str(name), *about)):
                self._timers[name](turn, *about)
            case Stopping():
                self._fanout.slices.finish(turn)
                self._lifecycle.stop(turn)

    def restore(self, records: Iterable[Store], turn: Turn) -> None:
        """Takes up what an earlier life stored; what can no longer be used is forgotten."""
        self._recovery.restore(turn, records)

    def _receive(self, turn: Turn, event: FrameReceived) -> Conclude:
        raw = event.raw
        client = self._clients.lines.get(event.line)
        if client is None or client.state is _ENDED:
            return Conclude(Outcome.REJECTED, Reason.UNAUTHENTICATED)
        client.heard_ms = turn.now_ms
        if client.state is _OPENED:
            return self._meet(turn, client, event)
        if len(raw) > self._settings.max_message_size:
            return self._too_large(turn, client, raw)
        try:
            message: Any = self._intake.take(raw, client.actor.names)
        except WireError as error:
            return self._undecodable(turn, client, raw, error)
        conclusion = self._dispatch(turn, client, message)
        return conclusion if conclusion.type is not None else _named(conclusion, message)

    def _meet(self, turn: Turn, client: Client, event: FrameReceived) -> Conclude:
        """Takes a frame of a stranger: one that may be a connect, and few of them (R55)."""
        packed = not event.text and spans.is_msgpack(event.raw)
        client.speak(PACKED if packed else JSON)
        client.tries += 1
        conclusion = self._doubt(turn, client, event.raw) or self._read(turn, client, event.raw)
        if client.state is _OPENED and client.tries >= MAX_STRANGER_FRAMES:
            self._lifecycle.close(turn, client, "no hub:connect", CloseCode.POLICY)
        return conclusion

    def _doubt(self, turn: Turn, client: Client, raw: bytes) -> Conclude | None:
        """Refuses a frame that cannot be a connect, without parsing it."""
        asked = claimed_id(raw) or NO_ID
        if len(raw) > MAX_STRANGER_SIZE:
            return self._answers.too_large(turn, client, len(raw), asked, limit=MAX_STRANGER_SIZE)
        if _CONNECT in raw and spans.openings(raw) <= MAX_STRANGER_PARTS:
            return None
        action = claimed_type(raw) or "connect"
        payload = UnauthorizedPayload(action=action, reason="hub:connect comes first")
        self._answers.tell(turn, client, Unauthorized, payload, answers=asked)
        return refused(client, Reason.UNAUTHENTICATED)

    def _read(self, turn: Turn, client: Client, raw: bytes) -> Conclude:
        try:
            message: Any = self._intake.take(raw, client.actor.names)
        except WireError as error:
            return self._undecodable(turn, client, raw, error)
        return _named(self._connect(turn, client, message), message)

    def _refuse(self, turn: Turn, event: FrameRefused) -> Conclude:
        """Says how large a frame is that the link did not read (R8)."""
        client = self._clients.lines.get(event.line)
        if client is None or client.state is _ENDED:
            return Conclude(Outcome.REJECTED, Reason.UNAUTHENTICATED)
        if client.state is _OPENED:
            packed = not event.text and spans.is_msgpack(event.head)
            client.speak(PACKED if packed else JSON)
        asked = claimed_id(event.head) or NO_ID
        return self._answers.too_large(turn, client, event.size, asked, limit=event.limit)

    def _connect(self, turn: Turn, client: Client, message: SharedMessage) -> Conclude:
        """Takes nothing but a connect from a client that has not said who it is."""
        if type(message) is not Connect:
            why = "hub:connect comes first"
            self._answers.forbid(turn, client, message, type_of(message), why)
            return refused(client, Reason.UNAUTHENTICATED)
        late = self._late(turn, client, message)
        return late or self._lifecycle.handle_connect(turn, client, message)

    def _dispatch(self, turn: Turn, client: Client, message: SharedMessage) -> Conclude:
        """Hands a message to the handler of its type, if it has one and is due (R46, R49)."""
        handler = self._handlers.get(type(message))
        if handler is None:
            why = "not for a client to say"
            conclusion = self._answers.forbid(turn, client, message, type_of(message), why)
            self._count_fault(turn, client)
            return conclusion
        now_ms = turn.now_ms
        wait_ms = client.bucket.take(now_ms) or client.allowance.messages.take(now_ms)
        if wait_ms:
            return self._answers.slow_down(turn, client, message, wait_ms)
        age_ms, ttl = now_ms - message.timestamp, message.ttl
        if abs(age_ms) > REPLAY_WINDOW_MS or (isinstance(ttl, int) and age_ms > ttl):
            late = self._late(turn, client, message)
            if late:
                return late
        answer = self._answers.known((client.address, message.id), now_ms)
        if answer is not None:
            return self._repeat(turn, client, answer)
        return handler(turn, client, message)

    def _late(self, turn: Turn, client: Client, message: SharedMessage) -> Conclude | None:
        """Refuses what has expired, and what is too old or too new to be no replay (R32, R45)."""
        if type(message) in _TIMELESS:
            return None
        try:
            check_fresh(message, now_ms=turn.now_ms)
            if message.timestamp - turn.now_ms > REPLAY_WINDOW_MS:
                raise FutureError(f"made {message.timestamp - turn.now_ms} ms in the future")
        except (ExpiredError, StaleError, FutureError) as error:
            return self._refuse_late(turn, client, message, error)
        return None

    def _refuse_late(
        self, turn: Turn, client: Client, message: SharedMessage, error: WireError
    ) -> Conclude:
        """Says why, and what time it is here: the client's clock may be wrong."""
        payload = fault(
            ErrorCode.MESSAGE_EXPIRED,
            f"The message is refused: {error.detail}",
            reason=error.reason,
            serverTime=turn.now_ms,
        )
        self._answers.answer(turn, client, message, Error, payload)
        conclusion = refused(client, error.reason)
        if isinstance(error, ExpiredError):
            return Conclude(Outcome.EXPIRED, None, conclusion.peer)
        return conclusion

    def _repeat(self, turn: Turn, client: Client, answer: bytes) -> Conclude:
        """Answers a message that was done already as it was answered then (R35)."""
        if answer:
            if spans.is_json(answer) is not client.text:
                answer = client.encoding.write(codec.decode(answer))
            turn.commands.append(session.Send(client.line, answer, client.text))
        return Conclude(Outcome.DUPLICATE, None, client.address)

    def _undecodable(self, turn: Turn, client: Client, raw: bytes, error: WireError) -> Conclude:
        unknown = isinstance(error, UnknownTypeError)
        payload = fault(
            ErrorCode.INTERNAL_ERROR,
            error.detail,
            retryable=False,
            reason=Detail.UNKNOWN_TYPE if unknown else Detail.INVALID_MESSAGE,
            offset=error.offset,
        )
        self._answers.tell(turn, client, Error, payload, answers=claimed_id(raw))
        conclusion = refused(client, error.reason)
        self._count_fault(turn, client)
        return conclusion

    def _too_large(self, turn: Turn, client: Client, raw: bytes) -> Conclude:
        asked = claimed_id(raw) or NO_ID
        conclusion = self._answers.too_large(turn, client, len(raw), asked)
        self._count_fault(turn, client)
        return conclusion

    def _count_fault(self, turn: Turn, client: Client) -> None:
        """Ends a connection that does nothing but err (R37)."""
        if client.faults.take(turn.now_ms):
            self._lifecycle.close(turn, client, "too many faults", CloseCode.POLICY)

    def _handle_queue_stats(self, turn: Turn, client: Client, message: QueueStats) -> Conclude:
        settings, meter = self._settings, self._outgoing.meter
        meter.add(0, turn.now_ms)
        payload = QueueStatsResponsePayload(
            queue_depth=self._delivery.mailboxes.count + self._fanout.slices.pending,
            processing_rate=meter.per_second,
            pause_threshold=settings.pause_threshold,
            resume_threshold=settings.resume_threshold,
        )
        self._answers.answer(turn, client, message, QueueStatsResponse, payload)
        return client.accepted


def _named(conclusion: Conclude, message: Message) -> Conclude:
    """A conclusion that tells the type of the message, for the counters."""
    name = TYPE_NAMES.get(type(message))
    return Conclude(conclusion.outcome, conclusion.reason, conclusion.peer, name)
