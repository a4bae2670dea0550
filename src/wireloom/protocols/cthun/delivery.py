"""From a sender to its receivers: at once, later, or never.

A message goes at once to whoever is connected and reads. For all others that it names it is
held, on disk, until they come, read again, or it expires. A receiver gets its messages in
the order in which the broker took them.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import UNSET

from wireloom.protocols.cthun.clients import Client
from wireloom.protocols.cthun.constants import BROKER_URI, Complaint
from wireloom.protocols.cthun.held import Held, Holding
from wireloom.protocols.cthun.intake import NOTED_SIZE, Taken, has_room
from wireloom.protocols.cthun.integrity import half_of
from wireloom.protocols.cthun.inventory import Inventory
from wireloom.protocols.cthun.messages import (
    BROKER_TYPES,
    DestinationReport,
    Envelope,
    ErrorMessage,
    TtlExpired,
)
from wireloom.protocols.cthun.notes import Notes
from wireloom.protocols.cthun.replies import Replies
from wireloom.protocols.cthun.seen import Seen
from wireloom.protocols.cthun.settings import BrokerSettings
from wireloom.wire.outcome import Outcome, Reason
from wireloom.wire.session import Command, Conclude, Send, Spread, Store, WakeAt

EXPIRY_TIMER: Final = "expiry"
REDELIVERY_TIMER: Final = "redelivery"
_FORWARDED: Final = Outcome.FORWARDED
_TEXT: Final = False


class Delivery:
    """Delivers the messages of one broker.

    Args:
        settings: The broker's.
        inventory: Who is connected.
        replies: How senders are told.
    """

    def __init__(self, settings: BrokerSettings, inventory: Inventory, replies: Replies) -> None:
        self._settings = settings
        self._inventory = inventory
        self._clients = inventory.clients
        self._replies = replies
        self._notes = Notes(settings.uri)
        self._seen = Seen(settings.seen_count)
        self.holding = Holding(settings)
        """All that waits."""
        self._own_uris = {BROKER_URI, settings.uri}

    def take(self, sender: Client, taken: Taken, raw: bytes, now_ms: int) -> Sequence[Command]:
        """Takes an application's message from a client that is proven to be its sender."""
        envelope, expires_ms, packet = taken
        targets = envelope.targets
        receiver = self._clients.get(targets[0]) if len(targets) == 1 else None
        if (
            receiver is not None
            and receiver.ready
            and expires_ms > now_ms
            and envelope.destination_report is not True
            and len(raw) <= NOTED_SIZE
            and (packet is None or has_room(raw, packet))
            and self._seen.add(envelope.id, envelope.sender)
        ):
            receiver.active_ms = now_ms
            frame = raw + self._notes.at(now_ms)[0]
            return sender.forwarded, Send(receiver.line, frame, _TEXT, _FORWARDED)
        if self._seen.knows(envelope.id, envelope.sender):
            return (Conclude(Outcome.DUPLICATE, None, envelope.sender),)
        if expires_ms <= now_ms:
            return self.expired_on_arrival(sender, envelope, now_ms)
        return self._spread(sender, taken, raw, now_ms)

    def refuse(
        self, sender: Client, envelope: Envelope, complaint: Complaint, reason: Reason, now_ms: int
    ) -> list[Command]:
        """Refuses a message and says so to whoever sent it.

        An id under which the broker has taken a message is not named: a copy of it that somebody
        else sends shall not make the broker speak against it (R45).
        """
        taken = self._seen.knows(envelope.id, envelope.sender)
        error = ErrorMessage(id=UNSET if taken else envelope.id, description=complaint.value)
        concluded = Conclude(Outcome.REJECTED, reason, sender.uri, listed(envelope))
        return [concluded, *self._replies.tell(sender, error, now_ms)]

    def expired_on_arrival(self, sender: Client, envelope: Envelope, now_ms: int) -> list[Command]:
        """Tells a sender that its message came too late."""
        concluded = Conclude(Outcome.EXPIRED, None, sender.uri, listed(envelope))
        return [concluded, *self._replies.tell(sender, TtlExpired(id=envelope.id), now_ms)]

    def welcome(self, client: Client, uri: str, now_ms: int) -> list[Command]:
        """Gives a client that has associated all that waited for it."""
        told: list[Command] = []
        done: list[Command] = []
        for number, notice in self.holding.notices_for(uri):
            told += self._replies.tell(client, TtlExpired(id=notice.id), now_ms)
            done.append(self.holding.drop(number))
        self._refresh([uri])
        return told + self.redeliver(uri, now_ms) + done

    def congested(self, client: Client, count: int, size: int, now_ms: int) -> list[Command]:
        """Holds messages for a client back, or goes on, by what waits to leave for it."""
        limits = self._settings
        client.stalled = count >= limits.stalled_count or size >= limits.stalled_size
        if client.stalled or client.uri is None:
            client.ready = False
            return []
        client.unread_size = 0
        self._refresh([client.uri])
        return self.redeliver(client.uri, now_ms)

    def redeliver(self, uri: str, now_ms: int) -> list[Command]:
        """Tries again what waits for a client, and sets the time of the next attempt (R38)."""
        client = self._clients.get(uri)
        if client is not None and not client.stalled:
            return self._deliver_held(client, uri, now_ms)
        first = self.holding.first_for(uri)
        return [] if first is None else [self._next_attempt(uri, first.expires_ms, now_ms)]

    def expire(self, now_ms: int) -> list[Command]:
        """Ends what has waited for too long; senders hear of it now or when they are back (R33)."""
        told: list[Command] = []
        done: list[Command] = []
        for number, waiting in self.holding.expired(self._settings.burst_count, now_ms):
            done.append(self.holding.drop(number))
            if isinstance(waiting, Held):
                self._refresh(waiting.owed)
                sender = self._clients.get(waiting.sender)
                if sender is None:
                    done.append(self.holding.note(waiting, now_ms))
                else:
                    told += self._replies.tell(sender, TtlExpired(id=waiting.id), now_ms)
        return [*told, *done, WakeAt(EXPIRY_TIMER, self.holding.next_expiry_ms)]

    def restore(self, records: list[Store], now_ms: int) -> list[Command]:
        """Takes up what an earlier life held; attempts and expiries go on."""
        commands = self.holding.restore(records)
        for held in self.holding.messages():
            self._seen.add(held.id, held.sender)
        for uri in self.holding.targets():
            commands += self.redeliver(uri, now_ms)
        return [*commands, WakeAt(EXPIRY_TIMER, self.holding.next_expiry_ms)]

    def _spread(self, sender: Client, taken: Taken, raw: bytes, now_ms: int) -> list[Command]:
        """Takes a message to any number of receivers, of whom some may be away."""
        envelope, _, packet = taken
        refusal = self._refusal(envelope)
        if refusal is not None:
            return self.refuse(sender, envelope, *refusal, now_ms)
        uris = self._inventory.receivers(envelope.targets)
        here = [client for client in map(self._clients.get, uris) if client and client.ready]
        reached = {client.uri for client in here}
        held = self._waiting(taken, [uri for uri in uris if uri not in reached], raw, now_ms)
        if held and not self.holding.covers(held.sender, len(held.owed), len(held.raw)):
            full = Complaint.QUEUE_FULL, Reason.QUEUE_FULL
            return self.refuse(sender, envelope, *full, now_ms)
        self._seen.add(envelope.id, envelope.sender)
        outcome = Outcome.QUEUED if held else Outcome.FORWARDED if here else Outcome.ACCEPTED
        commands = self._hold(held, now_ms) if held else []
        commands.append(Conclude(outcome, None, envelope.sender))
        if envelope.destination_report is True:
            report = DestinationReport(id=envelope.id, targets=tuple(uris))
            commands += self._replies.tell(sender, report, now_ms)
        frame = raw + self._notes.at(now_ms).forwarded if has_room(raw, packet) else raw
        return commands + self._send(here, frame, now_ms)

    def _refusal(self, envelope: Envelope) -> tuple[Complaint, Reason] | None:
        """Why a message is for nobody (R41, R42)."""
        if len(envelope.targets) > self._settings.max_target_count:
            return Complaint.TOO_MANY_TARGETS, Reason.TOO_LARGE
        if not self._own_uris.isdisjoint(envelope.targets):
            return Complaint.UNHANDLED, Reason.UNKNOWN_TYPE
        return None

    def _waiting(self, taken: Taken, owed: list[str], raw: bytes, now_ms: int) -> Held | None:
        """The message as it waits for those it cannot go to now."""
        if not owed:
            return None
        envelope, expires_ms, packet = taken
        noted = has_room(raw, packet)
        return Held(
            id=envelope.id,
            sender=envelope.sender,
            expires_ms=expires_ms,
            owed=owed,
            noted=noted,
            raw=raw + self._notes.at(now_ms).held if noted else raw,
        )

    def _hold(self, held: Held, now_ms: int) -> list[Command]:
        """Stores a message and sets the time of its first new attempt, and of its expiry."""
        idle = [uri for uri in held.owed if not self.holding.owes(uri)]
        expiry_ms = self.holding.next_expiry_ms
        commands: list[Command] = [self.holding.hold(held)]
        if expiry_ms is None or held.expires_ms < expiry_ms:
            commands.append(WakeAt(EXPIRY_TIMER, held.expires_ms))
        return commands + [self._next_attempt(uri, held.expires_ms, now_ms) for uri in idle]

    def _send(self, clients: list[Client], frame: bytes, now_ms: int) -> list[Command]:
        """One frame to many."""
        lines = []
        for client in clients:
            client.active_ms = now_ms
            if client.ready:  # a sender that does not read may have been cut by its own report
                lines.append(client.line)
        return [Spread(lines, [frame] * len(lines), _TEXT, _FORWARDED)] if lines else []

    def _deliver_held(self, client: Client, uri: str, now_ms: int) -> list[Command]:
        """Sends a client some of what waits for it; the rest in another turn, for others' sake."""
        due = self.holding.due_for(uri, now_ms)
        stamp = self._notes.at(now_ms).redelivered
        sent: list[Command] = []
        done: list[Command] = []
        for number, held in due:
            frame = held.raw + stamp if held.noted else held.raw
            sent.append(Send(client.line, frame, _TEXT, _FORWARDED))
            done.append(self.holding.delivered(number, uri))
        if due:
            client.active_ms = now_ms
            again_ms = now_ms if self.holding.owes(uri) else None
            done.append(WakeAt((REDELIVERY_TIMER, uri), again_ms))
        self._refresh([uri])
        return sent + done

    def _refresh(self, uris: Iterable[str]) -> None:
        """Sees anew who can get messages at once."""
        for uri in uris:
            client = self._clients.get(uri)
            if client is not None:
                client.ready = not client.stalled and not self.holding.owes(uri)

    def _next_attempt(self, uri: str, expires_ms: int, now_ms: int) -> WakeAt:
        least, most = self._settings.min_redelivery_ms, self._settings.max_redelivery_ms
        wait_ms = half_of(expires_ms - now_ms, least=least, most=most)
        return WakeAt((REDELIVERY_TIMER, uri), now_ms + wait_ms)


def listed(envelope: Envelope) -> str | None:
    """The type of a message if it is one of the broker's, which are counted by type."""
    return envelope.message_type if envelope.message_type in BROKER_TYPES else None
