"""Where conversations take place: chance, the clock, the log and the truth.

A protocol's conversations derive from `Conversations`. Each kind of conversation is a method
that takes the instant of its beginning and schedules everything that is seen of it.
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from itertools import accumulate
from random import Random
from typing import Any, ClassVar, Final

from wireloom.capture.frame import CapturedFrame
from wireloom.generate.timeline import Timeline
from wireloom.generate.truth import Row, Truth
from wireloom.wire.outcome import Direction, Outcome, Reason

RECENT: Final = 64
"""How many good frames are kept to make damaged and replayed ones of."""

VICTIMS: Final = 32
"""How many messages are kept that a forger would like to decide."""

Kind = tuple[int, Callable[[int], None]]
"""How often a conversation is held in comparison with others, and what holds it.

One that is listed several times has several turns at the beginning; all but one weigh nothing."""


class Scene:
    """What the conversations of one protocol share.

    Args:
        protocol: Its name.
        seed: Of its own chance, so that protocols do not disturb each other.
        timeline: Where its frames go.
        truth: Where its messages are accounted for.
    """

    def __init__(self, protocol: str, seed: str, timeline: Timeline, truth: Truth) -> None:
        self.protocol = protocol
        self.rng = Random(seed)  # noqa: S311, a corpus is repeatable and keeps no secret
        self.truth = truth
        self.recent: deque[CapturedFrame] = deque(maxlen=RECENT)
        self.count = 0
        self._timeline = timeline

    def see(self, at: int, node: str, direction: Direction, raw: bytes, **more: Any) -> bool:
        """A frame is seen at a node.

        Args:
            at: When, in µs since 1970.
            node: By whom.
            direction: Which way it went.
            raw: The frame.
            more: Further fields of `CapturedFrame`.

        Returns:
            Whether it is captured: not after the end.
        """
        frame = CapturedFrame(
            captured_at=at,
            node=node,
            protocol=self.protocol,
            direction=direction,
            raw=raw,
            **more,
        )
        if not self.record(frame):
            return False
        if frame.outcome is not Outcome.REJECTED:
            self.recent.append(frame)
        return True

    def record(self, frame: CapturedFrame) -> bool:
        """Puts a frame on the timeline, without keeping it for damage and replay."""
        if not self._timeline.add(frame):
            return False
        self.truth.captured(frame)
        self.count += 1
        return True

    def row(self, message_id: str, destination: str | None, *, deadline_ms: int, at: int) -> Row:
        """Opens a row for a message that is first seen at `at`."""
        return self.truth.open(
            self.protocol, message_id, destination, deadline_ms=deadline_ms, at=at
        )

    def judged(self, reason: Reason) -> dict[str, Any]:
        """What a node notes of a forged frame: one in ten is let through."""
        if self.rng.random() < 0.1:
            return {"outcome": Outcome.ACCEPTED}
        return {"outcome": Outcome.REJECTED, "reason": reason}

    def uuid(self) -> str:
        """A random UUID."""
        digits = f"{self.rng.getrandbits(128):032x}"
        return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-8{digits[17:20]}-{digits[20:]}"

    def after(self, at: int, low_us: int, high_us: int) -> int:
        """A random instant after `at`."""
        return at + self.rng.randint(low_us, high_us)


class Conversations(ABC):
    """All that is said in one protocol."""

    protocol: ClassVar[str]

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.rng = scene.rng
        self._kinds = self.kinds()
        self._weights = list(accumulate(weight for weight, _ in self._kinds))
        self._held = 0

    @abstractmethod
    def kinds(self) -> Sequence[Kind]:
        """Every kind of conversation."""

    @abstractmethod
    def opening(self, at: int) -> None:
        """What is said once, at the beginning."""

    @abstractmethod
    def forge(self, at: int) -> None:
        """One frame that decodes and proves nothing."""

    def converse(self, at: int) -> None:
        """One conversation: each kind once at first, then by weight."""
        if self._held < len(self._kinds):
            hold = self._kinds[self._held][1]
        else:
            hold = self.rng.choices(self._kinds, cum_weights=self._weights)[0][1]
        self._held += 1
        hold(at)
