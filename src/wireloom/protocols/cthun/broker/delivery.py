"""From a sender to its receivers: at once, later, or never.

A message goes at once to whoever is connected and reads. For all others that it names it is
held, on disk, until they come, read again, or it expires (see `redelivery`). A receiver gets its
messages in the order in which the broker took them.
"""

from collections.abc import Iterable
from typing import Final

from msgspec import UNSET

from wireloom.protocols.cthun.broker.clients import Client
from wireloom.protocols.cthun.broker.intake import NOTED_SIZE, Taken
from wireloom.protocols.cthun.broker.inventory import Inventory
from wireloom.protocols.cthun.broker.kept import Held
from wireloom.protocols.cthun.broker.redelivery import Redelivery
from wireloom.protocols.cthun.broker.replies import Replies
from wireloom.protocols.cthun.broker.settings import BrokerSettings
from wireloom.protocols.cthun.broker.stamps import Stamps
from wireloom.protocols.cthun.constants import BROKER_URI, Complaint
from wireloom.protocols.cthun.messages import (
    BROKER_TYPES,
    DestinationReport,
    Envelope,
    ErrorMessage,
    TtlExpired,
)
from wireloom.wire.outcome import Outcome, Reason
from wireloom.wire.seen import Seen
from wireloom.wire.session import Conclude, Send, Spread, Store, Turn

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
        self._stamps = Stamps(settings.uri)
        self._seen = Seen[str, str | None](2 * settings.seen_count)
        self.later = Redelivery(settings, inventory, replies, self._stamps)
        """What waits."""
        self._own_uris = {BROKER_URI, settings.uri}

    def take(self, turn: Turn, sender: Client, taken: Taken, raw: bytes) -> Conclude:
        """Takes an application's message from a client that is proven to be its sender."""
        envelope, expires_ms, _ = taken
        targets, now_ms = envelope.targets, turn.now_ms
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
            frame = raw + self._stamps.at(now_ms)[0]
            turn.commands.append(Send(receiver.line, frame, _TEXT, _FORWARDED))
            return sender.forwarded
        if self._seen.has(envelope.id, envelope.sender):
            return Conclude(Outcome.DUPLICATE, None, envelope.sender)
        if expires_ms <= now_ms:
            return self.expired_on_arrival(turn, sender, envelope)
        return self._spread(turn, sender, taken, raw)

    def refuse(
        self, turn: Turn, sender: Client, envelope: Envelope, complaint: str, reason: Reason
    ) -> Conclude:
        """Refuses a message and says so to whoever sent it.

        An id under which the broker has taken a message is not named: a copy of it that somebody
        else sends shall not make the broker speak against it (R45).
        """
        taken = self._seen.has(envelope.id, envelope.sender)
        error = ErrorMessage(id=UNSET if taken else envelope.id, description=str(complaint))
        self._replies.tell(turn, sender, error)
        return Conclude(Outcome.REJECTED, reason, sender.uri, listed(envelope))

    def expired_on_arrival(self, turn: Turn, sender: Client, envelope: Envelope) -> Conclude:
        """Tells a sender that its message came too late."""
        self._replies.tell(turn, sender, TtlExpired(id=envelope.id))
        return Conclude(Outcome.EXPIRED, None, sender.uri, listed(envelope))

    def restore(self, turn: Turn, records: Iterable[Store]) -> None:
        """Takes up what an earlier life held."""
        self.later.restore(turn, records)
        for held in self.later.holding.messages():
            self._seen.add(held.id, held.sender)

    def _spread(self, turn: Turn, sender: Client, taken: Taken, raw: bytes) -> Conclude:
        """Takes a message to any number of receivers, of whom some may be away."""
        envelope, now_ms = taken[0], turn.now_ms
        refusal = self._refusal(sender, envelope, now_ms)
        if refusal is not None:
            return self.refuse(turn, sender, envelope, *refusal)
        uris = self._inventory.receivers(envelope.targets)
        frame = raw + self._stamps.at(now_ms).forwarded if len(raw) <= NOTED_SIZE else raw
        here = self.later.reached(uris, len(frame), now_ms)
        held = None
        if len(here) < len(uris):
            reached = {client.uri for client in here}
            owed = [uri for uri in uris if uri not in reached]
            held = self._waiting(sender, taken, owed, raw, now_ms)
        if held and not self.later.holding.covers(held):
            return self.refuse(turn, sender, envelope, Complaint.QUEUE_FULL, Reason.QUEUE_FULL)
        self._seen.add(envelope.id, sender.uri)
        if held:
            self.later.hold(turn, held)
        if envelope.destination_report is True:
            report = DestinationReport(id=envelope.id, targets=tuple(uris))
            self._replies.tell(turn, sender, report)
        self._send(turn, here, frame)
        outcome = Outcome.QUEUED if held else Outcome.FORWARDED if here else Outcome.ACCEPTED
        return Conclude(outcome, None, envelope.sender)

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
            raw=raw + self._stamps.at(now_ms).held if is_noted else raw,
            owner=sender.owner,
        )

    def _send(self, turn: Turn, clients: list[Client], frame: bytes) -> None:
        """Sends one frame to many."""
        lines = []
        for client in clients:
            client.active_ms = turn.now_ms
            if client.ready:  # a sender that does not read may have been cut by its own report
                lines.append(client.line)
        if lines:
            turn.commands.append(Spread(lines, [frame] * len(lines), _TEXT, _FORWARDED))


def listed(envelope: Envelope) -> str | None:
    """The type of a message if it is one of the broker's, which are counted by type."""
    return envelope.message_type if envelope.message_type in BROKER_TYPES else None
