"""What machines play: a session, and an application that uses it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Final, Protocol, TypeVar

import msgspec

from wireloom.performing.world import NS_PER_MS
from wireloom.registry import protocol
from wireloom.sim.ledger import Ledger, Meant, content
from wireloom.sim.machine import Machine
from wireloom.sim.streams import Stream
from wireloom.sim.tables import Traffic
from wireloom.sim.world import World
from wireloom.wire.session import Conclude, Requested, Session
from wireloom.wire.settings import Settings

REOPEN_NS: Final = 2_000 * NS_PER_MS
"""How long an application waits before it asks for a connection again."""

S = TypeVar("S", bound=Settings)


class Stage(Protocol):
    """Where parts are played."""

    world: World
    ledger: Ledger

    def of_role(self, role: str, /) -> Sequence["Part"]:
        """All who play a role."""
        ...

    def broken(self, invariant: str, words: str, /, *machines: str) -> None:
        """Something happened that must not."""
        ...


class Part(ABC):
    """One machine and what it plays.

    Args:
        stage: Where it is played.
        machine: What it runs on.
        limits: The settings of its session by name.
        wish: What its application does.
        random: What it decides by chance.
    """

    ROLE: ClassVar[str]
    """Its name in scenarios."""

    PROTOCOL: ClassVar[str]
    """What it speaks."""

    IS_NODE: ClassVar[bool] = False
    """Whether it is what `wireloom serve` serves, which captures its frames."""

    ACTS: ClassVar[Sequence[str]] = ()
    """What its application can do; the first is what it does most."""

    says: Callable[[bytes, int], None] | None = None
    """Takes note of what its session sends, and when by its own clock; None if nobody asks."""

    def __init__(
        self,
        stage: Stage,
        machine: Machine,
        limits: Mapping[str, Any],
        wish: Traffic,
        random: Stream,
    ) -> None:
        self.stage = stage
        self.machine = machine
        self.limits = limits
        self.wish = wish
        self.random = random
        self.lives = 0
        self.crashes: list[int] = []
        """When its machine died."""
        machine.deliver = self.hears
        machine.misses = self.misses
        self.settle_in()

    @classmethod
    def kinds(cls) -> Sequence[str]:
        """What its application can do."""
        return cls.ACTS

    @classmethod
    @abstractmethod
    def check(cls, name: str, limits: Mapping[str, Any], error: Callable[[str], Exception]) -> None:
        """Raises an error if these settings cannot be."""

    @abstractmethod
    def session(self) -> Session:
        """The session of a new life."""

    @property
    def name(self) -> str:
        """Its machine's name."""
        return self.machine.name

    @property
    def boot(self) -> str:
        """A text that no other life has."""
        return f"{self.stage.world.streams.seed} {self.name} {self.lives}"

    def settle_in(self) -> None:  # noqa: B027 - most have nothing to do
        """Makes its machine reachable."""

    def wake(self) -> None:  # noqa: B027
        """What its application does first in a life."""

    def hears(self, item: object) -> None:
        """Takes what the session delivers."""
        del item

    def misses(self, raw: bytes) -> None:
        """Takes note of a frame that was under way when its connection ended."""
        self.stage.ledger.lose(raw, self.name)

    def heard(self, raw: bytes, conclusion: Conclude) -> None:
        """Takes note of a message that a node has captured, and of what became of it there."""
        del conclusion
        message = self.stage.ledger.find(raw)
        if message is None or message.deadline_ms is not None:
            return
        known = protocol(self.PROTOCOL)
        decoded = known.codec.decode(raw)
        message.deadline_ms = known.record.summarise(decoded, raw).expires_ms

    def composed(self, raw: bytes) -> None:  # noqa: B027
        """Takes note of what a node said of a message to nobody."""

    def destinations(self, message: Meant) -> list[tuple[str | None, tuple[str, ...]]]:
        """For whom its messages are, as the books name them, and on which machines they are."""
        return [(None, message.targets)]

    def act(self) -> None:
        """Does one of the things that its application does."""
        if not self.machine.is_up or self.machine.is_paused:
            return
        weights = self.wish.kinds or {self.ACTS[0]: 1.0}
        kind = self.random.choices(list(weights), list(weights.values()))[0]
        getattr(self, f"do_{kind}")()

    def bounds(self) -> Mapping[str, int]:
        """What gauges may reach."""
        return {}

    def drained(self) -> Sequence[str]:
        """The gauges that are 0 once nothing has gone wrong for a while."""
        return ()

    def owed(self, message: Meant) -> Collection[str]:
        """The machines at which a message of its is missing that was promised to them."""
        return message.promised - message.arrived.keys() - message.lost

    @property
    def lifetime_ms(self) -> int:
        """For how long its messages are worth delivering."""
        return int(self.wish.ttl_seconds * 1_000)

    def recognises(self, text: str, sender: str | None = None) -> Meant | None:
        """Holds a message that arrived against the books; gives it, if somebody has sent it.

        Args:
            text: What it says.
            sender: Whom it names as its sender, if it names one.
        """
        broken = self.stage.broken
        message = self.stage.ledger.messages.get(text[1:37])
        if message is None or sender not in (None, message.sender):
            broken("authentic", f"{text:.60} from {sender} was never sent", self.name)
            return None
        if message.content != text:
            broken("unaltered", f"{message.id} arrived as {text:.80}", self.name, message.sender)
        if message.targets and self.name not in message.targets:
            broken("addressed", f"{message.id} is for {message.targets}", self.name, message.sender)
        return message

    def counts(self, message: Meant, keeper: "Part") -> None:
        """Counts that a message arrived: once more for each time that its keeper has died."""
        times = message.arrived.setdefault(self.name, [])
        times.append(self.stage.world.now_ns)
        again = sum(at_ns >= message.at_ns for at_ns in keeper.crashes)
        if len(times) > 1 + again:
            words = f"{message.id} arrived {len(times)} times, and {keeper.name} died {again} times"
            self.stage.broken("once", words, self.name, keeper.name)

    def asks(self, request: object) -> None:
        """Has the session hear what its application wants, once this turn is over."""
        self.stage.world.post(self._ask, self.machine.session, request)

    def means(self, message_id: str, targets: Iterable["Part"], slack_seconds: float = 0) -> Meant:
        """Enters a message in the books, before it is sent."""
        now_ms = self.machine.clock.now_ns() // NS_PER_MS
        message = Meant(
            id=message_id,
            sender=self.name,
            targets=tuple(one.name for one in targets),
            content=content(message_id, self.wish.size, self.random),
            at_ns=self.stage.world.now_ns,
            expires_ms=now_ms + self.lifetime_ms + int(slack_seconds * 1_000),
        )
        self.stage.ledger.enter(message)
        return message

    def next_id(self) -> str:
        """An id for a message."""
        assert self.machine.session is not None
        return self.machine.session.ids.next()

    def others(self) -> list["Part"]:
        """All others of its role."""
        return [one for one in self.stage.of_role(self.ROLE) if one is not self]

    def _ask(self, life: object, request: object) -> None:
        if self.machine.is_up and self.machine.session is life:
            self.machine.hear(Requested(request))


def converted(
    cls: type[S], name: str, given: Mapping[str, Any], error: Callable[[str], Exception]
) -> S:
    """Settings from what a scenario gives.

    Raises:
        Exception: What `error` makes, if they cannot be.
    """
    try:
        return msgspec.convert(given, cls)
    except msgspec.ValidationError as wrong:
        raise error(f"{name}.limits: {wrong}") from None
