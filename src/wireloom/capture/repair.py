"""Which of a batch and its checksum is damaged.

A batch tells its own size and its rows. If its checksum is right for those, it is where the entry
says something else that is damaged, and not the batch. If all but one bit of the checksum is
right, it is that bit: a flipped bit of a batch changes more of them.
"""

import os
from typing import BinaryIO

from wireloom.capture.segment import Sum, sum_of
from wireloom.capture.stream import take_batch, take_message


def repaired(file: BinaryIO, begin: int, sums: list[Sum]) -> list[Sum]:
    """The entries, with those set right of which a batch proves that they are damaged.

    Args:
        file: The segment.
        begin: Where its first batch begins.
        sums: The entries as they are.

    Raises:
        OSError: If the file cannot be read.
    """
    size = os.fstat(file.fileno()).st_size
    found = []
    for sum_ in sums:
        message = take_message(file, begin)
        right = None if message is None else _right(message, begin, sum_)
        found.append(right or sum_)
        if right is None and message is not None and not begin < sum_.end <= size:
            begin += len(message)
        else:
            begin = found[-1].end
    return found


def _right(message: bytes, begin: int, sum_: Sum) -> Sum | None:
    """What the entry of a batch must be, if the batch is good."""
    batch = take_batch(message)
    if isinstance(batch, str):
        return None
    right = sum_of(message, end=begin + len(message), rows=batch.num_rows)
    flipped = (right.checksum ^ sum_.checksum).bit_count()
    is_bit = flipped == 1 and (right.end, right.rows) == (sum_.end, sum_.rows)
    return right if flipped == 0 or is_bit else None
