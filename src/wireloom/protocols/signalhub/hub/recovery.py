"""What a hub takes up from an earlier life: registrations, subscriptions, and what waits."""

from collections.abc import Callable, Iterable
from typing import Final, TypeVar

from wireloom.protocols.signalhub.hub import directory, mailboxes, topics
from wireloom.protocols.signalhub.hub.connections import Clients
from wireloom.protocols.signalhub.hub.delivery import Delivery
from wireloom.protocols.signalhub.hub.discovery import Discovery
from wireloom.protocols.signalhub.hub.lifecycle import Lifecycle
from wireloom.protocols.signalhub.hub.mailboxes import Parcel, Report
from wireloom.wire.session import Forget, Store, Turn

UNREADABLE_KIND: Final = "hub-unreadable"
"""What records are kept as that could not be read."""

T = TypeVar("T")


class UnreadableRecordError(Exception):
    """A record is damaged, or another version's."""


class Recovery:
    """Puts stored records back to where they came from; what cannot be read is set aside.

    Args:
        hub: The hub's own address.
        clients: Whose records they are.
        discovery: What takes registrations.
        delivery: What takes messages and reports that wait.
        lifecycle: What watches actors that are away.
    """

    def __init__(
        self,
        hub: str,
        clients: Clients,
        discovery: Discovery,
        delivery: Delivery,
        lifecycle: Lifecycle,
    ) -> None:
        self._hub = hub
        self._clients = clients
        self._discovery = discovery
        self._delivery = delivery
        self._lifecycle = lifecycle
        self.unreadable_count = 0
        """Records that were set aside because they cannot be read, earlier ones included."""

    def restore(self, turn: Turn, records: Iterable[Store]) -> None:
        """Takes up all records, whatever their order, and sets the timers that they need."""
        takers = {
            directory.KIND: self._take_registration,
            topics.KIND: self._take_subscription,
            mailboxes.PARCEL_KIND: self._take_parcel,
            mailboxes.REPORT_KIND: self._take_report,
        }
        for record in records:
            self._take(turn, record, takers.get(record.kind))
        self._settle(turn)

    def _take(self, turn: Turn, record: Store, take: Callable[[Turn, Store], bool] | None) -> None:
        """Takes up one record; one that cannot be read is kept under a kind of its own."""
        try:
            if record.kind == UNREADABLE_KIND:
                self.unreadable_count += 1
            elif not _known(take)(turn, record):
                turn.commands.append(Forget(record.kind, record.key))
        except UnreadableRecordError:
            self.unreadable_count += 1
            turn.commands.append(
                Store(UNREADABLE_KIND, f"{record.kind} {record.key}", record.value)
            )
            turn.commands.append(Forget(record.kind, record.key))

    def _settle(self, turn: Turn) -> None:
        """Ends what ended while the hub was away (R42)."""
        for actor in list(self._clients.actors.values()):
            for address in sorted(actor.registrations):
                self._discovery.expire(turn, address)
            if actor.subscriptions and not actor.registrations:
                self._lifecycle.watch_absent(turn, actor.address)
            self._clients.release(actor)

    def _take_registration(self, turn: Turn, record: Store) -> bool:
        del turn
        found = _known(directory.restored(record.value))
        if self._is_own(found.owner, found.listing.actor_address):
            return False
        self._discovery.directory.put(self._clients.actor(found.owner), found)
        return True

    def _take_subscription(self, turn: Turn, record: Store) -> bool:
        del turn
        found = _known(topics.restored(record.value))
        if self._is_own(found.actor):
            return False
        actor = self._clients.actor(found.actor)
        account = found.account or found.actor
        self._lifecycle.topics.add(actor, found.topic, account, durable=True)
        return True

    def _is_own(self, *names: str) -> bool:
        """Whether the hub has since been given an address that was a client's (R51)."""
        return self._hub in names

    def _take_parcel(self, turn: Turn, record: Store) -> bool:
        found = _known(mailboxes.restored(record))
        if not isinstance(found, Parcel):
            raise UnreadableRecordError
        self._delivery.mailboxes.restore(found)
        self._delivery.watch_parcels(turn, found.target)
        return True

    def _take_report(self, turn: Turn, record: Store) -> bool:
        found = _known(mailboxes.restored(record))
        if not isinstance(found, Report):
            raise UnreadableRecordError
        oldest = self._delivery.reports.put(found)
        if oldest is not None:
            turn.commands.append(oldest.forget())
        self._delivery.watch_reports(turn, found.owner)
        return True


def _known(found: T | None) -> T:
    if found is None:
        raise UnreadableRecordError
    return found
