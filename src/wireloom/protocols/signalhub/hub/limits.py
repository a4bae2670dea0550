"""How much a client may do, and what it did already."""

import math
from typing import Final

from wireloom.protocols.signalhub.hub.settings import HubSettings, Rate

_KEPT_FACTOR: Final = 2
"""How many more allowances than connections are kept: enough that a client which comes back
finds its own, few enough that a crowd of names does not fill the memory."""

_SEEN_SIZE: Final = 384
"""Bytes that an answer takes beside its own and the half more that the encoder leaves free: the
id, the key of both, and its place."""


class Bucket:
    """A bucket of tokens that fills at a steady rate; each message takes one (R49).

    It keeps one number, the time at which the bucket is full again. A bucket without a rate
    is never empty.
    """

    __slots__ = ("_full_at", "_step", "_window")

    def __init__(self, rate: Rate | None) -> None:
        self._window = 0.0 if rate is None else float(rate.per_ms)
        self._step = 0.0 if rate is None else rate.per_ms / rate.count
        self._full_at = 0.0

    def take(self, now_ms: int) -> int:
        """Takes a token: 0, or how many ms to wait if there is none."""
        full_at, now = self._full_at, float(now_ms)  # once, not in every sum
        full_at = (full_at if full_at > now else now) + self._step
        excess = full_at - now - self._window
        if excess > 0:
            return math.ceil(excess)
        self._full_at = full_at
        return 0


class Budget:
    """How much may be done in one turn: bytes that leave for many, steps of searches (R53).

    It is full at first, and full again after the pause between two slices. Whoever finds
    something left may spend more than that, once: a message that is larger than a slice leaves too.

    Args:
        size: How much it has when it is full.
        pause_ms: In how many milliseconds it fills.
    """

    __slots__ = ("_full_at", "_pause_ms", "_size", "_step")

    def __init__(self, size: int, pause_ms: int) -> None:
        self._size = size
        self._pause_ms = pause_ms
        self._step = pause_ms / size
        self._full_at = 0.0

    def left(self, now_ms: int) -> int:
        """How much may be done now."""
        missing_ms = self._full_at - now_ms
        if missing_ms <= 0:
            return self._size
        return self._size - round(missing_ms / self._step)

    def spend(self, size: int, now_ms: int) -> None:
        """Counts what is done now."""
        full_at = self._full_at
        self._full_at = (full_at if full_at > now_ms else now_ms) + size * self._step

    def take(self, size: int, now_ms: int) -> bool:
        """Spends so much if it is there; gives whether it was."""
        full_at = self._full_at
        full_at = (full_at if full_at > now_ms else now_ms) + size * self._step
        if full_at - now_ms > self._pause_ms:
            return False
        self._full_at = full_at
        return True


class Allowance:
    """What one actor may do, whichever connection it uses."""

    __slots__ = ("broadcasts", "messages", "registrations", "searches")

    def __init__(self, settings: HubSettings) -> None:
        self.messages = Bucket(settings.actor_rate)
        self.broadcasts = Bucket(settings.broadcast_rate)
        self.registrations = Bucket(settings.register_rate)
        self.searches = Bucket(settings.discover_rate)


class Allowances:
    """The allowances of those that came last."""

    def __init__(self, settings: HubSettings) -> None:
        self._settings = settings
        self._kept: dict[str, Allowance] = {}

    def of(self, actor: str) -> Allowance:
        """The allowance of an actor that connects: its own, if it was here before."""
        allowance = self._kept.pop(actor, None) or Allowance(self._settings)
        self._kept[actor] = allowance
        if len(self._kept) > _KEPT_FACTOR * self._settings.max_lines:
            del self._kept[next(iter(self._kept))]
        return allowance


class Seen:
    """What the hub answered to the messages of the last time (R35).

    There are two generations. When the younger is old or full, by number or by bytes, it becomes
    the older one and the older is forgotten: nothing is looked through, and nothing grows.
    """

    def __init__(self, settings: HubSettings) -> None:
        self._span_ms = settings.seen_ms
        self._max = max(1, settings.seen_max // 2)
        self._max_size = settings.seen_size // 2
        self._young: dict[tuple[str, str], bytes] = {}
        self._old: dict[tuple[str, str], bytes] = {}
        self._born_ms = 0
        self._young_size = self._old_size = 0

    @property
    def size(self) -> int:
        """Bytes of all that is remembered."""
        return self._young_size + self._old_size

    def answer(self, actor: str, message_id: str, now_ms: int) -> bytes | None:
        """What this actor was answered to this message: empty if nothing, None if it is new."""
        if now_ms - self._born_ms >= self._span_ms:
            self._turn(now_ms)
        key = (actor, message_id)
        found = self._young.get(key)
        return self._old.get(key) if found is None else found

    def remember(self, actor: str, message_id: str, answer: bytes) -> None:
        """Notes the answer to a message that was done as it said."""
        self._young[actor, message_id] = answer
        self._young_size += len(answer) * 3 // 2 + _SEEN_SIZE
        if len(self._young) >= self._max or self._young_size >= self._max_size:
            self._turn(self._born_ms)

    def _turn(self, now_ms: int) -> None:
        self._old, self._young = self._young, {}
        self._old_size, self._young_size = self._young_size, 0
        self._born_ms = now_ms


class Meter:
    """How many messages leave each second, over the last second or more."""

    __slots__ = ("_began_ms", "_count", "per_second")

    def __init__(self) -> None:
        self.per_second = 0.0
        self._count = 0
        self._began_ms = 0

    def add(self, count: int, now_ms: int) -> None:
        """Counts messages that leave now."""
        passed_ms = now_ms - self._began_ms
        if passed_ms >= 1_000:
            self.per_second = self._count * 1_000 / passed_ms
            self._count, self._began_ms = 0, now_ms
        self._count += count
