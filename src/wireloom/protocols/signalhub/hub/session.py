"""A Signal Hub: one session for all its connections.

```
frame → size → form → connected? → rate → lifetime → seen before? → handler of its type
```

What fails a step is answered with the specification's error for it and goes no further. The
handlers are in `reception`, `discovery`, `delivery` and `fanout`; they append their commands to
the turn's list at the `desk` and give the frame's one outcome.
"""

import re
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
from wireloom.protocols.signalhub.hub.delivery import (
    FLUSH_TIMER,
    PARCELS_TIMER,
    REPORTS_TIMER,
    Delivery,
)
from wireloom.protocols.signalhub.hub.desk import Desk
from wireloom.protocols.signalhub.hub.dialects import JSON, PACKED
from wireloom.protocols.signalhub.hub.directory import Directory
from wireloom.protocols.signalhub.hub.discovery import REGISTRATION_TIMER, Discovery
from wireloom.protocols.signalhub.hub.fanout import Fanout
from wireloom.protocols.signalhub.hub.intake import Intake, KnownPublish, KnownSend
from wireloom.protocols.signalhub.hub.reception import (
    ABSENT_TIMER,
    LINE_TIMER,
    SLOW_TIMER,
    Reception,
)
from wireloom.protocols.signalhub.hub.recovery import Recovery
from wireloom.protocols.signalhub.hub.roster import Connection, State
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
from wireloom.protocols.signalhub.payloads import (
    QueueStatsResponsePayload,
    UnauthorizedPayload,
)
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

Handler = Callable[[Connection, Any], Conclude]

_UUID: Final = rb"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
_CLAIMED_ID: Final = re.compile(rb'(?:"id"[ \t\r\n]*:[ \t\r\n]*"|\xa2id\xd9\x24)(' + _UUID + rb")")
_CLAIMED_TYPE: Final = re.compile(
    rb'(?:"type"[ \t\r\n]*:[ \t\r\n]*"|\xa4type[\xa0-\xbf])(hub:[a-z_]{1,27})'
)
_SEARCHED_SIZE: Final = 1_024
"""Bytes of a frame that is not read in which its id and type are looked for."""

_TAKEN: Final[list[type[Message]]] = [*TYPES.values(), KnownSend, KnownPublish]
_NAMES: Final = {cls: str(cls.__struct_config__.tag) for cls in _TAKEN}
_ENDED: Final = State.ENDED
_OPENED: Final = State.OPENED
"""Named once: the interpreter looks up a member of an enum slowly."""

