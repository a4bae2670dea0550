"""Are the column kernels of MyriadMesh and UEP-12 twenty times as fast as their codecs?

The kernel decodes batches to Arrow columns: all fields as text and numbers, and the common
record. `decode_each` makes the same columns with the codec, frame by frame: that is the
comparison with a goal. The codec alone does less: it gives messages, with their bytes as they
came, and no columns; how the kernel compares with that is for information. Each frame is seen at
five nodes at about the same time, as relayed traffic is.
"""

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any, Final

import pyarrow as pa

from mesh import NOW_MS, SIGHTINGS, SPREAD, frames, seen
from timing import Figure, compare
from wireloom.protocols.myriadmesh import codec as myriadmesh_codec
from wireloom.protocols.myriadmesh import columns as myriadmesh_columns
from wireloom.protocols.myriadmesh import record as myriadmesh_record
from wireloom.protocols.uep12 import codec as uep12_codec
from wireloom.protocols.uep12 import columns as uep12_columns
from wireloom.protocols.uep12 import messages as uep12
from wireloom.protocols.uep12 import record as uep12_record
from wireloom.wire.columns import MessageColumn, decode_each
from wireloom.wire.message import Message, Summary

FRAMES: Final = 100_000
DISTINCT: Final = FRAMES // SIGHTINGS
BATCH: Final = 10_000


def measure() -> list[Figure]:
    """The figures."""
    return [
        *_figures(
            "MyriadMesh",
            [sighting.raw for sighting in seen(Random(1), frames(Random(1), DISTINCT), SIGHTINGS)],
            myriadmesh_columns.decode,
            myriadmesh_codec.decode,
            (myriadmesh_columns.COLUMN, myriadmesh_codec.decode, myriadmesh_record.summarise),
        ),
        *_figures(
            "UEP-12",
            _uep12(Random(1)),
            uep12_columns.decode,
            uep12_codec.decode,
            (uep12_columns.COLUMN, uep12_codec.decode, uep12_record.summarise),
        ),
    ]


def _figures(
    name: str,
    frames: list[bytes],
    kernel: Callable[[pa.BinaryArray], pa.RecordBatch],
    decode: Callable[[bytes], Message],
    reference: tuple[MessageColumn, Callable[[bytes], Message], Callable[[Any, bytes], Summary]],
) -> Iterator[Figure]:
    array = pa.array(frames, pa.binary())
    batches = [array.slice(start, BATCH) for start in range(0, FRAMES, BATCH)]
    sample = frames[:BATCH]
    yield compare(
        f"{name} columns, {FRAMES:,} frames",
        lambda: _each(kernel, batches),
        lambda: _each(decode, frames),
        peer_name="codec.decode, no columns",
        goal=None,
        items=FRAMES,
    )
    yield compare(
        f"{name} columns, {BATCH:,} frames",
        lambda: kernel(batches[0]),
        lambda: decode_each(*reference, sample),
        peer_name="codec, the same columns",
        goal=20,
        items=BATCH,
    )


def _each(job: Callable[[Any], object], items: Sequence[object]) -> None:
    """Nothing is kept: what is decoded goes on at once."""
    for item in items:
        job(item)


def _sighted(random: Random, messages: list[bytes]) -> list[bytes]:
    """Each message at some nodes, at about the same time."""
    places = [
        (place + random.random() * SPREAD, message)
        for place, message in enumerate(messages)
        for _ in range(SIGHTINGS)
    ]
    return [message for _, message in sorted(places)]


def _uep12(random: Random) -> list[bytes]:
    """Mostly content that refers to two earlier messages, and pulls of what was missed."""
    makers = random.choices(
        (_content, _list, _pull_by_hash, _pull_by_time),
        weights=(80, 4, 12, 4),
        k=DISTINCT,
    )
    return _sighted(random, [uep12_codec.encode(maker(random)) for maker in makers])


def _content(random: Random) -> Message:
    return uep12.Content(
        pow_nonce=random.getrandbits(18),
        timestamp=NOW_MS + random.randrange(3_600_000),
        ttl_epoch=60,
        references=tuple(
            uep12.Reference(msg_hash=random.randbytes(8), epoch_diff=random.randint(-2, 9))
            for _ in range(random.choice((1, 2, 2, 2, 3, 4)))
        ),
        payload=random.randbytes(random.randint(20, 120)),
    )


def _hashes(random: Random, most: int) -> tuple[bytes, ...]:
    return tuple(random.randbytes(8) for _ in range(random.randint(1, most)))


def _list(random: Random) -> Message:
    return uep12.MessageList(
        ticket=random.randbytes(4),
        start_time=NOW_MS,
        end_time=NOW_MS + 60_000,
        msg_hashes=_hashes(random, 40),
    )


def _pull_by_hash(random: Random) -> Message:
    return uep12.PullByHash(msg_hashes=_hashes(random, 4))


def _pull_by_time(random: Random) -> Message:
    return uep12.PullByTime(ticket=random.randbytes(4), start_time=NOW_MS, end_time=NOW_MS + 60_000)
