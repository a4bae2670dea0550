"""Finding out which is damaged, a batch or its checksum.

A batch holds its own size and number of rows. If the checksum is right for these, the batch is good
and the rest of the entry is damaged. If all but one bit of the checksum are right, that bit is
damaged: a flipped bit of a batch would change more of them.
"""

from typing import BinaryIO

from wireloom.capture.segment import Sum, sum_of
from wireloom.capture.stream import size_of, take_batch, take_message


def repaired(file: BinaryIO, begin: int, sums: list[Sum]) -> list[Sum]:
    """The entries; those that a batch proves to be damaged are corrected.

    Args:
        file: The segment.
        begin: Where its first batch begins.
        sums: The entries as they are.

    Raises:
        OSError: If the file cannot be read.
    """
    size = size_of(file)
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
