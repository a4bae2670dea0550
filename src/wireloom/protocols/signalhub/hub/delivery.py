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
from wireloom.protocols.signalhub.hub.desk import Desk
from wireloom.protocols.signalhub.hub.dialects import Written, written
from wireloom.protocols.signalhub.hub.directory import Directory, Registration
from wireloom.protocols.signalhub.hub.express import Express
from wireloom.protocols.signalhub.hub.forwarding import (
    UNPORTABLE,
    Forwarding,
    content,
    is_reserved,
    noted,
    remaining_ms,
)
from wireloom.protocols.signalhub.hub.mailboxes import Mailboxes, Parcel, Report, Reports
from wireloom.protocols.signalhub.hub.roster import Connection
from wireloom.protocols.signalhub.integrity import expires_ms
from wireloom.protocols.signalhub.messages import (
    DeliveryAck,
    Send,
    UnknownActor,
)
from wireloom.protocols.signalhub.payloads import (
    DeliveryAckPayload,
    UnknownActorPayload,
)
from wireloom.wire import session
from wireloom.wire.outcome import Outcome, Reason
from wireloom.wire.session import Conclude, WakeAt
from wireloom.wire.shares import Shares

PARCELS_TIMER: Final = "parcels"
REPORTS_TIMER: Final = "reports"
FLUSH_TIMER: Final = "flush"

_FORWARDED: Final = Outcome.FORWARDED
_DELIVERED: Final = DeliveryStatus.DELIVERED
_TEXT: Final = True
"""Named once: the interpreter looks up a member of an enum slowly."""

_write: Final = msgspec.json.Encoder().encode
_read: Final = msgspec.json.Decoder().decode


