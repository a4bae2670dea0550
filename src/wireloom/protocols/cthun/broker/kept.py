"""The records of what waits: a message once, and small marks of who has got it.

```
cthun-held    0000000000000007      the message and all whom it was owed to
cthun-done    0000000000000007-000  which of the first 512 of them have got it, a bit each
cthun-done    0000000000000007-001  which of the next
cthun-notice  0000000000000008      that a message expired, for its sender
```

A message is written once, however many receive it and however large it is. Records of an earlier
version, which wrote the message anew for every receiver and named only those left, are read too:
they have no marks and no owner.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

import msgspec
from msgspec import Struct

from wireloom.protocols.cthun.broker.clients import owner
from wireloom.protocols.cthun.constants import (
    DONE_KIND,
    HELD_KIND,
    NOTICE_KIND,
    UNREADABLE_KIND,
)
from wireloom.protocols.cthun.uris import split
from wireloom.wire.session import Command, Forget, Store

_encode: Final = msgspec.msgpack.Encoder().encode
_BLOCK_SIZE: Final = 64
"""Bytes of a mark: what is written for each receiver that gets a message."""

_BLOCK: Final = 8 * _BLOCK_SIZE
"""Receivers that a mark speaks for."""

_RECORD_SIZE: Final = 512
"""What a message or a notice takes beside its texts: about, and rather more than less."""

_PLACE_SIZE: Final = 512
"""What each receiver takes beside its URI, in queues, timers and marks."""


class Held(Struct, kw_only=True, array_like=True):
    """A message that waits."""

    id: str
    sender: str
    expires_ms: int
    owed: list[str]
    """Who had not got it when it was stored."""

    noted: bool
    """Whether there is room for notes on it."""

    raw: bytes
    """As it came, with the note that it waits."""

    owner: str = ""
    """Whose share of the holding it takes."""

    @property
    def weight(self) -> int:
        """Bytes that it takes: all of them, not only those of the message."""
        places = _PLACE_SIZE * len(self.owed) + sum(map(len, self.owed))
        return _RECORD_SIZE + len(self.raw) + len(self.sender) + len(self.owner) + places


class Notice(Struct, kw_only=True, array_like=True):
    """That a message expired, while its sender is away."""

    id: str
    sender: str
    expires_ms: int
    """When the news is too old to be told."""

    owner: str = ""
    """Whose share of the holding it takes."""

    @property
    def weight(self) -> int:
        """Bytes that it takes."""
        return _RECORD_SIZE + len(self.sender) + len(self.owner)


class Marks:
    """Which receivers of one message have got it.

    Args:
        count: How many there are.
    """

    __slots__ = ("_bits", "_count", "_stored", "_touched", "left")

    def __init__(self, count: int) -> None:
        self._count = count
        self._bits = bytearray((count + 7) // 8)
        self._stored = 0
        self._touched = 0
        """Blocks, a bit each: those that have a record, and those that need a new one."""
        self.left = count
        """How many have not got it."""

    def __contains__(self, place: int) -> bool:
        return bool(self._bits[place >> 3] & 1 << (place & 7))

    def add(self, place: int) -> None:
        """Notes that the receiver in this place has got it."""
        self._bits[place >> 3] |= 1 << (place & 7)
        self._touched |= 1 << place // _BLOCK
        self.left -= 1

    def load(self, block: int, bits: bytes) -> bool:
        """Takes up what was stored of a block; gives whether it can be of this message."""
        start = block * _BLOCK_SIZE
        done = int.from_bytes(bits, "little")
        if not bits or len(self._bits[start : start + _BLOCK_SIZE]) != len(bits):
            return False
        if done >> self._count - 8 * start:  # more receivers than there are
            return False
        self._bits[start : start + len(bits)] = bits
        self._stored |= 1 << block
        self.left -= done.bit_count()
        return True

    def store(self, number: int, commands: list[Command]) -> None:
        """Stores what was noted since this was last called."""
        for block in _places(self._touched):
            start = block * _BLOCK_SIZE
            bits = bytes(self._bits[start : start + _BLOCK_SIZE])
            commands.append(Store(DONE_KIND, _mark_key(number, block), bits))
        self._stored |= self._touched
        self._touched = 0

    def forget(self, number: int, commands: list[Command]) -> None:
        """Forgets all that was stored."""
        keys = [_mark_key(number, block) for block in _places(self._stored)]
        commands += [Forget(DONE_KIND, key) for key in keys]


class Found(NamedTuple):
    """What an earlier life stored."""

    waiting: list[tuple[int, Held | Notice, Marks]]
    """Messages and notices with their numbers, oldest first, and who has got them."""

    commands: list[Command]
    """Set aside what cannot be read."""

    unreadable_count: int
    """How much of that there is, what was set aside before included."""


def stored(number: int, waiting: Held | Notice) -> Store:
    """The record of a message or a notice."""
    kind = HELD_KIND if isinstance(waiting, Held) else NOTICE_KIND
    return Store(kind, f"{number:016x}", _encode(waiting))


def forgotten(number: int, waiting: Held | Notice) -> Forget:
    """The end of that record."""
    kind = HELD_KIND if isinstance(waiting, Held) else NOTICE_KIND
    return Forget(kind, f"{number:016x}")


def found(records: Iterable[Store]) -> Found:
    """What there is in the records of an earlier life; those of other kinds are not looked at.

    What cannot be read (damaged, or written by another version) is set aside under a kind of its
    own, where it is counted and somebody can look at it.
    """
    waiting: list[tuple[int, Held | Notice, Marks]] = []
    marks: dict[int, Marks] = {}
    aside: list[Command] = []
    count = 0
    # Marks come last: a message is known before those who have got it.
    for record in sorted(records, key=lambda record: (record.kind == DONE_KIND, record.key)):
        count += record.kind == UNREADABLE_KIND
        if record.kind not in _KINDS:
            continue
        try:
            if record.kind == DONE_KIND:
                _load_marks(record, marks)
            else:
                waiting.append(_load(record, marks))
        except (msgspec.MsgspecError, ValueError, KeyError):
            count += 1
            key = f"{record.kind} {record.key}"
            aside.append(Store(UNREADABLE_KIND, key, record.value))
            aside.append(Forget(record.kind, record.key))
    return Found(waiting, aside, count)


def _load(record: Store, marks: dict[int, Marks]) -> tuple[int, Held | Notice, Marks]:
    """A message or a notice, its number, and room for its marks."""
    number = int(record.key, 16)
    waiting = msgspec.msgpack.decode(record.value, type=_CLASSES[record.kind])
    if not waiting.owner:  # an earlier version's
        waiting.owner = owner(split(waiting.sender).common_name, "")
    marks[number] = Marks(len(waiting.owed) if isinstance(waiting, Held) else 0)
    return number, waiting, marks[number]


def _load_marks(record: Store, marks: dict[int, Marks]) -> None:
    number, block = record.key.split("-")
    if not marks[int(number, 16)].load(int(block, 16), record.value):
        raise ValueError("no message has such a mark")


_CLASSES: Final[dict[str, type[Held] | type[Notice]]] = {HELD_KIND: Held, NOTICE_KIND: Notice}
_KINDS: Final = frozenset({*_CLASSES, DONE_KIND})


def _mark_key(number: int, block: int) -> str:
    return f"{number:016x}-{block:03x}"


def _places(bits: int) -> list[int]:
    """Where the ones are."""
    return [place for place in range(bits.bit_length()) if bits >> place & 1]
