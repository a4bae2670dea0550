"""What of a frame does not change, where a protocol says nothing about it."""

import pyarrow as pa

from wireloom.wire.columns import DECODED
from wireloom.wire.content import refused, unchanging


def test_a_frame_is_its_bytes() -> None:
    raws = pa.array([b"one", b"", b"two"], pa.binary())
    batch = pa.RecordBatch.from_pylist([{}, {}, {}], schema=DECODED)
    assert list(unchanging(raws, batch)) == [b"one", b"", b"two"]


def test_a_frame_with_a_reason_is_refused() -> None:
    batch = pa.RecordBatch.from_pylist([{"reason": "malformed"}, {"type": "x"}], schema=DECODED)
    assert refused(batch).tolist() == [True, False]
