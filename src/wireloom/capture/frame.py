"""One captured frame, and the columns it is kept in.

`captured_at` is the clock of the node that saw the frame; it orders everything downstream.
A sender's own times are data inside `raw`.
"""

from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Any, Final

import msgspec
import pyarrow as pa

from wireloom.wire.outcome import Direction, Outcome, Reason


class CapturedFrame(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A frame as one node saw it."""

    captured_at: int
    """When, in µs since 1970, UTC."""

    node: str
    """Who saw it."""

    protocol: str | None
    """What it is; None where only the bytes can tell."""

    link: str
    """On which link: `udp`, `lora0`, `ws`…"""

    direction: Direction
    """Whether it came in, went out, or was made here."""

    raw: bytes
    """The frame."""

    peer: str | None = None
    """Who was at the other end."""

    outcome: Outcome | None = None
    """What became of it at this node."""

    reason: Reason | None = None
    """Why it was refused."""

    swarm: str | None = None
    """The swarm it belongs to (UEP-12 frames do not say)."""

    epoch_ms: int | None = None
    """That swarm's epoch."""


SCHEMA: Final = pa.schema(
    [
        pa.field("sequence", pa.int64(), nullable=False),
        pa.field("captured_at", pa.timestamp("us", tz="UTC"), nullable=False),
        pa.field("node", pa.string(), nullable=False),
        pa.field("protocol", pa.string()),
        pa.field("link", pa.string(), nullable=False),
        pa.field("direction", pa.string(), nullable=False),
        pa.field("peer", pa.string()),
        pa.field("outcome", pa.string()),
        pa.field("reason", pa.string()),
        pa.field("swarm", pa.string()),
        pa.field("epoch_ms", pa.int64()),
        pa.field("raw", pa.binary(), nullable=False),
    ]
)
"""The columns of a segment."""


_NAMES: Final = tuple(SCHEMA.names[1:])
_values: Final = attrgetter(*_NAMES)


def to_batch(frames: Sequence[CapturedFrame], *, first_sequence: int) -> pa.RecordBatch:
    """Frames as one batch, numbered from `first_sequence`."""
    numbers = range(first_sequence, first_sequence + len(frames))
    columns: list[Sequence[Any]] = [numbers, *zip(*map(_values, frames), strict=True)]
    if not frames:
        columns += [[] for _ in _NAMES]
    arrays = [pa.array(values, field.type) for values, field in zip(columns, SCHEMA, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)


def rows(batch: pa.RecordBatch) -> Iterator[dict[str, Any]]:
    """The rows of a batch by column, `captured_at` in µs: no value in a segment fails here."""
    columns = [batch.column(name) for name in SCHEMA.names]
    columns[1] = columns[1].cast(pa.int64())
    for values in zip(*[column.to_pylist() for column in columns], strict=True):
        yield dict(zip(SCHEMA.names, values, strict=True))


def from_batch(batch: pa.RecordBatch) -> list[CapturedFrame]:
    """The mirror of `to_batch`.

    Raises:
        msgspec.ValidationError: If a direction, outcome or reason is not a listed one.
    """
    return [msgspec.convert(row, CapturedFrame) for row in rows(batch)]
