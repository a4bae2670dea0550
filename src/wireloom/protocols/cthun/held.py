"""Messages that wait for clients who are away, and news of expiries that wait for senders.

Each is a record that survives a crash. Memory is bounded in all and for each sender (R32).
Whoever calls here passes the commands on; a message is forgotten after it was sent, so that
a crash in between sends it twice rather than never (R37).
"""

from collections.abc import Iterable, Iterator
from heapq import heapify, heappop, heappush
from typing import Final

import msgspec
from msgspec import Struct

from wireloom.protocols.cthun.constants import HELD_KIND, NOTICE_KIND
from wireloom.protocols.cthun.settings import BrokerSettings
from wireloom.wire.session import Command, Forget, Store

_encode: Final = msgspec.msgpack.Encoder().encode
_HEAP_SLACK: Final = 1_024
"""Stale entries that the order of expiry may have before it is cleared of them."""


class Held(Struct, kw_only=True, array_like=True):
    """A message that waits."""

    id: str
    sender: str
    expires_ms: int
    owed: list[str]
    """Who has not got it yet."""

    noted: bool
    """Whether there is room for notes on it."""

    raw: bytes
    """As it came, with the note that it waits."""


class Notice(Struct, kw_only=True, array_like=True):
    """That a message expired, while its sender is away."""

    id: str
    sender: str
    expires_ms: int
    """When the news is too old to be told."""


class Allowance:
    """How much may be held, in all or for one sender."""

    __slots__ = ("count", "size")

    def __init__(self, count: int, size: int) -> None:
        self.count = count
        self.size = size

    def covers(self, count: int, size: int) -> bool:
        """Whether so much more may be held."""
        return count <= self.count and size <= self.size

    def draw(self, count: int, size: int) -> None:
        """Takes from it; negative numbers give back."""
        self.count -= count
        self.size -= size


