"""Captured frames for tests, and a log of them."""

from pathlib import Path
from typing import Any

from wireloom.capture.frame import CapturedFrame, rows
from wireloom.capture.reader import Damage, read
from wireloom.capture.segment import Segment, segments
from wireloom.capture.writer import CaptureWriter
from wireloom.remote import AnyPath
from wireloom.wire.outcome import Direction, Outcome, Reason

START = 1_700_000_000_000_000


def frame(number: int = 0, **changed: Any) -> CapturedFrame:
    fields: dict[str, Any] = {
        "captured_at": START + number,
        "node": "mesh-01",
        "protocol": "myriadmesh",
        "link": "udp",
        "direction": Direction.IN,
        "raw": b"MYMS%d" % number,
        "peer": "mesh-02",
    }
    return CapturedFrame(**{**fields, **changed})


FULL = frame(
    7,
    node="swarm-a-04",
    protocol="uep12",
    direction=Direction.OUT,
    outcome=Outcome.REJECTED,
    reason=Reason.BAD_POW,
    swarm="a",
    epoch_ms=60_000,
)
"""A frame with every field."""

BARE = frame(8, protocol=None, peer=None, direction=Direction.LOCAL, raw=b"")
"""A frame with none that can be missing."""


def log(folder: Path, *, batches: int = 3, size: int = 2, node: str = "mesh-01") -> Segment:
    """A sealed segment of `batches` batches of `size` frames."""
    with CaptureWriter(folder, node) as writer:
        for number in range(batches * size):
            writer.append(frame(number, node=node))
            if number % size == size - 1:
                writer.flush()
    (segment,) = [one for one in segments(folder) if one.node == node]
    return segment


def sequences(folder: AnyPath) -> list[int]:
    """The numbers of all frames that can be read."""
    batches = [item for item in read(folder) if not isinstance(item, Damage)]
    return [row["sequence"] for batch in batches for row in rows(batch)]


def raws(folder: Path) -> list[bytes]:
    """All frames that can be read."""
    batches = [item for item in read(folder) if not isinstance(item, Damage)]
    return [row["raw"] for batch in batches for row in rows(batch)]


def damage(folder: Path) -> list[Damage]:
    """All that cannot be read."""
    return [item for item in read(folder) if isinstance(item, Damage)]


def spoil(path: AnyPath, offset: int) -> None:
    """Flips a bit."""
    raw = bytearray(path.read_bytes())
    raw[offset] ^= 1
    path.write_bytes(raw)
