"""What must hold in every world, whatever goes wrong in it.

Each invariant has a name and a sentence. Some are noticed where they break (`frames`, `once`,
`unaltered`, …); the others are functions that look at the whole world, again and again or once at
its end.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, Protocol, runtime_checkable

from wireloom.performing.world import NS_PER_MS
from wireloom.sim.ledger import Ledger
from wireloom.sim.parts import Part
from wireloom.sim.recent import Flight

SENTENCES: Final[Mapping[str, str]] = {
    "frames": "Every frame has exactly one outcome.",
    "faults": "No session fails.",
    "once": "Nothing is delivered twice, unless its server died in between.",
    "unaltered": "What arrives is what was sent.",
    "authentic": "What arrives was sent by whom it names.",
    "addressed": "A message reaches nobody whom it is not for.",
    "in_time": "No message is passed on after it has expired.",
    "kept": "What was promised is delivered, whoever died meanwhile.",
    "bounded": "Nothing grows beyond its setting.",
    "drained": "Queues are empty once nothing has gone wrong for a while.",
    "agreed": "Peers that are connected for long enough hold the same unexpired messages.",
}
"""All invariants, as people are told of them."""

SETTLED_SECONDS: Final = 45.0
"""After so long without faults, clients are back and queues are empty."""


class Broken(NamedTuple):
    """An invariant that did not hold."""

    invariant: str
    words: str
    """What was seen."""

    at_ns: int
    machines: tuple[str, ...]
    """Those involved."""

    flights: Sequence[Flight]
    """Their last frames."""


Finding = tuple[str, tuple[str, ...]]
"""What was seen, and at which machines."""


class Scene(Protocol):
    """What invariants look at."""

    ledger: Ledger

    @property
    def parts(self) -> Sequence[Part]:
        """All machines and what they play."""
        ...

    @property
    def now_ns(self) -> int:
        """What time it is."""
        ...

    @property
    def calm_ns(self) -> int:
        """Since when nothing goes wrong."""
        ...


@runtime_checkable
class Holder(Protocol):
    """A part that holds messages which all of its kind shall hold."""

    def flow(self) -> str:
        """Which messages these are."""
        ...

    def held(self, now_ns: int, /) -> frozenset[bytes]:
        """What it holds that will not expire soon."""
        ...

    @property
    def joined_ns(self) -> int | None:
        """Since when it is connected; None while it is not."""
        ...


def faults(scene: Scene) -> Iterator[Finding]:
    """No session fails."""
    for part in scene.parts:
        for fault in part.machine.faults:
            yield f"{part.name}: {type(fault).__name__}: {fault}", (part.name,)


def bounded(scene: Scene) -> Iterator[Finding]:
    """Nothing grows beyond its setting."""
    for part in scene.parts:
        session = part.machine.session
        gauges = session.gauges() if session is not None else {}
        for gauge, most in part.bounds().items():
            value = gauges.get(gauge, 0)
            if value > most:
                yield f"{part.name}: {gauge} is {value:g}, and may be {most}", (part.name,)


def drained(scene: Scene) -> Iterator[Finding]:
    """Queues are empty once nothing has gone wrong for a while."""
    for part in scene.parts:
        session = part.machine.session
        gauges = session.gauges() if session is not None else {}
        for gauge in part.drained():
            if gauges.get(gauge, 0):
                yield f"{part.name}: {gauge} is still {gauges[gauge]:g}", (part.name,)


def kept(scene: Scene) -> Iterator[Finding]:
    """What was promised is delivered, unless it expired, or its connection ended meanwhile."""
    parts = {part.name: part for part in scene.parts}
    settled_ms = (scene.calm_ns + int(SETTLED_SECONDS * 1e9)) // NS_PER_MS
    for message in scene.ledger.messages.values():
        if message.promised and not message.failed and message.expires_ms > settled_ms:
            for name in sorted(parts[message.sender].owed(message)):
                yield f"{message.id} was promised, and is not there", (name, message.sender)


def agreed(scene: Scene) -> Iterator[Finding]:
    """Peers that are connected for long enough hold the same unexpired messages."""
    flows: dict[str, list[Holder]] = {}
    for part in scene.parts:
        if isinstance(part, Holder) and _is_settled(part, scene.now_ns):
            flows.setdefault(part.flow(), []).append(part)
    for name, holders in flows.items():
        held = [holder.held(scene.now_ns) for holder in holders]
        whole = frozenset[bytes]().union(*held)
        for holder, has in zip(holders, held, strict=True):
            if len(has) < len(whole) and isinstance(holder, Part):
                words = f"{holder.name} lacks {len(whole - has)} of {len(whole)} messages of {name}"
                yield words, (holder.name,)


def _is_settled(holder: Holder, now_ns: int) -> bool:
    joined_ns = holder.joined_ns
    return joined_ns is not None and now_ns - joined_ns >= SETTLED_SECONDS * 1e9


Invariant = Callable[[Scene], Iterable[Finding]]

ALWAYS: Final[Sequence[Invariant]] = (faults, bounded)
"""Those that hold at every moment."""

FINALLY: Final[Sequence[Invariant]] = (faults, bounded, drained, kept, agreed)
"""Those that hold at the end of a calm that was long enough."""