_CONNECT: Final = str(Connect.__struct_config__.tag).encode()
_NO_ID: Final = "00000000-0000-0000-0000-000000000000"
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
        self._desk = desk = Desk(settings, ids)
        self._directory = Directory(settings)
        self._topics = Topics(settings.max_all_subscriptions)
        self._intake = Intake(settings.address, self._directory, self._topics)
        self._delivery = delivery = Delivery(desk, self._directory)
        self._discovery = discovery = Discovery(desk, self._directory, self._topics, delivery)
        self._fanout = fanout = Fanout(desk, self._directory, self._topics)
        self._reception = reception = Reception(desk, self._topics, discovery, delivery)
        self._recovery = Recovery(desk, discovery, delivery, reception)
        self._handlers: dict[type[SharedMessage], Handler] = {
            Heartbeat: reception.handle_heartbeat,
            Disconnect: reception.handle_disconnect,
            Register: discovery.handle_register,
            Unregister: discovery.handle_unregister,
            Discover: discovery.handle_discover,
            ListActors: discovery.handle_list_actors,
            Renew: discovery.handle_renew,
            Send: delivery.handle_send,
            KnownSend: delivery.handle_send,
            Broadcast: fanout.handle_broadcast,
            Subscribe: fanout.handle_subscribe,
            Publish: fanout.handle_publish,
            KnownPublish: fanout.handle_publish,
            Unsubscribe: fanout.handle_unsubscribe,
            QueueStats: self._handle_queue_stats,
        }
        self._timers: dict[str, Callable[..., None]] = {
            LINE_TIMER: reception.check,
            SLOW_TIMER: reception.cut_if_slow,
            ABSENT_TIMER: reception.forget_absent,
            REGISTRATION_TIMER: discovery.expire,
            SEARCH_TIMER: discovery.searches.advance,
            FLUSH_TIMER: delivery.flush_address,
            PARCELS_TIMER: delivery.expire_parcels,
            REPORTS_TIMER: delivery.expire_reports,
            SLICE_TIMER: fanout.slices.advance,
        }
        self.slow: Mapping[str, int] = desk.slow
        """How often a slow reader was cut off, by its address."""

    def gauges(self) -> dict[str, int]:
        """How much of everything there is now."""
        return {
            "connections": len(self._desk.roster.lines),
            "registrations": len(self._directory),
            "registration_bytes": self._directory.shares.size,
            "subscriptions": self._topics.shares.count,
            "subscription_bytes": self._topics.shares.size,
            "queued": self._delivery.mailboxes.count,
            "reports": self._delivery.reports.count,
            "queued_bytes": self._delivery.waiting.size,
            "seen_bytes": self._desk.seen.size,
            "pending_bytes": self._fanout.slices.shares.size,
            "pending": self._fanout.slices.pending,
            "unreadable_records": self._recovery.unreadable_count,
        }

    def handle(self, event: Event, turn: Turn) -> None:
        """Appends what is to be done about an event."""
        out = self._desk.begin(turn)
        if type(event) is FrameReceived:
            out.append(self._receive(event))
            return
        match event:
            case Opened():
                self._reception.open(event)
            case FrameRefused():
                out.append(self._refuse(event))
            case Closed():
                self._reception.close(event.line)
            case Congested():
                self._reception.congest(event)
            case TimerFired(timer=(str(name), *about)):
                self._timers[name](*about)
            case Stopping():
                self._fanout.slices.finish()
                self._reception.stop()

    def restore(self, records: Iterable[Store], turn: Turn) -> None:
        """Takes up what an earlier life stored; what can no longer be used is forgotten."""
        self._desk.begin(turn)
        self._recovery.restore(records)

    def _receive(self, event: FrameReceived) -> Conclude:
        desk, raw = self._desk, event.raw
        connection = desk.roster.lines.get(event.line)
        if connection is None or connection.state is _ENDED:
            return Conclude(Outcome.REJECTED, Reason.UNAUTHENTICATED)
        connection.heard_ms = desk.now_ms
        if connection.state is _OPENED:
            return self._meet(connection, event)
        if len(raw) > desk.settings.max_message_size:
            return self._too_large(connection, raw)
        try:
            message: Any = self._intake.take(raw, connection.actor.names)
        except WireError as error:
            return self._undecodable(connection, raw, error)
        conclusion = self._dispatch(connection, message)
        return conclusion if conclusion.type is not None else _named(conclusion, message)

    def _meet(self, connection: Connection, event: FrameReceived) -> Conclude:
        """Takes a frame of a stranger: one that may be a connect, and few of them (R55)."""
        packed = not event.text and spans.is_msgpack(event.raw)
        connection.speak(PACKED if packed else JSON)
        connection.tries += 1
        conclusion = self._doubt(connection, event.raw) or self._read(connection, event.raw)
        if connection.state is _OPENED and connection.tries >= MAX_STRANGER_FRAMES:
            self._reception.shut(connection, "no hub:connect", CloseCode.POLICY)
        return conclusion

    def _doubt(self, connection: Connection, raw: bytes) -> Conclude | None:
        """Refuses a frame that cannot be a connect, without parsing it."""
        desk, answers = self._desk, _claimed(_CLAIMED_ID, raw) or _NO_ID
        if len(raw) > MAX_STRANGER_SIZE:
            return desk.too_large(connection, len(raw), answers, limit=MAX_STRANGER_SIZE)
        if _CONNECT in raw and spans.openings(raw) <= MAX_STRANGER_PARTS:
            return None
        action = _claimed(_CLAIMED_TYPE, raw) or "connect"
        payload = UnauthorizedPayload(action=action, reason="hub:connect comes first")
        desk.tell(connection, Unauthorized, payload, answers=answers)
        return desk.refused(connection, Reason.UNAUTHENTICATED)

    def _read(self, connection: Connection, raw: bytes) -> Conclude:
        try:
            message: Any = self._intake.take(raw, connection.actor.names)
        except WireError as error:
            return self._undecodable(connection, raw, error)
        return _named(self._connect(connection, message), message)

    def _refuse(self, event: FrameRefused) -> Conclude:
        """Says how large a frame is that the link did not read (R8)."""
        connection = self._desk.roster.lines.get(event.line)
        if connection is None or connection.state is _ENDED:
            return Conclude(Outcome.REJECTED, Reason.UNAUTHENTICATED)
        if connection.state is _OPENED:
            packed = not event.text and spans.is_msgpack(event.head)
            connection.speak(PACKED if packed else JSON)
        answers = _claimed(_CLAIMED_ID, event.head) or _NO_ID
        return self._desk.too_large(connection, event.size, answers, limit=event.limit)

    def _connect(self, connection: Connection, message: SharedMessage) -> Conclude:
        """Takes nothing but a connect from a client that has not said who it is."""
        if type(message) is not Connect:
            self._desk.forbid(connection, message, type_of(message), "hub:connect comes first")
            return self._desk.refused(connection, Reason.UNAUTHENTICATED)
        return self._late(connection, message) or self._reception.handle_connect(
            connection, message
        )

    def _dispatch(self, connection: Connection, message: SharedMessage) -> Conclude:
        """Hands a message to the handler of its type, if it has one and is due (R46, R49)."""
        desk = self._desk
        handler = self._handlers.get(type(message))
        if handler is None:
            refused = desk.forbid(connection, message, type_of(message), "not for a client to say")
            self._count_fault(connection)
            return refused
        now_ms = desk.now_ms
        wait_ms = connection.bucket.take(now_ms) or connection.allowance.messages.take(now_ms)
        if wait_ms:
            return desk.slow_down(connection, message, wait_ms)
        age_ms, ttl = now_ms - message.timestamp, message.ttl
        if abs(age_ms) > REPLAY_WINDOW_MS or (isinstance(ttl, int) and age_ms > ttl):
            late = self._late(connection, message)
            if late:
                return late
        answer = desk.seen.answer(connection.address, message.id, now_ms)
        if answer is not None:
            return self._repeat(connection, answer)
        return handler(connection, message)

    def _late(self, connection: Connection, message: SharedMessage) -> Conclude | None:
        """Refuses what has expired, and what is too old or too new to be no replay (R32, R45)."""
        now_ms = self._desk.now_ms
        if type(message) in _TIMELESS:
            return None
        try:
            check_fresh(message, now_ms=now_ms)
            if message.timestamp - now_ms > REPLAY_WINDOW_MS:
                raise FutureError(f"made {message.timestamp - now_ms} ms in the future")
        except (ExpiredError, StaleError, FutureError) as error:
            return self._refuse_late(connection, message, error)
        return None

    def _refuse_late(
        self, connection: Connection, message: SharedMessage, error: WireError
    ) -> Conclude:
        """Says why, and what time it is here: the client's clock may be wrong."""
        self._desk.fail(
            connection,
            ErrorCode.MESSAGE_EXPIRED,
            f"The message is refused: {error.detail}",
            answers=message.id,
            to=connection.name(message),
            reason=error.reason,
            serverTime=self._desk.now_ms,
        )
        refused = self._desk.refused(connection, error.reason)
        if isinstance(error, ExpiredError):
            return Conclude(Outcome.EXPIRED, None, refused.peer)
        return refused

    def _repeat(self, connection: Connection, answer: bytes) -> Conclude:
        """Answers a message that was done already as it was answered then (R35)."""
        if answer:
            if spans.is_json(answer) is not connection.text:
                answer = connection.dialect.write(codec.decode(answer))
            self._desk.out.append(session.Send(connection.line, answer, connection.text))
        return Conclude(Outcome.DUPLICATE, None, connection.address)

    def _undecodable(self, connection: Connection, raw: bytes, error: WireError) -> Conclude:
        unknown = isinstance(error, UnknownTypeError)
        self._desk.fail(
            connection,
            ErrorCode.INTERNAL_ERROR,
            error.detail,
            answers=_claimed(_CLAIMED_ID, raw),
            retryable=False,
            reason=Detail.UNKNOWN_TYPE if unknown else Detail.INVALID_MESSAGE,
            offset=error.offset,
        )
        refused = self._desk.refused(connection, error.reason)
        self._count_fault(connection)
        return refused

    def _too_large(self, connection: Connection, raw: bytes) -> Conclude:
        refused = self._desk.too_large(connection, len(raw), _claimed(_CLAIMED_ID, raw) or _NO_ID)
        self._count_fault(connection)
        return refused

    def _count_fault(self, connection: Connection) -> None:
        """Ends a connection that does nothing but err (R37)."""
        if connection.faults.take(self._desk.now_ms):
            self._reception.shut(connection, "too many faults", CloseCode.POLICY)

    def _handle_queue_stats(self, connection: Connection, message: QueueStats) -> Conclude:
        desk, settings = self._desk, self._desk.settings
        desk.meter.add(0, desk.now_ms)
        payload = QueueStatsResponsePayload(
            queue_depth=self._delivery.mailboxes.count + self._fanout.slices.pending,
            processing_rate=desk.meter.per_second,
            pause_threshold=settings.pause_threshold,
            resume_threshold=settings.resume_threshold,
        )
        desk.answer(connection, message, QueueStatsResponse, payload)
        return connection.accepted


def _named(conclusion: Conclude, message: Message) -> Conclude:
    """A conclusion that tells the type of the message, for the counters."""
    name = _NAMES.get(type(message))
    return Conclude(conclusion.outcome, conclusion.reason, conclusion.peer, name)


def _claimed(pattern: re.Pattern[bytes], raw: bytes) -> str | None:
    """What a frame that was not read says of itself, as far as it can be seen (R50)."""
    found = pattern.search(raw, 0, _SEARCHED_SIZE)
    return found[1].decode() if found else None
