"""DTN control messages in signed bundles, and sightings of them."""

from typing import Any

from wireloom.capture.frame import CapturedFrame
from wireloom.protocols.dtn.codec import encode
from wireloom.protocols.dtn.constants import Destination
from wireloom.protocols.dtn.integrity import compose, sign
from wireloom.protocols.dtn.messages import ControlMessage
from wireloom.wire.keys import SigningKey
from wireloom.wire.outcome import Direction

NOW_MS = 1_700_000_000_000
ANN, BOB, EVE = (SigningKey(bytes([n]) * 32) for n in (1, 2, 3))


def signed(message: ControlMessage, key: SigningKey) -> Any:
    """`message` with its own signature by `key`."""
    return sign(message, key)


def bundle(message: ControlMessage, key: SigningKey, *, at: int = 0) -> bytes:
    """`message` in a bundle that `key` signs `at` ms after NOW_MS."""
    to = (Destination.CLUSTER, b"\x0c" * 32)
    return encode(compose(message, key, to, created_at=NOW_MS + at))


def sighting(raw: bytes, *, at: int = 0, node: str = "n1") -> CapturedFrame:
    """`raw` as it came in at a node `at` ms after NOW_MS."""
    return CapturedFrame(
        captured_at=(NOW_MS + at) * 1000,
        node=node,
        protocol="dtn",
        link="nearby",
        direction=Direction.IN,
        raw=raw,
    )