class Holding:
    """All that waits.

    Args:
        settings: The broker's.
    """

    def __init__(self, settings: BrokerSettings) -> None:
        self._settings = settings
        self._number = 0
        self._waiting: dict[int, Held | Notice] = {}
        self._queues: dict[str, dict[int, Held]] = {}
        self._notices: dict[str, dict[int, Notice]] = {}
        self._order: list[tuple[int, int]] = []
        self._total = Allowance(settings.held_count, settings.held_size)
        self._by_sender: dict[str, Allowance] = {}

    def __len__(self) -> int:
        """How many messages and notices wait."""
        return len(self._waiting)

    @property
    def count(self) -> int:
        """How much of what may be held is: messages by receiver, and notices."""
        return self._settings.held_count - self._total.count

    @property
    def size(self) -> int:
        """Bytes of the messages that wait."""
        return self._settings.held_size - self._total.size

    @property
    def next_expiry_ms(self) -> int | None:
        """When the next message or notice expires."""
        while self._order and self._order[0][1] not in self._waiting:
            heappop(self._order)
        return self._order[0][0] if self._order else None

    def owes(self, uri: str) -> bool:
        """Whether a message waits for this client."""
        return uri in self._queues

    def covers(self, sender: str, count: int, size: int) -> bool:
        """Whether a message of this size may be held for so many clients."""
        mine = self._by_sender.get(sender) or self._allowance()
        return mine.covers(count, size) and self._total.covers(count, size)

    def hold(self, held: Held) -> Store:
        """Keeps a message for all whom it is owed to."""
        return Store(HELD_KIND, _key(self._add(held)), _encode(held))

    def first_for(self, uri: str) -> Held | None:
        """The message that has waited longest for a client."""
        return next(iter(self._queues.get(uri, {}).values()), None)

    def due_for(self, uri: str, now_ms: int) -> list[tuple[int, Held]]:
        """The next messages for a client that have not expired, with their numbers.

        There are no more of them than may leave in one turn, by number and by bytes.
        """
        due: list[tuple[int, Held]] = []
        size = 0
        for number, held in self._queues.get(uri, {}).items():
            if size >= self._settings.stalled_size or len(due) >= self._settings.burst_count:
                break
            if held.expires_ms > now_ms:
                due.append((number, held))
                size += len(held.raw)
        return due

    def delivered(self, number: int, uri: str) -> Command:
        """Notes that a client got its message."""
        held = self._queues[uri][number]
        self._unqueue(uri, number)
        held.owed.remove(uri)
        if held.owed:
            self._draw(held.sender, -1, 0)
            return Store(HELD_KIND, _key(number), _encode(held))
        self._draw(held.sender, -1, -len(held.raw))
        del self._waiting[number]
        return Forget(HELD_KIND, _key(number))

    def expired(self, count: int, now_ms: int) -> Iterator[tuple[int, Held | Notice]]:
        """Up to `count` messages and notices whose time is over, with their numbers."""
        for _ in range(count):
            due_ms = self.next_expiry_ms
            if due_ms is None or due_ms > now_ms:
                return
            _, number = heappop(self._order)
            yield number, self._waiting[number]

    def drop(self, number: int) -> Command:
        """Gives up what expired or was told."""
        dropped = self._waiting.pop(number)
        if isinstance(dropped, Notice):
            self._draw(dropped.sender, -1, 0)
            told = self._notices[dropped.sender]
            del told[number]
            if not told:
                del self._notices[dropped.sender]
            return Forget(NOTICE_KIND, _key(number))
        for uri in dropped.owed:
            self._unqueue(uri, number)
        self._draw(dropped.sender, -len(dropped.owed), -len(dropped.raw))
        return Forget(HELD_KIND, _key(number))

    def note(self, expired: Held, now_ms: int) -> Store:
        """Keeps the news that a message expired for its sender."""
        until_ms = now_ms + self._settings.report_wait_ms
        notice = Notice(id=expired.id, sender=expired.sender, expires_ms=until_ms)
        return Store(NOTICE_KIND, _key(self._add(notice)), _encode(notice))

    def notices_for(self, sender: str) -> list[tuple[int, Notice]]:
        """The news that waits for a sender."""
        return list(self._notices.get(sender, {}).items())

    def restore(self, records: Iterable[Store]) -> list[Command]:
        """Takes up what an earlier life stored; the commands forget what cannot be read."""
        commands: list[Command] = []
        for record in sorted(records, key=lambda record: record.key):
            if record.kind not in _CLASSES:
                continue
            read = _read(record)
            if read is None:
                commands.append(Forget(record.kind, record.key))
            else:
                number, waiting = read
                self._number = number - 1
                self._add(waiting)
        return commands

    def targets(self) -> list[str]:
        """The clients whom messages wait for."""
        return list(self._queues)

    def messages(self) -> Iterator[Held]:
        """The messages that wait."""
        return (waiting for waiting in self._waiting.values() if isinstance(waiting, Held))

    def _add(self, waiting: Held | Notice) -> int:
        self._number += 1
        self._waiting[self._number] = waiting
        heappush(self._order, (waiting.expires_ms, self._number))
        if len(self._order) > 2 * len(self._waiting) + _HEAP_SLACK:
            self._order = [entry for entry in self._order if entry[1] in self._waiting]
            heapify(self._order)
        if isinstance(waiting, Notice):
            self._notices.setdefault(waiting.sender, {})[self._number] = waiting
            self._draw(waiting.sender, 1, 0)
        else:
            for uri in waiting.owed:
                self._queues.setdefault(uri, {})[self._number] = waiting
            self._draw(waiting.sender, len(waiting.owed), len(waiting.raw))
        return self._number

    def _unqueue(self, uri: str, number: int) -> None:
        queue = self._queues[uri]
        del queue[number]
        if not queue:
            del self._queues[uri]

    def _draw(self, sender: str, count: int, size: int) -> None:
        mine = self._by_sender.setdefault(sender, self._allowance())
        for allowance in (mine, self._total):
            allowance.draw(count, size)
        if mine.count == self._settings.sender_held_count:
            del self._by_sender[sender]

    def _allowance(self) -> Allowance:
        return Allowance(self._settings.sender_held_count, self._settings.sender_held_size)


_CLASSES: Final[dict[str, type[Held] | type[Notice]]] = {HELD_KIND: Held, NOTICE_KIND: Notice}


def _key(number: int) -> str:
    """Keys in the order of their numbers."""
    return f"{number:016x}"


def _read(record: Store) -> tuple[int, Held | Notice] | None:
    """A record and its number, or None if this version did not write it."""
    try:
        number = int(record.key, 16)
        return number, msgspec.msgpack.decode(record.value, type=_CLASSES[record.kind])
    except (msgspec.MsgspecError, ValueError):
        return None
