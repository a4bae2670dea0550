"""Damaged copies of good frames, and good frames that come once more."""

from collections.abc import Callable
from random import Random
from typing import Final

import msgspec

from wireloom.capture.frame import Direction
from wireloom.generate.scene import Scene
from wireloom.generate.timeline import SECOND_US
from wireloom.registry import protocol
from wireloom.wire.errors import WireError
from wireloom.wire.outcome import Outcome, Reason

HEAD: Final = 16
"""Most frames say what they are in their first bytes: damage there is always found."""


def damage(scene: Scene, at: int) -> None:
    """Schedules a damaged copy of a recent frame, as a node receives and refuses it."""
    original = scene.rng.choice(scene.recent)
    raw, reason = damaged(scene.rng, original.raw, scene.protocol)
    copy = msgspec.structs.replace(
        original,
        captured_at=at,
        direction=Direction.IN,
        raw=raw,
        outcome=Outcome.REJECTED,
        reason=reason,
    )
    if scene.record(copy):
        scene.truth.damaged(scene.protocol)


def replay(scene: Scene, at: int) -> None:
    """Schedules a frame that a node receives once more, if any was received lately."""
    received = [frame for frame in scene.recent if frame.direction is Direction.IN]
    if received:
        original = scene.rng.choice(received)
        again = scene.after(max(at, original.captured_at), 1, 30 * SECOND_US)
        scene.record(
            msgspec.structs.replace(original, captured_at=again, outcome=Outcome.DUPLICATE)
        )


def damaged(rng: Random, raw: bytes, name: str) -> tuple[bytes, Reason]:
    """`raw` with damage that the protocol's codec refuses, and its reason."""
    codec = protocol(name).codec
    while True:
        spoilt = rng.choice(_DAMAGES)(rng, raw)
        try:
            codec.decode(spoilt)
        except WireError as error:
            return spoilt, error.reason


def _cut(rng: Random, raw: bytes) -> bytes:
    return raw[: rng.randrange(len(raw))]


def _flip(rng: Random, raw: bytes) -> bytes:
    spoilt = bytearray(raw)
    for _ in range(rng.randint(1, 8)):
        spoilt[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
    return bytes(spoilt)


def _overwrite_head(rng: Random, raw: bytes) -> bytes:
    size = min(HEAD, len(raw))
    return rng.randbytes(size) + raw[size:]


_DAMAGES: Final[tuple[Callable[[Random, bytes], bytes], ...]] = (_cut, _flip, _overwrite_head)
