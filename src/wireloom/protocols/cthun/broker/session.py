"""A Cthun broker: events in, commands out.

A connection associates first, under a URI that its certificate proves. From then on it sends
messages in that name, and gets those that others send to it. The broker answers inventory
requests itself. All else is in `delivery`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from wireloom.protocols.cthun.broker.clients import Client, State
from wireloom.protocols.cthun.broker.delivery import Delivery
from wireloom.protocols.cthun.broker.intake import BoundError, Intake, Taken, too_large
from wireloom.protocols.cthun.broker.inventory import Inventory
from wireloom.protocols.cthun.broker.redelivery import EXPIRY_TIMER, REDELIVERY_TIMER, SLICE_TIMER
from wireloom.protocols.cthun.broker.replies import Replies
from wireloom.protocols.cthun.broker.settings import BrokerSettings
from wireloom.protocols.cthun.constants import BROKER_URI, CloseCode, Complaint, MessageType
from wireloom.protocols.cthun.integrity import check_sender
from wireloom.protocols.cthun.messages import (
    BROKER_TYPES,
    AssociateResponse,
    Envelope,
    ErrorMessage,
    InventoryRequest,
    InventoryResponse,
    Packet,
)
from wireloom.protocols.cthun.uris import parse
from wireloom.wire.errors import MalformedError, UnauthenticatedError, WireError
from wireloom.wire.ids import Ids
from wireloom.wire.outcome import Outcome, Reason
from wireloom.wire.session import (
    Admit,
    Alive,
    Closed,
    Command,
    Conclude,
    Congested,
    Event,
    FrameReceived,
    FrameRefused,
    Line,
    Opened,
    Requested,
    Stopping,
    Store,
    TimerFired,
    Turn,
    WakeAt,
)

LINE_TIMER: Final = "line"
_ASSOCIATED: Final = State.ASSOCIATED
_CLOSING: Final = State.CLOSING
_EARLY: Final = "before an association"
_REQUEST: Final = MessageType.ASSOCIATE_REQUEST.value


class BrokerSession:
    """One broker for all its connections.

    Args:
        settings: What the operator has set.
        ids: What makes the ids of its messages.
    """

    def __init__(self, settings: BrokerSettings, ids: Ids) -> None:
        self.ids = ids
        self._settings = settings
        self._lines: dict[Line, Client] = {}
        self._inventory = Inventory()
        self._intake = Intake(self._inventory.clients, settings)
        self._replies = Replies(settings, ids, self._inventory)
        self._delivery = Delivery(settings, self._inventory, self._replies)
        self._later = self._delivery.later
        self.slow: Mapping[str, int] = self._replies.slow
        """How often a client was cut because it did not read, by its URI."""
        self._own_uris = {BROKER_URI, settings.uri}
        self._stopping = False
        self._handlers: dict[type[Event], Callable[[Any, int], Sequence[Command]]] = {
            Opened: self._on_opened,
            FrameRefused: self._on_refused,
            Alive: self._on_alive,
            Congested: self._on_congested,
            Closed: self._on_closed,
            TimerFired: self._on_timer,
            Requested: self._on_requested,
            Stopping: self._on_stopping,
        }
        self._answers: dict[str, Callable[[Client, Taken, int], Sequence[Command]]] = {
            _REQUEST: self._associate,
            MessageType.INVENTORY_REQUEST.value: self._tell_inventory,
        }

    def gauges(self) -> dict[str, int]:
        """How much of everything there is now."""
        return {
            "connections": len(self._lines),
            "associated": len(self._inventory.clients),
            "queued": self._later.holding.count,
            "queued_bytes": self._later.holding.size,
            "unreadable_records": self._later.holding.unreadable_count,
        }

    def restore(self, records: Iterable[Store], turn: Turn) -> None:
        """Takes up what an earlier life held; called once, before any event."""
        turn.commands += self._delivery.restore(list(records), turn.now_ms)

    def handle(self, event: Event, turn: Turn) -> None:
        """Appends what is to be done about an event."""
        if type(event) is FrameReceived:
            commands = self._on_frame(event, turn.now_ms)
        else:
            commands = self._handlers[type(event)](event, turn.now_ms)
        turn.commands += [one for one in commands if type(one) is not Conclude]
        turn.commands += [one for one in commands if type(one) is Conclude]

    def _on_frame(self, event: FrameReceived, now_ms: int) -> Sequence[Command]:
        raw = event.raw
        client = self._lines.get(event.line)
        if client is None:
            return (Conclude(Outcome.REJECTED, Reason.UNAUTHENTICATED),)
        if client.state is not _ASSOCIATED:
            refusal = self._early_refusal(client, len(raw), now_ms)
            if refusal is not None:
                return refusal
        client.active_ms = now_ms
        try:
            if event.text:
                raise MalformedError("a message is binary")  # R40
            taken = self._intake.take(raw, client.uri)
        except WireError as error:
            return self._unread(client, error, now_ms)
        if taken[2] is None:
            return self._delivery.take(client, taken, raw, now_ms)
        return self._take_unusual(client, taken, raw, now_ms)

    def _early_refusal(self, client: Client, size: int, now_ms: int) -> Sequence[Command] | None:
        """Why a connection that is not associated is not heard: little is, nothing large (R51)."""
        if client.state is _CLOSING:
            return (Conclude(Outcome.REJECTED, Reason.UNAUTHENTICATED, client.uri),)
        client.early_count += 1
        if client.early_count > self._settings.early_count:
            code = CloseCode.ASSOCIATION_UNSUCCESSFUL
            close = self._inventory.close(client, code, "too much before an association")
            return Conclude(Outcome.REJECTED, Reason.RATE_LIMITED), close
        if size > self._settings.early_size:
            words = too_large("Message", size, self._settings.early_size)
            return self._unread(client, BoundError(f"{words} {_EARLY}"), now_ms)
        return None

    def _on_refused(self, event: FrameRefused, now_ms: int) -> Sequence[Command]:
        """Answers a frame that the link did not read because of its size."""
        client = self._lines.get(event.line)
        if client is None or client.state is _CLOSING:
            return (Conclude(Outcome.REJECTED, Reason.UNAUTHENTICATED),)
        words = too_large("Message", event.size, event.limit)
        if client.state is State.OPEN:
            words = f"{words} {_EARLY}"
        return self._unread(client, BoundError(words), now_ms)

    def _take_unusual(
        self, client: Client, taken: Taken, raw: bytes, now_ms: int
    ) -> Sequence[Command]:
        """Takes a message of which more had to be read than an envelope in the sender's name."""
        envelope = taken[0]
        if envelope.sender != client.uri and envelope.message_type != _REQUEST:  # R29
            why = Complaint.NOT_AUTHENTICATED, Reason.UNAUTHENTICATED
            return self._delivery.refuse(client, envelope, *why, now_ms)
        if len(envelope.message_type) > self._settings.max_type_size:
            why = Complaint.TYPE_TOO_LONG, Reason.TOO_LARGE
            return self._delivery.refuse(client, envelope, *why, now_ms)
        if envelope.message_type in BROKER_TYPES:
            answer = self._answers.get(envelope.message_type, self._refuse_broker_talk)
            return answer(client, taken, now_ms)
        return self._delivery.take(client, taken, raw, now_ms)

    def _unread(self, client: Client, error: WireError, now_ms: int) -> Sequence[Command]:
        """Says why a message was not read, and of which one if its envelope was."""
        words = Complaint.UNDECODABLE.value
        if isinstance(error, BoundError):
            words = error.detail
            if error.envelope is not None and error.envelope.sender == client.uri:
                why = words, error.reason
                return self._delivery.refuse(client, error.envelope, *why, now_ms)
        concluded = Conclude(Outcome.REJECTED, error.reason, client.uri)
        return [concluded, *self._replies.tell(client, ErrorMessage(description=words), now_ms)]

    def _refuse_broker_talk(self, client: Client, taken: Taken, now_ms: int) -> Sequence[Command]:
        """What only brokers say is no client's to say, whomever it is for (R39)."""
        why = Complaint.NOT_AUTHORIZED, Reason.UNAUTHORIZED
        return self._delivery.refuse(client, taken[0], *why, now_ms)

    def _tell_inventory(self, client: Client, taken: Taken, now_ms: int) -> Sequence[Command]:
        envelope, expires_ms, packet = taken
        if not self._own_uris.issuperset(envelope.targets):
            return self._refuse_broker_talk(client, taken, now_ms)
        if expires_ms <= now_ms:
            return self._delivery.expired_on_arrival(client, envelope, now_ms)
        if not self._replies.may_ask(client, now_ms):
            busy = Complaint.BUSY, Reason.RATE_LIMITED
            return self._delivery.refuse(client, envelope, *busy, now_ms)
        response = InventoryResponse(uris=tuple(self._inventory.answer(_query(packet))))
        concluded = Conclude(Outcome.ACCEPTED, None, client.uri, envelope.message_type)
        return [concluded, *self._replies.tell(client, response, now_ms)]

    def _associate(self, client: Client, taken: Taken, now_ms: int) -> Sequence[Command]:
        envelope, expires_ms, _ = taken
        refusal = self._association_refusal(client, envelope)
        if refusal is None and expires_ms <= now_ms:
            refusal = Complaint.EXPIRED, None
        if refusal is None:
            return self._associated(client, envelope, now_ms)
        complaint, reason = refusal
        outcome = Outcome.EXPIRED if reason is None else Outcome.REJECTED
        response = AssociateResponse(id=envelope.id, success=False, reason=complaint.value)
        commands = self._replies.tell(client, response, now_ms, to=envelope.sender)
        if client.state is not State.CLOSING:
            code = CloseCode.ASSOCIATION_UNSUCCESSFUL
            commands.append(self._inventory.close(client, code, "association unsuccessful"))
        return [Conclude(outcome, reason, client.uri, _REQUEST), *commands]

    def _association_refusal(
        self, client: Client, envelope: Envelope
    ) -> tuple[Complaint, Reason | None] | None:
        """Why a client cannot be who it says it is, if it cannot (R44)."""
        uri = envelope.sender
        if client.state is State.ASSOCIATED:
            return Complaint.ALREADY_ASSOCIATED, Reason.DUPLICATE
        if not self._own_uris.issuperset(envelope.targets):
            return Complaint.NOT_AUTHORIZED, Reason.UNAUTHORIZED
        if len(uri) > self._settings.max_uri_size:
            return Complaint.URI_TOO_LONG, Reason.TOO_LARGE
        proven = client.identity
        try:
            check_sender(uri, parse(uri).common_name if proven is None else proven)
        except UnauthenticatedError as error:
            return Complaint.NOT_AUTHENTICATED, error.reason
        return None

    def _associated(self, client: Client, envelope: Envelope, now_ms: int) -> Sequence[Command]:
        uri = envelope.sender
        commands: list[Command] = []
        former = self._inventory.clients.get(uri)
        if former is not None:
            commands.append(self._inventory.close(former, CloseCode.SUPERSEDED, "superseded"))
        client.associate(uri)
        self._inventory.add(uri, client)
        commands.append(WakeAt((LINE_TIMER, client.line), now_ms + self._settings.idle_timeout_ms))
        commands.append(Admit(client.line))
        commands.append(Conclude(Outcome.ACCEPTED, None, uri, _REQUEST))
        response = AssociateResponse(id=envelope.id, success=True)
        commands += self._replies.tell(client, response, now_ms)
        return commands + self._later.welcome(uri, now_ms)

    def _on_opened(self, event: Opened, now_ms: int) -> Sequence[Command]:
        client = self._lines[event.line] = Client(event.line, event.identity, now_ms, event.peer)
        if self._stopping:
            return (self._inventory.close(client, CloseCode.UNAVAILABLE, "not running"),)
        if len(self._lines) > self._settings.max_connection_count:
            return (self._inventory.close(client, CloseCode.UNAVAILABLE, "no room"),)
        if event.identity is None and not self._settings.trust_sender:
            code = CloseCode.NO_CERTIFICATE
            return (self._inventory.close(client, code, "no client certificate"),)
        due_ms = now_ms + self._settings.association_timeout_ms
        return (WakeAt((LINE_TIMER, event.line), due_ms),)

    def _on_alive(self, event: Alive, now_ms: int) -> Sequence[Command]:
        client = self._lines.get(event.line)
        if client is not None:
            client.active_ms = now_ms
        return ()

    def _on_congested(self, event: Congested, now_ms: int) -> Sequence[Command]:
        client = self._lines.get(event.line)
        if client is None or client.state is State.CLOSING:
            return ()
        return self._later.congested(client, event.frames, event.bytes, now_ms)

    def _on_closed(self, event: Closed, now_ms: int) -> Sequence[Command]:
        client = self._lines.pop(event.line, None)
        if client is None:
            return ()
        self._inventory.remove(client)
        client.state = State.CLOSING
        return [WakeAt((LINE_TIMER, event.line), None), *self._later.gone(client, now_ms)]

    def _on_timer(self, event: TimerFired, now_ms: int) -> Sequence[Command]:
        match event.timer:
            case (str(kind), int(line)) if kind == LINE_TIMER:
                return self._on_line_timer(line, now_ms)
            case (str(kind), str(uri)) if kind == REDELIVERY_TIMER:
                return self._later.redeliver(uri, now_ms)
            case str(kind) if kind == EXPIRY_TIMER:
                return self._later.expire(now_ms)
            case str(kind) if kind == SLICE_TIMER:
                return self._later.deliver(now_ms)
        return ()

    def _on_line_timer(self, line: Line, now_ms: int) -> Sequence[Command]:
        """Ends a connection that did not associate in time, or that has gone silent."""
        client = self._lines.get(line)
        if client is None or client.state is State.CLOSING:
            return ()
        if client.state is State.OPEN:
            code = CloseCode.ASSOCIATION_UNSUCCESSFUL
            return (self._inventory.close(client, code, "association timed out"),)
        due_ms = client.active_ms + self._settings.idle_timeout_ms
        if due_ms > now_ms:
            return (WakeAt((LINE_TIMER, line), due_ms),)
        return (self._inventory.close(client, CloseCode.GOING_AWAY, "idle for too long"),)

    def _on_requested(self, event: Requested, now_ms: int) -> Sequence[Command]:
        """A broker serves its clients; nothing on its own side asks it for anything."""
        del event, now_ms
        return ()

    def _on_stopping(self, event: Stopping, now_ms: int) -> Sequence[Command]:
        del event, now_ms
        self._stopping = True
        return [
            self._inventory.close(client, CloseCode.GOING_AWAY, "the broker stops")
            for client in self._lines.values()
            if client.state is not State.CLOSING
        ]


def _query(packet: Packet | None) -> Sequence[str]:
    """What an inventory_request asks for; the codec has seen to it that it asks."""
    return packet.data.query if packet and isinstance(packet.data, InventoryRequest) else ()
