"""What of a frame does not change on its way: the whole of it.

This is so for every protocol that has no module `content` of its own, in the same shape.
"""

from collections.abc import Iterable
from typing import Any

import numpy.typing as npt
import pyarrow as pa


def unchanging(raws: pa.BinaryArray, decoded: pa.RecordBatch) -> Iterable[bytes]:
    """The bytes of each frame.

    Args:
        raws: The frames, none of them null.
        decoded: What the protocol's `columns.decode` gave for them.
    """
    del decoded
    frames: list[bytes] = raws.to_pylist()
    return frames


def refused(decoded: pa.RecordBatch) -> npt.NDArray[Any]:
    """Which of the frames do not decode, as booleans: these are their bytes and no more."""
    mask: npt.NDArray[Any] = decoded.column("reason").is_valid().to_numpy(zero_copy_only=False)
    return mask
