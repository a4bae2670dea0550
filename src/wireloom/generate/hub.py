"""A Signal Hub and its actors; only the hub captures.

Every message is `in` from an actor or `out` to one. This module knows the actors and how the
hub answers; what they talk about is in `hub_talk`.
"""

from typing import Any, Final, TypeVar

from wireloom.capture.frame import Direction
from wireloom.generate.scene import Scene
from wireloom.generate.timeline import SECOND_US
from wireloom.protocols.signalhub.codec import encode, encode_msgpack
from wireloom.protocols.signalhub.constants import HUB_ADDRESS, SEND_TTL_MS
from wireloom.protocols.signalhub.envelope import Inner, SharedMessage, emitted
from wireloom.protocols.signalhub.messages import Application
from wireloom.wire.outcome import Outcome

HUB: Final = "hub-1"
LINK: Final = "ws"

M = TypeVar("M", bound=SharedMessage)

ACTORS: Final = tuple(
    f"@({runtime}/{name}-{number:02d})"
    for runtime, name in (("browser", "widget"), ("server", "worker"), ("phone", "client"))
    for number in range(1, 9)
)
PACKED: Final = frozenset(ACTORS[-2:])
"""These speak MessagePack."""

SKEWED_MS: Final = {ACTORS[3]: 120_000, ACTORS[9]: -90_000}
"""These have clocks that are off."""


class Hub:
    """The hub: what comes in and goes out.

    Args:
        scene: Where it is.
    """

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.rng = scene.rng

    def pair(self) -> tuple[str, str]:
        """Two actors that talk to each other."""
        one, other = self.rng.sample(ACTORS, 2)
        return one, other

    def heard(self, cls: type[M], actor: str, at: int, **more: Any) -> M:
        """An actor says something to the hub, which accepts it if nothing else is said.

        Args:
            cls: The message's class.
            actor: Who says it.
            at: When.
            more: Further fields; `outcome` and `reason` are the hub's.
        """
        verdict = {"outcome": more.pop("outcome", Outcome.ACCEPTED)}
        verdict |= {"reason": more.pop("reason", None)}
        message = emitted(
            cls(
                id=self.scene.uuid(),
                from_=more.pop("from_", actor),
                to=HUB_ADDRESS,
                timestamp=at // 1000 + SKEWED_MS.get(actor, 0),
                **more,
            )
        )
        self._see(at, actor, Direction.IN, message, **verdict)
        return message

    def said(self, cls: type[SharedMessage], actor: str, at: int, **more: Any) -> int:
        """The hub says something to an actor; gives the instant."""
        at = self.scene.after(at, 500, 20_000)
        message = cls(
            id=self.scene.uuid(),
            from_=HUB_ADDRESS,
            to=actor,
            pattern="tell",
            timestamp=at // 1000,
            **more,
        )
        self._see(at, actor, Direction.OUT, emitted(message))
        return at

    def forwarded(self, message: SharedMessage, inner: Inner, target: str, at: int) -> int:
        """The hub passes on what a message carries; gives the instant."""
        at = self.scene.after(at, 500, SECOND_US // 5)
        passed = Application(
            id=self.scene.uuid(),
            from_=message.from_,
            to=target,
            pattern=message.pattern,
            timestamp=at // 1000,
            type=inner.type,
            payload=inner.payload,
            metadata={"forwarded": True, "originalMessageId": message.id, "via": HUB_ADDRESS},
        )
        self._see(at, target, Direction.OUT, emitted(passed))
        return at

    def _see(
        self, at: int, actor: str, direction: Direction, message: SharedMessage, **more: Any
    ) -> None:
        raw = encode_msgpack(message) if actor in PACKED else encode(message)
        self.scene.see(at, HUB, direction, raw, link=LINK, peer=actor, **more)


def deadline_ms(message: SharedMessage) -> int:
    """After which nobody waits for it: 30 s if it names no lifetime."""
    return message.timestamp + (message.ttl if isinstance(message.ttl, int) else SEND_TTL_MS)
