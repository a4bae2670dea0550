"""Messages to one actor: delivered, queued until it is back, or given up."""

from typing import Final

import msgspec

from wireloom.protocols.signalhub.constants import (
    SEND_TTL_MS,
    DeliveryStatus,
    Detail,
    ErrorCode,
)
from wireloom.protocols.signalhub.envelope import Inner
from wireloom.protocols.signalhub.hub.answers import RESERVED, Answers, fault, refused
from wireloom.protocols.signalhub.hub.connections import Client, Clients, State
from wireloom.protocols.signalhub.hub.directory import Directory, Registration
from wireloom.protocols.signalhub.hub.mailboxes import Mailboxes, Parcel, Report, Reports
from wireloom.protocols.signalhub.hub.outgoing import (
    UNPORTABLE,
    Forwarding,
    Outgoing,
    is_reserved,
    notes_of,
    remaining_ms,
    template,
)
from wireloom.protocols.signalhub.hub.settings import HubSettings
from wireloom.protocols.signalhub.integrity import expires_ms
from wireloom.protocols.signalhub.messages import DeliveryAck, Error, Send, UnknownActor
from wireloom.protocols.signalhub.payloads import DeliveryAckPayload, UnknownActorPayload
from wireloom.wire import session
from wireloom.wire.outcome import Outcome, Reason
from wireloom.wire.session import Conclude, Turn, WakeAt
from wireloom.wire.shares import Shares

PARCELS_TIMER: Final = "parcels"
REPORTS_TIMER: Final = "reports"
FLUSH_TIMER: Final = "flush"

_CONNECTED: Final = State.CONNECTED
_FORWARDED: Final = Outcome.FORWARDED
_DELIVERED: Final = DeliveryStatus.DELIVERED
"""Named once: the interpreter looks up a member of an enum slowly."""

_TEXT: Final = True
_write: Final = msgspec.json.Encoder().encode
_read: Final = msgspec.json.Decoder().decode