class Delivery:
    """Point to point."""

    def __init__(self, desk: Desk, directory: Directory) -> None:
        self.waiting = Shares(desk.settings.max_all_queued, desk.settings.max_queued_size)
        self.mailboxes = Mailboxes(desk.settings, self.waiting)
        self.reports = Reports(desk.settings, self.waiting)
        self._boxes = self.mailboxes.boxes
        self._desk = desk
        self._directory = directory
        self._express = Express(desk.written[True], desk.id_head)

    def handle_send(self, connection: Connection, message: Send) -> Conclude:
        """Passes a message on, or lets it wait for its target."""
        desk = self._desk
        if is_reserved(message.payload.message):
            return desk.forbid(connection, message, "send", "types of the hub are its own")
        self._express.at(desk.now_ms)
        target = message.payload.target_address
        registration = self._directory.find(target, desk.now_ms)
        if registration is None:
            return self._unknown(connection, message)
        there = registration.owner.connection
        if there is None or there.paused or target in self._boxes:
            return self._queue(connection, message)
        try:
            actor = connection.actor
            voice = actor.names.get(message.from_) or actor.written
            raw = self._frame(voice, message, there, registration)
        except UNPORTABLE as error:
            return self._unfit(connection, message, error)
        if len(raw) > desk.settings.max_message_size:
            return desk.too_large(connection, len(raw), message.id, to=connection.name(message))
        desk.out.append(session.Send(there.line, raw, there.text, _FORWARDED))
        desk.meter.add(1, desk.now_ms)
        self._acknowledge(connection, voice, message, _DELIVERED)
        return connection.sent

    def flush(self, connection: Connection) -> None:
        """Delivers all that waits for the actor of a connection that can take it again."""
        for address in sorted(connection.actor.registrations):
            self.flush_address(address)
        reports = self.reports.empty(connection.address)
        for report in reports:
            self._time_out(connection, report)
        self._desk.out.extend(report.forget() for report in reports)

    def flush_address(self, address: str) -> None:
        """Delivers what waits for an address, if its actor can take it: a slice now (R53)."""
        desk = self._desk
        registration = self._directory.find(address, desk.now_ms)
        there = None if registration is None else registration.owner.connection
        if registration is None or there is None or there.paused:
            return
        parcels = []
        while desk.budget.left(desk.now_ms) > 0 and (parcel := self.mailboxes.take(address)):
            parcels.append(parcel)
            if parcel.deadline_ms < desk.now_ms or not self._hand_over(parcel, registration, there):
                self._give_up(parcel)
        # Last, all together: nothing that is sent has to wait for it.
        desk.out.extend(parcel.forget() for parcel in parcels)
        if address in self._boxes:
            at_ms = desk.now_ms + desk.settings.slice_pause_ms
            desk.out.append(WakeAt((FLUSH_TIMER, address), at_ms))

    def expire_parcels(self, address: str) -> None:
        """Gives up what has waited too long for an address."""
        desk = self._desk
        parcels = self.mailboxes.expired(address, desk.now_ms)
        for parcel in parcels:
            self._give_up(parcel)
        desk.out.extend(parcel.forget() for parcel in parcels)
        self.watch_parcels(address)

    def expire_reports(self, owner: str) -> None:
        """Forgets failures that have waited too long for their sender."""
        self._desk.out.extend(
            report.forget() for report in self.reports.expired(owner, self._desk.now_ms)
        )
        self.watch_reports(owner)

    def watch_parcels(self, address: str) -> None:
        """Sets the timer for the first parcel that will have waited too long."""
        deadline_ms = self.mailboxes.next_deadline_ms(address)
        if deadline_ms is not None:
            self._desk.out.append(WakeAt((PARCELS_TIMER, address), deadline_ms + 1))

    def watch_reports(self, owner: str) -> None:
        """Sets the timer for the first report that will have waited too long."""
        end_ms = self.reports.next_end_ms(owner)
        if end_ms is not None:
            self._desk.out.append(WakeAt((REPORTS_TIMER, owner), end_ms))

    def _frame(
        self, voice: Written, message: Send, there: Connection, target: Registration
    ) -> bytes:
        """What the recipient gets: the application's message in the hub's envelope (R34)."""
        desk, now_ms, inner = self._desk, self._desk.now_ms, message.payload.message
        ends_ms, notes = expires_ms(message), noted(message.metadata)
        desk.ids.number += 1
        if there.text and not notes:
            source, to = voice[True], target.written[True]
            ttl = remaining_ms(ends_ms, now_ms)
            return self._express.message(
                desk.ids.number, source, to, inner, message.id.encode(), ttl
            )
        about = content(desk, inner, message.id, ends_ms, notes)
        letter = there.dialect.letter(desk.id_head, voice, about)
        return letter.to(target.written[there.text], desk.ids.number)

    def _acknowledge(
        self, connection: Connection, voice: Written, message: Send, status: DeliveryStatus
    ) -> None:
        desk = self._desk
        raw = b""
        is_ask = message.pattern == "ask" or message.is_ask
        if is_ask and connection.text:
            desk.ids.number += 1
            raw = self._express.receipt(desk.ids.number, voice[True], message.id.encode(), status)
            desk.out.append(session.Send(connection.line, raw, _TEXT))
        elif is_ask:
            payload = DeliveryAckPayload(
                message_id=message.id, delivered_at=desk.now_ms, status=status
            )
            raw = desk.answer(connection, message, DeliveryAck, payload)
        desk.seen.remember(connection.address, message.id, raw)

    def _queue(self, connection: Connection, message: Send) -> Conclude:
        desk = self._desk
        parcel = self._parcel(connection, message)
        if parcel.deadline_ms < desk.now_ms:
            return self._expired(connection, message)
        if not self.mailboxes.holds(parcel):
            stored = self.mailboxes.offer(parcel)
            if stored is None:
                return self._no_room(connection, message)
            desk.out.append(stored)
            self.watch_parcels(parcel.target)
        self._acknowledge(connection, connection.voice(message), message, DeliveryStatus.QUEUED)
        return Conclude(Outcome.QUEUED, None, connection.address)

    def _hand_over(self, parcel: Parcel, target: Registration, there: Connection) -> bool:
        """Sends a parcel; gives whether the recipient's encoding can carry it."""
        desk = self._desk
        inner = Inner(type=parcel.type, payload=_read(parcel.payload))
        about = content(desk, inner, parcel.id, parcel.deadline_ms, parcel.metadata)
        letter = Forwarding(desk, written(parcel.sender), about).letter(text=there.text)
        if letter is None:
            return False
        desk.ids.number += 1
        raw = letter.to(target.written[there.text], desk.ids.number)
        desk.out.append(session.Send(there.line, raw, there.text, Outcome.FORWARDED))
        desk.budget.spend(len(raw), desk.now_ms)
        desk.meter.add(1, desk.now_ms)
        return True

    def _give_up(self, parcel: Parcel) -> None:
        """Tells the sender that its message did not arrive, now or when it is back (R39)."""
        desk = self._desk
        owner = desk.roster.actors.get(parcel.owner)
        if parcel.ask and owner is not None and owner.connection is not None:
            self._time_out(owner.connection, parcel)
        elif parcel.ask:
            self._note(parcel)

    def _note(self, parcel: Parcel) -> None:
        desk = self._desk
        report = parcel.report(desk.now_ms + desk.settings.report_ms)
        oldest = self.reports.put(report)
        desk.out.append(report.store())
        if oldest is not None:
            desk.out.append(oldest.forget())
        self.watch_reports(parcel.owner)

    def _time_out(self, connection: Connection, about: Parcel | Report) -> None:
        self._desk.fail(
            connection,
            ErrorCode.TIMEOUT,
            "The message was not delivered in time",
            answers=about.id,
            to=about.sender,
            targetAddress=about.target,
        )

    def _unknown(self, connection: Connection, message: Send) -> Conclude:
        if message.is_ask:
            payload = UnknownActorPayload(
                actor_address=message.payload.target_address,
                message="The actor is not registered with this hub",
            )
            self._desk.answer(connection, message, UnknownActor, payload)
        return self._desk.refused(connection, Reason.UNKNOWN_DESTINATION)

    def _unfit(self, connection: Connection, message: Send, error: Exception) -> Conclude:
        if message.is_ask:
            self._desk.fail(
                connection,
                ErrorCode.INTERNAL_ERROR,
                f"cannot be passed on: {error}",
                answers=message.id,
                to=connection.name(message),
                retryable=False,
                reason=Detail.NOT_PORTABLE,
            )
        return self._desk.refused(connection, Reason.INTERNAL)

    def _expired(self, connection: Connection, message: Send) -> Conclude:
        if message.is_ask:
            code, to = ErrorCode.MESSAGE_EXPIRED, connection.name(message)
            self._desk.fail(connection, code, "The lifetime is over", answers=message.id, to=to)
        return Conclude(Outcome.EXPIRED, None, connection.address)

    def _no_room(self, connection: Connection, message: Send) -> Conclude:
        if not message.is_ask:
            return self._desk.refused(connection, Reason.QUEUE_FULL)
        text = "Too many messages wait for the actor"
        return self._desk.full(connection, message, text, Detail.QUEUE_FULL)

    def _parcel(self, connection: Connection, message: Send) -> Parcel:
        """What waits of a send, for as long as it wants (R10) and the hub grants (R52)."""
        inner, settings = message.payload.message, self._desk.settings
        ttl = message.ttl if isinstance(message.ttl, int) else SEND_TTL_MS
        return Parcel(
            id=message.id,
            sender=connection.name(message),
            owner=connection.address,
            target=message.payload.target_address,
            ask=message.is_ask,
            type=inner.type,
            payload=_write(inner.payload),
            metadata=noted(message.metadata),
            deadline_ms=min(message.timestamp + ttl, self._desk.now_ms + settings.max_ttl_ms),
            account=connection.account,
        )
