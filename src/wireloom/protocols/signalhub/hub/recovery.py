"""What a hub takes up from an earlier life: registrations, subscriptions, and what waits."""

from collections.abc import Callable, Iterable
from typing import Final, TypeVar

from wireloom.protocols.signalhub.hub import directory, mailboxes, topics
from wireloom.protocols.signalhub.hub.delivery import Delivery
from wireloom.protocols.signalhub.hub.desk import Desk
from wireloom.protocols.signalhub.hub.discovery import Discovery
from wireloom.protocols.signalhub.hub.mailboxes import Parcel, Report
from wireloom.protocols.signalhub.hub.reception import Reception
from wireloom.wire.session import Forget, Store

UNREADABLE_KIND: Final = "hub-unreadable"
"""What records are kept as that could not be read."""

T = TypeVar("T")


class UnreadableRecordError(Exception):
    """A record is damaged, or another version's."""


class Recovery:
    """Puts stored records back to where they came from; what cannot be read is set aside."""

    def __init__(
        self,
        desk: Desk,
        discovery: Discovery,
        delivery: Delivery,
        reception: Reception,
    ) -> None:
        self._desk = desk
        self._discovery = discovery
        self._delivery = delivery
        self._reception = reception
        self.unreadable_count = 0
        """Records that were set aside because they cannot be read, earlier ones included."""

    def restore(self, records: Iterable[Store]) -> None:
        """Takes up all records, whatever their order, and sets the timers that they need."""
        takers = {
            directory.KIND: self._take_registration,
            topics.KIND: self._take_subscription,
            mailboxes.PARCEL_KIND: self._take_parcel,
            mailboxes.REPORT_KIND: self._take_report,
        }
        for record in records:
            self._take(record, takers.get(record.kind))
        self._settle()

    def _take(self, record: Store, take: Callable[[Store], bool] | None) -> None:
        """Takes up one record; one that cannot be read is kept under a kind of its own."""
        out = self._desk.out
        try:
            if record.kind == UNREADABLE_KIND:
                self.unreadable_count += 1
            elif not _known(take)(record):
                out.append(Forget(record.kind, record.key))
        except UnreadableRecordError:
            self.unreadable_count += 1
            out.append(Store(UNREADABLE_KIND, f"{record.kind} {record.key}", record.value))
            out.append(Forget(record.kind, record.key))

    def _settle(self) -> None:
        """Ends what ended while the hub was away (R42)."""
        desk = self._desk
        for actor in list(desk.roster.actors.values()):
            for address in sorted(actor.registrations):
                self._discovery.expire(address)
            if actor.subscriptions and not actor.registrations:
                self._reception.watch_absent(actor.address)
            desk.roster.release(actor)

    def _take_registration(self, record: Store) -> bool:
        found = _known(directory.restored(record.value))
        if self._is_own(found.owner, found.shown.actor_address):
            return False
        self._discovery.directory.put(self._desk.roster.actor(found.owner), found)
        return True

    def _take_subscription(self, record: Store) -> bool:
        found = _known(topics.restored(record.value))
        if self._is_own(found.actor):
            return False
        actor = self._desk.roster.actor(found.actor)
        account = found.account or found.actor
        self._reception.topics.add(actor, found.topic, account, durable=True)
        return True

    def _is_own(self, *names: str) -> bool:
        """Whether the hub has since been given an address that was a client's (R51)."""
        return self._desk.settings.address in names

    def _take_parcel(self, record: Store) -> bool:
        found = _known(mailboxes.restored(record))
        if not isinstance(found, Parcel):
            raise UnreadableRecordError
        self._delivery.mailboxes.restore(found)
        self._delivery.watch_parcels(found.target)
        return True

    def _take_report(self, record: Store) -> bool:
        found = _known(mailboxes.restored(record))
        if not isinstance(found, Report):
            raise UnreadableRecordError
        oldest = self._delivery.reports.put(found)
        if oldest is not None:
            self._desk.out.append(oldest.forget())
        self._delivery.watch_reports(found.owner)
        return True


def _known(found: T | None) -> T:
    if found is None:
        raise UnreadableRecordError
    return found
