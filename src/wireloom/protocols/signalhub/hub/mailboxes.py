"""Messages that wait for an actor that is away, and failures that wait for a sender (R38, R39).

Both lie in one bounded place, in which every sender has a share (R52). They are kept as they are
stored, so that what they take is known; a report never takes more than the parcel it is about.
"""

from sys import getsizeof
from typing import Any, Final, NamedTuple

import msgspec

from wireloom.protocols.signalhub.hub.encodings import exact
from wireloom.protocols.signalhub.hub.settings import HubSettings
from wireloom.wire.deadlines import Deadlines
from wireloom.wire.message import Message
from wireloom.wire.session import Forget, Store
from wireloom.wire.shares import Shares

PARCEL_KIND: Final = "parcel"
REPORT_KIND: Final = "report"

_ENTRY_SIZE: Final = 1_536
"""Bytes that an entry takes beside its own text, with a box and a timer of its own."""

_SENDERS: Final = 2
"""How many senders may have all that one may have waiting for an actor."""


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

    account: str = ""
    """Whose share it takes; empty in a record of an earlier version."""

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
            account=self.account,
        )

    def store(self) -> Store:
        """Keeps it across a crash."""
        return Store(PARCEL_KIND, self.key, exact(_pack(self)))

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

    account: str = ""
    """Whose share it takes; empty in a record of an earlier version."""

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
        if isinstance(found, Parcel):
            msgspec.json.decode(found.payload)  # what is no JSON would hold up those behind it
    except (msgspec.MsgspecError, UnicodeError):
        return None
    if not found.owner:
        return msgspec.structs.replace(found, owner=found.sender)
    return found if found.key == record.key else None  # else it would stay on disk for ever


class Waiting(NamedTuple):
    """A parcel or report as it is kept."""

    value: bytes
    """As it is stored."""

    ends_ms: int
    """Until when it is kept."""

    account: str
    size: int
    """Bytes that it takes in memory."""


def _waiting(key: str, value: bytes, ends_ms: int, account: str) -> Waiting:
    return Waiting(value, ends_ms, account, getsizeof(key) + getsizeof(value) + _ENTRY_SIZE)


class Box:
    """What waits for one address.

    Args:
        settings: The hub's.
    """

    __slots__ = ("deadlines", "parcels", "shares")

    def __init__(self, settings: HubSettings) -> None:
        self.parcels: dict[str, Waiting] = {}
        """In the order of arrival."""

        self.deadlines = Deadlines(self.parcels)
        """When each can no longer be delivered."""

        self.shares = Shares(_SENDERS * settings.max_queued, settings.max_queued_size)


class Mailboxes:
    """What waits; bounded for each sender, for each actor and for all of them.

    Args:
        settings: The hub's.
        shares: What all that waits may take.
    """

    def __init__(self, settings: HubSettings, shares: Shares) -> None:
        self._settings = settings
        self._shares = shares
        self.boxes: dict[str, Box] = {}
        """Those in which something waits, by address."""
        self.count = 0

    def holds(self, parcel: Parcel) -> bool:
        """Whether it waits already."""
        box = self.boxes.get(parcel.target)
        return box is not None and parcel.key in box.parcels

    def offer(self, parcel: Parcel) -> Store | None:
        """Lets a parcel wait that does not wait yet, if its sender's share has room for it.

        Nothing that was promised makes way for it.

        Returns:
            What is to be stored; None if there is no room.
        """
        stored = parcel.store()
        one = _waiting(stored.key, stored.value, parcel.deadline_ms, parcel.account)
        box = self.boxes.get(parcel.target)
        if not self._shares.fits(one.account, 1, one.size):
            return None
        if box is not None and not box.shares.fits(one.account, 1, one.size):
            return None
        self._put(parcel.target, stored.key, one)
        return stored

    def restore(self, parcel: Parcel) -> None:
        """Lets a parcel wait again that an earlier life promised to deliver."""
        stored = parcel.store()
        account = parcel.account or parcel.owner
        if not self.holds(parcel):
            one = _waiting(stored.key, stored.value, parcel.deadline_ms, account)
            self._put(parcel.target, stored.key, one)

    def take(self, target: str) -> Parcel | None:
        """Takes out what has waited for an address longest."""
        box = self.boxes.get(target)
        if box is None:
            return None
        parcel = self._out(target, box, next(iter(box.parcels)))
        box.deadlines.tidy(len(box.parcels))
        return parcel

    def expired(self, target: str, now_ms: int) -> list[Parcel]:
        """Takes out what can no longer be delivered."""
        box = self.boxes.get(target)
        if box is None:
            return []
        return [self._out(target, box, key) for key in box.deadlines.due(now_ms - 1)]

    def next_deadline_ms(self, target: str) -> int | None:
        """When the first of what waits for an address can no longer be delivered."""
        box = self.boxes.get(target)
        return None if box is None else box.deadlines.next_ms

    def _put(self, target: str, key: str, one: Waiting) -> None:
        box = self.boxes.get(target)
        if box is None:
            box = self.boxes[target] = Box(self._settings)
        box.parcels[key] = one
        box.deadlines.add(key, one.ends_ms)
        self.count += 1
        box.shares.add(one.account, 1, one.size)
        self._shares.add(one.account, 1, one.size)

    def _out(self, target: str, box: Box, key: str) -> Parcel:
        one = box.parcels.pop(key)
        self.count -= 1
        box.shares.remove(one.account, 1, one.size)
        self._shares.remove(one.account, 1, one.size)
        if not box.parcels:
            del self.boxes[target]
        return _read_parcel(one.value)


class Reports:
    """Failures that senders have not been told of; the oldest of an actor makes way.

    A report follows its parcel and takes no more room, so it is never refused.

    Args:
        settings: The hub's.
        shares: What all that waits may take.
    """

    def __init__(self, settings: HubSettings, shares: Shares) -> None:
        self._max = settings.max_reports
        self._shares = shares
        self._by_owner: dict[str, dict[str, Waiting]] = {}
        self.count = 0

    def put(self, report: Report) -> Report | None:
        """Keeps a report; gives the one that is kept no longer."""
        kept = self._by_owner.setdefault(report.owner, {})
        if report.id in kept:
            self._out(report.owner, report.id)
            kept = self._by_owner.setdefault(report.owner, {})
        account = report.account or report.owner
        one = kept[report.id] = _waiting(report.id, exact(_pack(report)), report.until_ms, account)
        self.count += 1
        self._shares.add(one.account, 1, one.size)
        return self._out(report.owner, next(iter(kept))) if len(kept) > self._max else None

    def empty(self, owner: str) -> list[Report]:
        """Takes out all reports for an actor."""
        return [self._out(owner, name) for name in list(self._by_owner.get(owner, ()))]

    def expired(self, owner: str, now_ms: int) -> list[Report]:
        """Takes out the reports for an actor that are too old to tell."""
        kept = self._by_owner.get(owner, {})
        late = [name for name, one in kept.items() if one.ends_ms <= now_ms]
        return [self._out(owner, name) for name in late]

    def next_end_ms(self, owner: str) -> int | None:
        """When the first report for an actor is too old to tell."""
        kept = self._by_owner.get(owner)
        return min(one.ends_ms for one in kept.values()) if kept else None

    def _out(self, owner: str, name: str) -> Report:
        kept = self._by_owner[owner]
        one = kept.pop(name)
        self.count -= 1
        self._shares.remove(one.account, 1, one.size)
        if not kept:
            del self._by_owner[owner]
        return _read_report(one.value)
