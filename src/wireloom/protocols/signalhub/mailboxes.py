"""Messages that wait for an actor that is away, and failures that wait for a sender (R38, R39)."""

from heapq import heappop, heappush
from typing import Any, Final

import msgspec

from wireloom.protocols.signalhub.settings import HubSettings
from wireloom.wire.message import Message
from wireloom.wire.session import Forget, Store

PARCEL_KIND: Final = "parcel"
REPORT_KIND: Final = "report"


class Parcel(Message, frozen=True, kw_only=True):
    """One message that waits."""

    id: str
    """The id of the send."""

    sender: str
    """In whose name it was sent: the recipient sees it, and it is told what became of it."""

    owner: str = ""
    """The actor that sent it. What an older hub stored has none; it is the sender then."""

    target: str
    """The address that it is for."""

    ask: bool
    """Whether the sender wants to know what became of it."""

    type: str
    """The application's type."""

    payload: bytes
    """The application's payload, as JSON."""

    metadata: dict[str, Any]
    """What the hub says about it to the recipient."""

    deadline_ms: int
    """Until when it may be delivered."""

    @property
    def key(self) -> str:
        """The name under which it is stored; the same if it is sent again."""
        return f"{self.target}\n{self.owner}\n{self.id}"

    def report(self, until_ms: int) -> "Report":
        """What its sender is told when it can no longer be delivered."""
        return Report(
            id=self.id,
            sender=self.sender,
            owner=self.owner,
            target=self.target,
            until_ms=until_ms,
        )

    def store(self) -> Store:
        """Keeps it across a crash."""
        return Store(PARCEL_KIND, self.key, _pack(self))

    def forget(self) -> Forget:
        """Keeps it no longer."""
        return Forget(PARCEL_KIND, self.key)


class Report(Message, frozen=True, kw_only=True):
    """That a message was not delivered in time, for a sender that is away."""

    id: str
    """The id of the send."""

    sender: str
    """Which name is to be told."""

    owner: str = ""
    """The actor that it belongs to; see `Parcel`."""

    target: str
    """Whom it did not reach."""

    until_ms: int
    """How long it is kept."""

    @property
    def key(self) -> str:
        """The name under which it is stored."""
        return f"{self.owner}\n{self.id}"

    def store(self) -> Store:
        """Keeps it across a crash."""
        return Store(REPORT_KIND, self.key, _pack(self))

    def forget(self) -> Forget:
        """Keeps it no longer."""
        return Forget(REPORT_KIND, self.key)


_pack: Final = msgspec.msgpack.Encoder().encode
_read_parcel: Final = msgspec.msgpack.Decoder(Parcel).decode
_read_report: Final = msgspec.msgpack.Decoder(Report).decode


def restored(record: Store) -> Parcel | Report | None:
    """A stored parcel or report; None if it is neither."""
    found: Parcel | Report
    try:
        is_parcel = record.kind == PARCEL_KIND
        found = _read_parcel(record.value) if is_parcel else _read_report(record.value)
    except msgspec.MsgspecError:
        return None
    return found if found.owner else msgspec.structs.replace(found, owner=found.sender)


class Box:
    """What waits for one address."""

    __slots__ = ("deadlines", "parcels")

    def __init__(self) -> None:
        self.parcels: dict[str, Parcel] = {}
        """In the order of arrival."""

        self.deadlines: list[tuple[int, str]] = []
        """A heap: when each can no longer be delivered."""


class Mailboxes:
    """What waits; bounded for each actor and for all of them."""

    def __init__(self, settings: HubSettings) -> None:
        self._settings = settings
        self._boxes: dict[str, Box] = {}
        self.count = 0
        self.size = 0
        """Bytes of all payloads that wait."""

    def holds(self, parcel: Parcel) -> bool:
        """Whether it waits already."""
        box = self._boxes.get(parcel.target)
        return box is not None and parcel.key in box.parcels

    def has_room(self, parcel: Parcel) -> bool:
        """Whether one more may wait. Nothing that was promised makes way for it."""
        settings = self._settings
        box = self._boxes.get(parcel.target)
        return (
            (box is None or len(box.parcels) < settings.max_queued)
            and self.count < settings.max_all_queued
            and self.size + len(parcel.payload) <= settings.max_queued_size
        )

    def put(self, parcel: Parcel) -> None:
        """Lets a parcel wait that does not wait yet."""
        box = self._boxes.get(parcel.target)
        if box is None:
            box = self._boxes[parcel.target] = Box()
        key = parcel.key
        box.parcels[key] = parcel
        heappush(box.deadlines, (parcel.deadline_ms, key))
        self.count += 1
        self.size += len(parcel.payload)

    def empty(self, target: str) -> list[Parcel]:
        """Takes out all that waits for an address, first come first."""
        box = self._boxes.pop(target, None)
        parcels = [] if box is None else list(box.parcels.values())
        self._count_out(parcels)
        return parcels

    def expired(self, target: str, now_ms: int) -> list[Parcel]:
        """Takes out what can no longer be delivered."""
        box = self._boxes.get(target)
        late: list[Parcel] = []
        while box is not None and box.deadlines and box.deadlines[0][0] < now_ms:
            _, key = heappop(box.deadlines)
            late.append(box.parcels.pop(key))
            if not box.parcels:
                del self._boxes[target]
        self._count_out(late)
        return late

    def next_deadline_ms(self, target: str) -> int | None:
        """When the first of what waits for an address can no longer be delivered."""
        box = self._boxes.get(target)
        return None if box is None else box.deadlines[0][0]

    def _count_out(self, parcels: list[Parcel]) -> None:
        self.count -= len(parcels)
        self.size -= sum(len(parcel.payload) for parcel in parcels)


class Reports:
    """Failures that senders have not been told of; the oldest makes way."""

    def __init__(self, settings: HubSettings) -> None:
        self._max = settings.max_reports
        self._all_max = settings.max_all_queued
        self._by_owner: dict[str, dict[str, Report]] = {}
        self.count = 0

    def put(self, report: Report) -> list[Report]:
        """Keeps a report; gives those that are kept no longer."""
        if self.count >= self._all_max and report.owner not in self._by_owner:
            return [report]
        kept = self._by_owner.setdefault(report.owner, {})
        self.count += report.id not in kept
        kept[report.id] = report
        if len(kept) <= self._max:
            return []
        self.count -= 1
        return [kept.pop(next(iter(kept)))]

    def empty(self, owner: str) -> list[Report]:
        """Takes out all reports for an actor."""
        reports = list(self._by_owner.pop(owner, {}).values())
        self.count -= len(reports)
        return reports

    def expired(self, owner: str, now_ms: int) -> list[Report]:
        """Takes out the reports for an actor that are too old to tell."""
        kept = self._by_owner.get(owner, {})
        late = [report for report in kept.values() if report.until_ms <= now_ms]
        for report in late:
            del kept[report.id]
        if not kept:
            self._by_owner.pop(owner, None)
        self.count -= len(late)
        return late

    def next_end_ms(self, owner: str) -> int | None:
        """When the first report for an actor is too old to tell."""
        kept = self._by_owner.get(owner)
        return min(report.until_ms for report in kept.values()) if kept else None
