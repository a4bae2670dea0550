"""What happens to frames between machines: delay, loss, damage, and links that are cut.

A datagram arrives late, twice, damaged, before an older one, or never. A stream loses nothing and
keeps its order: what the network drops is sent again, which takes time, and what is sent into a cut
waits until that heals.
"""

from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from struct import Struct as Layout
from typing import Final, Protocol

from msgspec import Struct

from wireloom.performing.world import NS_PER_MS
from wireloom.sim.agenda import Call
from wireloom.sim.clocks import VirtualClock
from wireloom.sim.recent import Recent
from wireloom.sim.streams import Stream, Streams

NS_PER_SECOND: Final = 1_000_000_000
RESENT_NS: Final = 200 * NS_PER_MS
"""How long a stream waits before it sends again what was lost."""

MAX_QUEUE_NS: Final = NS_PER_SECOND
"""A datagram that would wait longer than this for the link's bandwidth is dropped."""

REORDERED: Final = 4
"""A datagram that is overtaken takes up to so many times as long as others do."""

MAX_FLIPS: Final = 8
_HEAD: Final = Layout("<qiii")


class Quality(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What links are like; as it stands, perfect."""

    delay_ms: float = 0.0
    """How long a frame takes."""

    jitter_ms: float = 0.0
    """How much longer it may take."""

    loss: float = 0.0
    """Share of frames that do not arrive; a stream sends them again."""

    duplication: float = 0.0
    """Share of datagrams that arrive twice."""

    reordering: float = 0.0
    """Share of datagrams that later ones overtake."""

    corruption: float = 0.0
    """Share of datagrams of which some bits are flipped."""

    truncation: float = 0.0
    """Share of datagrams whose end is cut off."""

    bandwidth: int = 0
    """Bytes a second from one machine to another; 0: no bound."""

    mtu: int = 0
    """Bytes of the largest datagram that arrives; 0: no bound."""


PERFECT: Final = Quality()


class Named(Protocol):
    """A machine, as far as the network needs to know it."""

    name: str
    number: int


class Path:
    """The way from one machine to another.

    Args:
        near: Where frames come from.
        far: Where they go.
        random: What chance there is on this way.
    """

    __slots__ = ("far", "free_ns", "last_ns", "near", "random", "waiting")

    def __init__(self, near: Named, far: Named, random: Stream) -> None:
        self.near, self.far = near, far
        self.random = random
        self.free_ns = 0
        """When the link has sent all that it was given."""
        self.last_ns = 0
        """When the last frame of a stream arrives."""
        self.waiting: list[tuple[bytes | None, Call, tuple[object, ...]]] = []
        """What streams hold back because the way is cut."""


class Network:
    """All paths, and what they are like.

    Args:
        later: Has something happen at a time.
        clock: Tells the time.
        streams: Where chance comes from.
    """

    def __init__(self, later: Callable[..., None], clock: VirtualClock, streams: Streams) -> None:
        self.quality = PERFECT
        self.recent = Recent()
        """The last frames."""
        self.frame_count = 0
        """Frames that were sent on their way."""
        self.lost_count = 0
        """Frames that did not arrive."""
        self._later = later
        self._clock = clock
        self._streams = streams
        self._paths: dict[tuple[int, int], Path] = {}
        self._cuts: dict[str, frozenset[str]] = {}
        self._contacts: set[frozenset[str]] | None = None
        self._hash = blake2b(digest_size=16)

    @property
    def fingerprint(self) -> str:
        """A hash over all frames so far: when, from whom, to whom, and their bytes."""
        return self._hash.hexdigest()

    def path(self, near: Named, far: Named) -> Path:
        """The way from one machine to another."""
        key = near.number, far.number
        found = self._paths.get(key)
        if found is None:
            random = self._streams.stream(f"path {near.name} {far.name}")
            found = self._paths[key] = Path(near, far, random)
        return found

    # What can be reached.

    def cut(self, name: str, inside: Iterable[str]) -> None:
        """Begins a partition: these machines reach each other, and all others each other."""
        self._cuts[name] = frozenset(inside)

    def heal(self, name: str) -> None:
        """Ends a partition."""
        if self._cuts.pop(name, None) is not None:
            self._resume()

    def move(self, contacts: Iterable[tuple[str, str]]) -> set[frozenset[str]]:
        """From now on only these pairs of machines reach each other; returns those that parted."""
        before, self._contacts = self._contacts, {frozenset(pair) for pair in contacts}
        self._resume()
        return (before or set()) - self._contacts

    def touch(self, one: str, other: str, *, is_up: bool) -> None:
        """Two machines begin or cease to reach each other."""
        if self._contacts is None:
            self._contacts = set()
        pair = frozenset((one, other))
        if is_up:
            self._contacts.add(pair)
            self._resume()
        else:
            self._contacts.discard(pair)

    def reaches(self, one: str, other: str) -> bool:
        """Whether frames come through between two machines."""
        if self._contacts is not None and frozenset((one, other)) not in self._contacts:
            return False
        return all((one in inside) == (other in inside) for inside in self._cuts.values())

    def _is_open(self, path: Path) -> bool:
        if not self._cuts and self._contacts is None:
            return True
        return self.reaches(path.near.name, path.far.name)

    # Streams.

    def round_trip_ns(self, path: Path) -> int:
        """How long it takes to ask and to be answered."""
        return 2 * self._delay_ns(path)

    def stream(self, path: Path | None, raw: bytes | None, call: Call, *args: object) -> None:
        """Has a frame, or the end of a stream, arrive after all that was sent before it.

        Without a path it arrives at once.
        """
        if path is None:
            self._later(self._clock.at_ns, call, *args)
            return
        if not self._is_open(path):
            path.waiting.append((raw, call, args))
            return
        at_ns = self._send(path, len(raw) if raw else 0) + self._delay_ns(path)
        while self.quality.loss and path.random.random() < self.quality.loss:
            at_ns += RESENT_NS
        path.last_ns = at_ns = max(at_ns, path.last_ns)
        if raw is not None:
            self._note(at_ns, path, raw)
        self._later(at_ns, call, *args)

    def waiting(self) -> Iterator[tuple[Call, tuple[object, ...]]]:
        """What streams hold back."""
        for path in self._paths.values():
            for _, call, args in path.waiting:
                yield call, args

    def _resume(self) -> None:
        """Sends what streams held back, where the way is open again."""
        for path in self._paths.values():
            if path.waiting and self._is_open(path):
                waiting, path.waiting = path.waiting, []
                for raw, call, args in waiting:
                    self.stream(path, raw, call, *args)

    # Datagrams.

    def datagram(self, path: Path, raw: bytes, arrive: Call, *args: object) -> None:
        """Has a datagram arrive: once, twice, or not at all."""
        quality, random = self.quality, path.random
        if (
            (quality.loss and random.random() < quality.loss)
            or (quality.mtu and len(raw) > quality.mtu)
            or path.free_ns - self._clock.at_ns > MAX_QUEUE_NS
            or not self._is_open(path)
        ):
            self.lose()
            return
        sent_ns = self._send(path, len(raw))
        self._fly(path, raw, sent_ns, arrive, *args)
        if quality.duplication and random.random() < quality.duplication:
            self._fly(path, raw, sent_ns, arrive, *args)

    def lose(self) -> None:
        """A frame does not arrive."""
        self.lost_count += 1

    def _fly(self, path: Path, raw: bytes, sent_ns: int, arrive: Call, *args: object) -> None:
        quality, random = self.quality, path.random
        at_ns = sent_ns + self._delay_ns(path)
        if quality.reordering and random.random() < quality.reordering:
            at_ns += int((at_ns - sent_ns) * random.random() * REORDERED)
        if quality.corruption and random.random() < quality.corruption:
            raw = flipped(raw, random)
        if quality.truncation and random.random() < quality.truncation:
            raw = raw[: random.randrange(len(raw))] if raw else raw
        self._note(at_ns, path, raw)
        self._later(at_ns, arrive, raw, *args)

    # What both have in common.

    def _send(self, path: Path, size: int) -> int:
        """Gives a frame to the link; returns when it has left."""
        now_ns = self._clock.at_ns
        if self.quality.bandwidth:
            busy_ns = size * NS_PER_SECOND // self.quality.bandwidth
            path.free_ns = now_ns = max(now_ns, path.free_ns) + busy_ns
        return now_ns

    def _delay_ns(self, path: Path) -> int:
        quality = self.quality
        delay_ms = quality.delay_ms
        if quality.jitter_ms:
            delay_ms += quality.jitter_ms * path.random.random()
        return int(delay_ms * NS_PER_MS)

    def _note(self, at_ns: int, path: Path, raw: bytes) -> None:
        self.frame_count += 1
        near, far = path.near, path.far
        self._hash.update(_HEAD.pack(at_ns, near.number, far.number, len(raw)))
        self._hash.update(raw)
        self.recent.note((at_ns, near.name, far.name, raw))


def flipped(raw: bytes, random: Stream) -> bytes:
    """A frame of which some bits are the other way round."""
    damaged = bytearray(raw)
    for _ in range(random.randint(1, MAX_FLIPS) if raw else 0):
        damaged[random.randrange(len(damaged))] ^= 1 << random.randrange(8)
    return bytes(damaged)