class Delivery:
    """Point to point.

    Args:
        settings: The hub's.
        answers: What answers senders.
        outgoing: What writes frames.
        clients: Who is connected.
        directory: Who is registered.
    """

    def __init__(
        self,
        settings: HubSettings,
        answers: Answers,
        outgoing: Outgoing,
        clients: Clients,
        directory: Directory,
    ) -> None:
        self.waiting = Shares(settings.max_all_queued, settings.max_queued_size)
        self.mailboxes = Mailboxes(settings, self.waiting)
        self.reports = Reports(settings, self.waiting)
        self._boxes = self.mailboxes.boxes
        self._settings = settings
        self._answers = answers
        self._outgoing = outgoing
        self._clients = clients
        self._directory = directory
        self._max_message_size = settings.max_message_size

    def handle_send(self, turn: Turn, client: Client, message: Send) -> Conclude:
        """Passes a message on, or lets it wait for its target."""
        if is_reserved(message.payload.message):
            return self._answers.forbid(turn, client, message, "send", RESERVED)
        now_ms, target = turn.now_ms, message.payload.target_address
        registration = self._directory.find(target, now_ms)
        if registration is None:
            return self._unknown(turn, client, message)
        there = registration.owner.client
        if there is None or there.state is not _CONNECTED or target in self._boxes:
            return self._queue(turn, client, message)
        try:
            raw = self._frame(turn, client, message, there, registration)
        except UNPORTABLE as error:
            return self._unfit(turn, client, message, error)
        if len(raw) > self._max_message_size:
            to = client.name(message)
            return self._answers.too_large(turn, client, len(raw), message.id, to=to)
        turn.commands.append(session.Send(there.line, raw, there.text, _FORWARDED))
        self._outgoing.meter.add(1, now_ms)
        self._acknowledge(turn, client, message, _DELIVERED)
        return client.sent

    def flush(self, turn: Turn, client: Client) -> None:
        """Delivers all that waits for the actor of a client that can take it again."""
        for address in sorted(client.actor.registrations):
            self.flush_address(turn, address)
        reports = self.reports.empty(client.address)
        for report in reports:
            self._time_out(turn, client, report)
        turn.commands.extend(report.forget() for report in reports)

    def flush_address(self, turn: Turn, address: str) -> None:
        """Delivers what waits for an address, if its actor can take it: a slice now (R53)."""
        now_ms, budget = turn.now_ms, self._outgoing.budget
        registration = self._directory.find(address, now_ms)
        there = None if registration is None else registration.owner.client
        if registration is None or there is None or there.state is not _CONNECTED:
            return
        parcels = []
        while round(budget.left(now_ms)) > 0 and (parcel := self.mailboxes.take(address)):
            parcels.append(parcel)
            is_late = parcel.deadline_ms < now_ms
            if is_late or not self._hand_over(turn, parcel, registration, there):
                self._give_up(turn, parcel)
        # Last, all together: nothing that is sent has to wait for it.
        turn.commands.extend(parcel.forget() for parcel in parcels)
        if address in self._boxes:
            at_ms = now_ms + self._settings.slice_pause_ms
            turn.commands.append(WakeAt((FLUSH_TIMER, address), at_ms))

    def expire_parcels(self, turn: Turn, address: str) -> None:
        """Gives up what has waited too long for an address."""
        parcels = self.mailboxes.expired(address, turn.now_ms)
        for parcel in parcels:
            self._give_up(turn, parcel)
        turn.commands.extend(parcel.forget() for parcel in parcels)
        self.watch_parcels(turn, address)

    def expire_reports(self, turn: Turn, owner: str) -> None:
        """Forgets failures that have waited too long for their sender."""
        reports = self.reports.expired(owner, turn.now_ms)
        turn.commands.extend(report.forget() for report in reports)
        self.watch_reports(turn, owner)

    def watch_parcels(self, turn: Turn, address: str) -> None:
        """Sets the timer for the first parcel that will have waited too long."""
        deadline_ms = self.mailboxes.next_deadline_ms(address)
        if deadline_ms is not None:
            turn.commands.append(WakeAt((PARCELS_TIMER, address), deadline_ms + 1))

    def watch_reports(self, turn: Turn, owner: str) -> None:
        """Sets the timer for the first report that will have waited too long."""
        end_ms = self.reports.next_end_ms(owner)
        if end_ms is not None:
            turn.commands.append(WakeAt((REPORTS_TIMER, owner), end_ms))

    def _frame(
        self, turn: Turn, client: Client, message: Send, there: Client, target: Registration
    ) -> bytes:
        """What the recipient gets: the application's message in the hub's envelope (R34)."""
        outgoing, notes = self._outgoing, notes_of(message.metadata)
        if there.text and not notes:
            voice = client.wire_name(message)[_TEXT]
            return outgoing.to_one(turn, voice, message, target.wire[_TEXT])
        ttl = remaining_ms(expires_ms(message), turn.now_ms)
        source, inner = client.name(message), message.payload.message
        passed = outgoing.forwarded(turn, source, inner, message.id, ttl=ttl, notes=notes)
        turn.ids.number += 1
        frame = template(passed, there.encoding)
        return frame.to(target.wire[there.text], turn.ids.number)

    def _acknowledge(
        self, turn: Turn, client: Client, message: Send, status: DeliveryStatus
    ) -> None:
        raw = b""
        is_ask = message.pattern == "ask" or message.is_ask
        if is_ask and client.text:
            to = client.wire_name(message)[_TEXT]
            raw = self._outgoing.receipt(turn, to, message.id, status)
            turn.commands.append(session.Send(client.line, raw, _TEXT))
        elif is_ask:
            payload = DeliveryAckPayload(
                message_id=message.id, delivered_at=turn.now_ms, status=status
            )
            raw = self._answers.answer(turn, client, message, DeliveryAck, payload)
        self._answers.remember(client, message, raw)

    def _queue(self, turn: Turn, client: Client, message: Send) -> Conclude:
        parcel = self._parcel(turn, client, message)
        if parcel.deadline_ms < turn.now_ms:
            return self._expired(turn, client, message)
        if not self.mailboxes.holds(parcel):
            stored = self.mailboxes.offer(parcel)
            if stored is None:
                return self._no_room(turn, client, message)
            turn.commands.append(stored)
            self.watch_parcels(turn, parcel.target)
        self._acknowledge(turn, client, message, DeliveryStatus.QUEUED)
        return Conclude(Outcome.QUEUED, None, client.address)

    def _hand_over(self, turn: Turn, parcel: Parcel, target: Registration, there: Client) -> bool:
        """Sends a parcel; gives whether the recipient's encoding can carry it."""
        outgoing = self._outgoing
        inner = Inner(type=parcel.type, payload=_read(parcel.payload))
        ttl, notes = remaining_ms(parcel.deadline_ms, turn.now_ms), parcel.metadata
        passed = outgoing.forwarded(turn, parcel.sender, inner, parcel.id, ttl=ttl, notes=notes)
        frame = Forwarding(passed, self._max_message_size).template(text=there.text)
        if frame is None:
            return False
        turn.ids.number += 1
        raw = frame.to(target.wire[there.text], turn.ids.number)
        turn.commands.append(session.Send(there.line, raw, there.text, Outcome.FORWARDED))
        outgoing.budget.spend(turn.now_ms, len(raw))
        outgoing.meter.add(1, turn.now_ms)
        return True

    def _give_up(self, turn: Turn, parcel: Parcel) -> None:
        """Tells the sender that its message did not arrive, now or when it is back (R39)."""
        owner = self._clients.actors.get(parcel.owner)
        if parcel.ask and owner is not None and owner.client is not None:
            self._time_out(turn, owner.client, parcel)
        elif parcel.ask:
            self._note(turn, parcel)

    def _note(self, turn: Turn, parcel: Parcel) -> None:
        report = parcel.report(turn.now_ms + self._settings.report_ms)
        oldest = self.reports.put(report)
        turn.commands.append(report.store())
        if oldest is not None:
            turn.commands.append(oldest.forget())
        self.watch_reports(turn, parcel.owner)

    def _time_out(self, turn: Turn, client: Client, about: Parcel | Report) -> None:
        text = "The message was not delivered in time"
        payload = fault(ErrorCode.TIMEOUT, text, targetAddress=about.target)
        self._answers.tell(turn, client, Error, payload, answers=about.id, to=about.sender)

    def _unknown(self, turn: Turn, client: Client, message: Send) -> Conclude:
        if message.is_ask:
            payload = UnknownActorPayload(
                actor_address=message.payload.target_address,
                message="The actor is not registered with this hub",
            )
            self._answers.answer(turn, client, message, UnknownActor, payload)
        return refused(client, Reason.UNKNOWN_DESTINATION)

    def _unfit(self, turn: Turn, client: Client, message: Send, error: Exception) -> Conclude:
        if message.is_ask:
            code, text = ErrorCode.INTERNAL_ERROR, f"cannot be passed on: {error}"
            payload = fault(code, text, retryable=False, reason=Detail.NOT_PORTABLE)
            self._answers.answer(turn, client, message, Error, payload)
        return refused(client, Reason.INTERNAL)

    def _expired(self, turn: Turn, client: Client, message: Send) -> Conclude:
        if message.is_ask:
            payload = fault(ErrorCode.MESSAGE_EXPIRED, "The lifetime is over")
            self._answers.answer(turn, client, message, Error, payload)
        return Conclude(Outcome.EXPIRED, None, client.address)

    def _no_room(self, turn: Turn, client: Client, message: Send) -> Conclude:
        if not message.is_ask:
            return refused(client, Reason.QUEUE_FULL)
        text = "Too many messages wait for the actor"
        return self._answers.full(turn, client, message, text, Detail.QUEUE_FULL)

    def _parcel(self, turn: Turn, client: Client, message: Send) -> Parcel:
        """What waits of a send, for as long as it wants (R10) and the hub grants (R52)."""
        inner = message.payload.message
        ttl = message.ttl if isinstance(message.ttl, int) else SEND_TTL_MS
        return Parcel(
            id=message.id,
            sender=client.name(message),
            owner=client.address,
            target=message.payload.target_address,
            ask=message.is_ask,
            type=inner.type,
            payload=_write(inner.payload),
            metadata=notes_of(message.metadata),
            deadline_ms=min(message.timestamp + ttl, turn.now_ms + self._settings.max_ttl_ms),
            account=client.account,
        )
