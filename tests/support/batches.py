"""Frames for the tests of batches, and the slow way that every fast one has to agree with."""

from random import Random

import pyarrow as pa

from support.cases import Case
from support.damage import damaged
from wireloom.wire.columns import MessageColumn, decode_each

DAMAGED = 600


def mixed(case: Case) -> list[bytes]:
    """Good frames, each twice, among damaged ones."""
    random = Random(3)
    frames = [*case.frames, *case.frames]
    frames += [damaged(random, case.frames) for _ in range(DAMAGED)]
    random.shuffle(frames)
    return frames


def expected(case: Case, column: MessageColumn, raws: list[bytes]) -> pa.RecordBatch:
    """What the codec says of every frame, one by one."""
    return decode_each(column, case.protocol.codec.decode, case.protocol.record.summarise, raws)
