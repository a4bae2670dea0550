"""From a sender to its receivers: at once, later, or never.

A message goes at once to whoever is connected and reads. For all others that it names it is
held, on disk, until they come, read again, or it expires (see `redelivery`). A receiver gets its
messages in the order in which the broker took them.
"""

from collections.abc import Sequence
from typing import Final

from msgspec import UNSET

from wireloom.protocols.cthun.broker.clients import Client
from wireloom.protocols.cthun.broker.intake import NOTED_SIZE, Taken
from wireloom.protocols.cthun.broker.inventory import Inventory
from wireloom.protocols.cthun.broker.kept import Held
from wireloom.protocols.cthun.broker.notes import Notes
from wireloom.protocols.cthun.broker.redelivery import Redelivery
from wireloom.protocols.cthun.broker.replies import Replies
from wireloom.protocols.cthun.broker.seen import Seen
from wireloom.protocols.cthun.broker.settings import BrokerSettings
from wireloom.protocols.cthun.constants import BROKER_URI, Complaint
from wireloom.protocols.cthun.messages import (
    BROKER_TYPES,
    DestinationReport,
    Envelope,
    ErrorMessage,
    TtlExpired,
)
from wireloom.wire.outcome import Outcome, Reason
from wireloom.wire.session import Command, Conclude, Send, Spread, Store

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
        self.later = Redelivery(settings, inventory, replies, self._notes)
        """What waits."""
        self._own_uris = {BROKER_URI, settings.uri}

    def take(self, sender: Client, taken: Taken, raw: bytes, now_ms: int) -> Sequence[Command]:
        """Takes an application's message from a client that is proven to be its sender."""
        envelope, expires_ms, _ = taken
        targets = envelope.targets
        receiver = self._clients.get(targets[0]) if len(targets) == 1 else None
        if (
            receiver is not None
            and receiver.ready
            and expires_ms > now_ms
            and envelope.destination_report is not True
            and len(raw) <= NOTED_SIZE
            and self._seen.add(envelope.id, sender.uri)
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
        self, sender: Client, envelope: Envelope, complaint: str, reason: Reason, now_ms: int
    ) -> list[Command]:
        """Refuses a message and says so to whoever sent it.

        An id under which the broker has taken a message is not named: a copy of it that somebody
        else sends shall not make the broker speak against it (R45).
        """
        taken = self._seen.knows(envelope.id, envelope.sender)
        error = ErrorMessage(id=UNSET if taken else envelope.id, description=str(complaint))
        concluded = Conclude(Outcome.REJECTED, reason, sender.uri, listed(envelope))
        return [concluded, *self._replies.tell(sender, error, now_ms)]

    def expired_on_arrival(self, sender: Client, envelope: Envelope, now_ms: int) -> list[Command]:
        """Tells a sender that its message came too late."""
        concluded = Conclude(Outcome.EXPIRED, None, sender.uri, listed(envelope))
        return [concluded, *self._replies.tell(sender, TtlExpired(id=envelope.id), now_ms)]

    def restore(self, records: list[Store], now_ms: int) -> list[Command]:
        """Takes up what an earlier life held."""
        commands = self.later.restore(records, now_ms)
        for held in self.later.holding.messages():
            self._seen.add(held.id, held.sender)
        return commands

    def _spread(self, sender: Client, taken: Taken, raw: bytes, now_ms: int) -> list[Command]:
        """Takes a message to any number of receivers, of whom some may be away."""
        envelope = taken[0]
        refusal = self._refusal(sender, envelope, now_ms)
        if refusal is not None:
            return self.refuse(sender, envelope, *refusal, now_ms)
        uris = self._inventory.receivers(envelope.targets)
        frame = raw + self._notes.at(now_ms).forwarded if len(raw) <= NOTED_SIZE else raw
        here = self.later.reached(uris, len(frame), now_ms)
        held = None
        if len(here) < len(uris):
            reached = {client.uri for client in here}
            owed = [uri for uri in uris if uri not in reached]
            held = self._waiting(sender, taken, owed, raw, now_ms)
        if held and not self.later.holding.covers(held):
            full = Complaint.QUEUE_FULL, Reason.QUEUE_FULL
            return self.refuse(sender, envelope, *full, now_ms)
        self._seen.add(envelope.id, sender.uri)
        outcome = Outcome.QUEUED if held else Outcome.FORWARDED if here else Outcome.ACCEPTED
        commands = self.later.hold(held, now_ms) if held else []
        commands.append(Conclude(outcome, None, envelope.sender))
        if envelope.destination_report is True:
            report = DestinationReport(id=envelope.id, targets=tuple(uris))
            commands += self._replies.tell(sender, report, now_ms)
        return commands + self._send(here, frame, now_ms)

    def _refusal(
        self, sender: Client, envelope: Envelope, now_ms: int
    ) -> tuple[Complaint, Reason] | None:
        """Why a message is for nobody (R41, R42), or not now (R46)."""
        targets, limits = envelope.targets, self._settings
        if len(targets) > limits.max_target_count:
            return Complaint.TOO_MANY_TARGETS, Reason.TOO_LARGE
        if max(map(len, targets), default=0) > limits.max_uri_size:
            return Complaint.TARGET_TOO_LONG, Reason.TOO_LARGE
        if not self._own_uris.isdisjoint(targets):
            return Complaint.UNHANDLED, Reason.UNKNOWN_TYPE
        if envelope.destination_report is True and not self._replies.may_ask(sender, now_ms):
            return Complaint.BUSY, Reason.RATE_LIMITED
        return None

    def _waiting(
        self, sender: Client, taken: Taken, owed: list[str], raw: bytes, now_ms: int
    ) -> Held:
        """The message as it waits for those it cannot go to now."""
        envelope, expires_ms, _ = taken
        is_noted = len(raw) <= NOTED_SIZE
        return Held(
            id=envelope.id,
            sender=envelope.sender,
            expires_ms=min(expires_ms, now_ms + self._settings.max_lifetime_ms),  # R47
            owed=owed,
            noted=is_noted,
            raw=raw + self._notes.at(now_ms).held if is_noted else raw,
            owner=sender.owner,
        )

    def _send(self, clients: list[Client], frame: bytes, now_ms: int) -> list[Command]:
        """One frame to many."""
        lines = []
        for client in clients:
            client.active_ms = now_ms
            if client.ready:  # a sender that does not read may have been cut by its own report
                lines.append(client.line)
        return [Spread(lines, [frame] * len(lines), _TEXT, _FORWARDED)] if lines else []


def listed(envelope: Envelope) -> str | None:
    """The type of a message if it is one of the broker's, which are counted by type."""
    return envelope.message_type if envelope.message_type in BROKER_TYPES else None
