"""A Cthun broker: events in, commands out.

A connection associates first, under a URI that its certificate proves. From then on it sends
messages in that name, and gets those that others send to it. The broker answers inventory
requests itself. All else is in `delivery`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from wireloom.protocols.cthun.broker.clients import Client, State, Step
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
    Conclude,
    Congested,
    Event,
    FrameReceived,
    FrameRefused,
    Line,
    Opened,
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
        self._replies = Replies(settings, self._inventory)
        self._delivery = Delivery(settings, self._inventory, self._replies)
        self._later = self._delivery.later
        self.slow: Mapping[str, int] = self._replies.slow
        """How often a client was cut because it did not read, by its URI."""
        self._own_uris = {BROKER_URI, settings.uri}
        self._stopping = False
        self._handlers: dict[type[Event], Callable[[Turn, Any], None]] = {
            Opened: self._on_opened,
            Alive: self._on_alive,
            Congested: self._on_congested,
            Closed: self._on_closed,
            TimerFired: self._on_timer,
            Stopping: self._on_stopping,
        }
        self._answers: dict[str, Callable[[Turn, Client, Taken], Conclude]] = {
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
        self._delivery.restore(turn, records)

    def handle(self, event: Event, turn: Turn) -> None:
        """Appends what is to be done about an event.

        A broker dials nobody, and nothing on its own side asks it for anything: it does nothing
        about events that speak of that.
        """
        if type(event) is FrameReceived:
            turn.commands.append(self._on_frame(turn, event))
        elif type(event) is FrameRefused:
            turn.commands.append(self._on_refused(turn, event))
        else:
            handler = self._handlers.get(type(event))
            if handler is not None:
                handler(turn, event)

    def _on_frame(self, turn: Turn, event: FrameReceived) -> Conclude:
        raw = event.raw
        client = self._lines.get(event.line)
        if client is None:
            return Conclude(Outcome.REJECTED, Reason.UNAUTHENTICATED)
        if client.state is not _ASSOCIATED:
            refusal = self._early_refusal(turn, client, len(raw))
            if refusal is not None:
                return refusal
        client.active_ms = turn.now_ms
        try:
            if event.text:
                raise MalformedError("a message is binary")  # R40
            taken = self._intake.take(raw, client.uri)
        except WireError as error:
            return self._unread(turn, client, error)
        if taken[2] is None:
            return self._delivery.take(turn, client, taken, raw)
        return self._take_unusual(turn, client, taken, raw)

    def _early_refusal(self, turn: Turn, client: Client, size: int) -> Conclude | None:
        """Why a connection that is not associated is not heard: little is, nothing large (R51)."""
        if client.state is _CLOSING:
            return Conclude(Outcome.REJECTED, Reason.UNAUTHENTICATED, client.uri)
        client.early_count += 1
        if client.early_count > self._settings.early_count:
            code = CloseCode.ASSOCIATION_UNSUCCESSFUL
            self._inventory.close(turn, client, code, "too much before an association")
            return Conclude(Outcome.REJECTED, Reason.RATE_LIMITED)
        if size > self._settings.early_size:
            words = too_large("Message", size, self._settings.early_size)
            return self._unread(turn, client, BoundError(f"{words} {_EARLY}"))
        return None

    def _on_refused(self, turn: Turn, event: FrameRefused) -> Conclude:
        """Answers a frame that the link did not read because of its size."""
        client = self._lines.get(event.line)
        if client is None or client.state is _CLOSING:
            return Conclude(Outcome.REJECTED, Reason.UNAUTHENTICATED)
        words = too_large("Message", event.size, event.limit)
        if client.state is State.OPEN:
            words = f"{words} {_EARLY}"
        return self._unread(turn, client, BoundError(words))

    def _take_unusual(self, turn: Turn, client: Client, taken: Taken, raw: bytes) -> Conclude:
        """Takes a message of which more had to be read than an envelope in the sender's name."""
        envelope = taken[0]
        if envelope.sender != client.uri and envelope.message_type != _REQUEST:  # R29
            why = Complaint.NOT_AUTHENTICATED, Reason.UNAUTHENTICATED
            return self._delivery.refuse(turn, client, envelope, *why)
        if len(envelope.message_type) > self._settings.max_type_size:
            why = Complaint.TYPE_TOO_LONG, Reason.TOO_LARGE
            return self._delivery.refuse(turn, client, envelope, *why)
        if envelope.message_type in BROKER_TYPES:
            answer = self._answers.get(envelope.message_type, self._refuse_broker_talk)
            return answer(turn, client, taken)
        return self._delivery.take(turn, client, taken, raw)

    def _unread(self, turn: Turn, client: Client, error: WireError) -> Conclude:
        """Says why a message was not read, and of which one if its envelope was."""
        words = Complaint.UNDECODABLE.value
        if isinstance(error, BoundError):
            words = error.detail
            if error.envelope is not None and error.envelope.sender == client.uri:
                return self._delivery.refuse(turn, client, error.envelope, words, error.reason)
        self._replies.tell(turn, client, ErrorMessage(description=words))
        return Conclude(Outcome.REJECTED, error.reason, client.uri)

    def _refuse_broker_talk(self, turn: Turn, client: Client, taken: Taken) -> Conclude:
        """What only brokers say is no client's to say, whomever it is for (R39)."""
        why = Complaint.NOT_AUTHORIZED, Reason.UNAUTHORIZED
        return self._delivery.refuse(turn, client, taken[0], *why)

    def _tell_inventory(self, turn: Turn, client: Client, taken: Taken) -> Conclude:
        envelope, expires_ms, packet = taken
        if not self._own_uris.issuperset(envelope.targets):
            return self._refuse_broker_talk(turn, client, taken)
        if expires_ms <= turn.now_ms:
            return self._delivery.expired_on_arrival(turn, client, envelope)
        if not self._replies.may_ask(client, turn.now_ms):
            busy = Complaint.BUSY, Reason.RATE_LIMITED
            return self._delivery.refuse(turn, client, envelope, *busy)
        response = InventoryResponse(uris=tuple(self._inventory.answer(_query(packet))))
        self._replies.tell(turn, client, response)
        return Conclude(Outcome.ACCEPTED, None, client.uri, envelope.message_type)

    def _associate(self, turn: Turn, client: Client, taken: Taken) -> Conclude:
        envelope, expires_ms, _ = taken
        refusal = self._association_refusal(client, envelope)
        if refusal is None and expires_ms <= turn.now_ms:
            refusal = Complaint.EXPIRED, None
        if refusal is None:
            return self._associated(turn, client, envelope)
        complaint, reason = refusal
        outcome = Outcome.EXPIRED if reason is None else Outcome.REJECTED
        response = AssociateResponse(id=envelope.id, success=False, reason=complaint.value)
        self._replies.tell(turn, client, response, to=envelope.sender)
        if client.state is not State.CLOSING:
            code = CloseCode.ASSOCIATION_UNSUCCESSFUL
            self._inventory.close(turn, client, code, "association unsuccessful")
        return Conclude(outcome, reason, client.uri, _REQUEST)

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

    def _associated(self, turn: Turn, client: Client, envelope: Envelope) -> Conclude:
        uri, idle_ms = envelope.sender, self._settings.idle_timeout_ms
        former = self._inventory.clients.get(uri)
        if former is not None:
            self._inventory.close(turn, former, CloseCode.SUPERSEDED, "superseded")
        client.associate(uri)
        self._inventory.add(uri, client)
        turn.commands.append(WakeAt((LINE_TIMER, client.line), turn.now_ms + idle_ms))
        turn.commands.append(Admit(client.line))
        self._replies.tell(turn, client, AssociateResponse(id=envelope.id, success=True))
        self._later.welcome(turn, uri)
        return Conclude(Outcome.ACCEPTED, None, uri, _REQUEST)

    def _on_opened(self, turn: Turn, event: Opened) -> None:
        now_ms = turn.now_ms
        client = self._lines[event.line] = Client(event.line, event.identity, now_ms, event.peer)
        code, close = CloseCode.UNAVAILABLE, self._inventory.close
        if self._stopping:
            close(turn, client, code, "not running")
        elif len(self._lines) > self._settings.max_connection_count:
            close(turn, client, code, "no room")
        elif event.identity is None and not self._settings.trust_sender:
            close(turn, client, CloseCode.NO_CERTIFICATE, "no client certificate")
        else:
            due_ms = now_ms + self._settings.association_timeout_ms
            turn.commands.append(WakeAt((LINE_TIMER, event.line), due_ms))

    def _on_alive(self, turn: Turn, event: Alive) -> None:
        client = self._lines.get(event.line)
        if client is not None:
            client.active_ms = turn.now_ms

    def _on_congested(self, turn: Turn, event: Congested) -> None:
        client = self._lines.get(event.line)
        if client is not None and client.state is not State.CLOSING:
            self._later.congested(turn, client, event.frames, event.bytes)

    def _on_closed(self, turn: Turn, event: Closed) -> None:
        client = self._lines.pop(event.line, None)
        if client is None:
            return
        self._inventory.remove(client)
        client.advance(Step.LOSE)
        turn.commands.append(WakeAt((LINE_TIMER, event.line), None))
        self._later.leave(turn, client)

    def _on_timer(self, turn: Turn, event: TimerFired) -> None:
        match event.timer:
            case (str(kind), int(line)) if kind == LINE_TIMER:
                self._on_line_timer(turn, line)
            case (str(kind), str(uri)) if kind == REDELIVERY_TIMER:
                self._later.redeliver(turn, uri)
            case str(kind) if kind == EXPIRY_TIMER:
                self._later.expire(turn)
            case str(kind) if kind == SLICE_TIMER:
                self._later.deliver(turn)

    def _on_line_timer(self, turn: Turn, line: Line) -> None:
        """Ends a connection that did not associate in time, or that has gone silent."""
        client = self._lines.get(line)
        if client is None or client.state is State.CLOSING:
            return
        if client.state is State.OPEN:
            code = CloseCode.ASSOCIATION_UNSUCCESSFUL
            self._inventory.close(turn, client, code, "association timed out")
            return
        due_ms = client.active_ms + self._settings.idle_timeout_ms
        if due_ms > turn.now_ms:
            turn.commands.append(WakeAt((LINE_TIMER, line), due_ms))
        else:
            self._inventory.close(turn, client, CloseCode.GOING_AWAY, "idle for too long")

    def _on_stopping(self, turn: Turn, event: Stopping) -> None:
        del event
        self._stopping = True
        for client in self._lines.values():
            if client.state is not State.CLOSING:
                self._inventory.close(turn, client, CloseCode.GOING_AWAY, "the broker stops")


def _query(packet: Packet | None) -> Sequence[str]:
    """What an inventory_request asks for; the codec has seen to it that it asks."""
    return packet.data.query if packet and isinstance(packet.data, InventoryRequest) else ()
