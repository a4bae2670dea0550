"""The flow of one swarm: its messages, in order of time, and what refers to what.

The bytes of each message are kept once. Nothing that is kept makes way for something new: what
does not fit is refused, so that nobody can drive out what others wrote.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Hashable, Iterable, Iterator
from itertools import islice
from typing import Final

from wireloom.protocols.uep12.peer.settings import PeerSettings
from wireloom.wire.deadlines import Deadlines
from wireloom.wire.seen import Seen
from wireloom.wire.shares import Shares

BESIDE: Final = 512
"""Bytes that are kept beside those of a message: about, and rather more than less."""

_REMEMBERED: Final = 1_000_000
"""Hashes of expired messages that are remembered, whatever the time."""


class Stored:
    """One message of a flow."""

    __slots__ = ("expires_ms", "is_pushed_only", "owner", "raw", "referrers", "timestamp")

    def __init__(
        self,
        raw: bytes,
        *,
        timestamp: int,
        expires_ms: int,
        is_pushed_only: bool,
        owner: Hashable,
        referrers: int = 0,
    ) -> None:
        self.raw = raw
        self.timestamp = timestamp
        self.expires_ms = expires_ms
        self.is_pushed_only = is_pushed_only
        """Whether it is never listed, pulled or referred to."""
        self.owner = owner
        """Whose share of the room it takes."""
        self.referrers = referrers
        """How many messages refer to it."""

    @property
    def size(self) -> int:
        """Bytes that it takes."""
        return len(self.raw) + BESIDE


class Flow:
    """All messages of a swarm that have not expired.

    Args:
        settings: The peer's.
    """

    def __init__(self, settings: PeerSettings) -> None:
        self._messages: dict[bytes, Stored] = {}
        self._order: list[tuple[int, bytes]] = []
        """Times and hashes of those that may be listed."""
        self._deadlines = Deadlines(self._messages)
        self._shares = Shares(settings.stored_count, settings.stored_size)
        self._gone: Seen[bytes, int] = Seen(_REMEMBERED, span_ms=settings.remember_ms)
        self.heads: dict[bytes, Stored] = {}
        """Messages that no other refers to."""

    def __len__(self) -> int:
        return len(self._messages)

    @property
    def size(self) -> int:
        """Bytes that all messages take."""
        return self._shares.size

    def knows(self, msg_hash: bytes, now_ms: int) -> bool:
        """Whether a message is here, or was not long ago."""
        return msg_hash in self._messages or self._gone.get(msg_hash, now_ms) is not None

    def find(self, msg_hash: bytes, now_ms: int) -> Stored | None:
        """A message that has not expired."""
        stored = self._messages.get(msg_hash)
        return stored if stored is not None and stored.expires_ms > now_ms else None

    def fits(self, owner: Hashable, size: int) -> bool:
        """Whether there is room for an owner's message of so many bytes."""
        return self._shares.fits(owner, 1, size + BESIDE)

    def add(self, msg_hash: bytes, stored: Stored, parents: Iterable[bytes]) -> None:
        """Keeps a message that refers to others."""
        self._messages[msg_hash] = stored
        self._deadlines.add(msg_hash, stored.expires_ms)
        self._shares.add(stored.owner, 1, stored.size)
        if not stored.is_pushed_only:
            insort(self._order, (stored.timestamp, msg_hash))
            if not stored.referrers:
                self.heads[msg_hash] = stored
        for parent in dict.fromkeys(parents):
            self.heads.pop(parent, None)
            if (found := self._messages.get(parent)) is not None:
                found.referrers += 1

    def between(self, start_ms: int, end_ms: int, now_ms: int) -> Iterator[tuple[bytes, Stored]]:
        """Messages of a range of time in their order, its bounds included; none expired (R11)."""
        first = bisect_left(self._order, (start_ms, b""))
        last = bisect_right(self._order, (end_ms, b"\xff" * 9))
        for _, msg_hash in islice(self._order, first, last):
            stored = self.find(msg_hash, now_ms)
            if stored is not None:
                yield msg_hash, stored

    def latest(self, before_ms: int, count: int, now_ms: int) -> Iterator[tuple[bytes, Stored]]:
        """So many messages, at most, that are older than an instant; the youngest first."""
        last = bisect_left(self._order, (before_ms, b""))
        for _, msg_hash in reversed(self._order[max(0, last - count) : last]):
            stored = self.find(msg_hash, now_ms)
            if stored is not None:
                yield msg_hash, stored

    def purge(self, now_ms: int, most: int) -> list[bytes]:
        """Takes out what has expired, of so many messages at most; gives their hashes."""
        gone = list(islice(self._deadlines.due(now_ms), most))
        for msg_hash in gone:
            stored = self._messages.pop(msg_hash)
            self._shares.remove(stored.owner, 1, stored.size)
            self.heads.pop(msg_hash, None)
            self._gone.put(msg_hash, now_ms)
        if gone:
            self._order = [entry for entry in self._order if entry[1] in self._messages]
        return gone
