"""What of a MyriadMesh frame does not change on its way: all but hop count and relay flag (R3)."""

from collections.abc import Iterable
from itertools import pairwise

import numpy as np
import pyarrow as pa

from wireloom.protocols.myriadmesh.header import FLAGS_AT, RELAY, TTL_AT
from wireloom.wire.content import refused


def unchanging(raws: pa.BinaryArray, decoded: pa.RecordBatch) -> Iterable[memoryview]:
    """Each frame with its hop count and relay flag cleared, as when it was signed.

    A frame that is refused stays as it is.

    Args:
        raws: The frames, none of them null.
        decoded: What `columns.decode` gave for them.
    """
    if not len(raws):
        return ()
    _, offsets, buffer = raws.buffers()
    bounds = np.frombuffer(offsets, np.int32)[raws.offset :][: len(raws) + 1]
    data = np.frombuffer(buffer or b"", np.uint8)[bounds[0] : bounds[-1]].copy()
    bounds = bounds - bounds[0]
    starts = bounds[:-1][~refused(decoded)]
    data[starts + FLAGS_AT] &= 0xFF & ~RELAY
    data[starts + TTL_AT] = 0
    whole = data.data
    return (whole[begin:end] for begin, end in pairwise(bounds.tolist()))
