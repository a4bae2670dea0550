"""Are the column kernels of MyriadMesh and UEP-12 twenty times as fast as their codecs?

The kernel decodes batches to Arrow columns: all fields as text and numbers, and the common
record. `decode_each` makes the same columns with the codec, frame by frame. The codec alone
does less: it gives messages, with their bytes as they came, and no columns. Each frame is seen
at five nodes at about the same time, as relayed traffic is.
"""

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any, Final

import pyarrow as pa

from timing import Figure, compare
from wireloom.protocols.myriadmesh import codec as myriadmesh_codec
from wireloom.protocols.myriadmesh import columns as myriadmesh_columns
from wireloom.protocols.myriadmesh import messages as myriadmesh
from wireloom.protocols.myriadmesh import record as myriadmesh_record
from wireloom.protocols.myriadmesh.constants import (
    AckType,
    Command,
    ContentType,
    Flags,
    QueryType,
    TestType,
)
from wireloom.protocols.uep12 import codec as uep12_codec
from wireloom.protocols.uep12 import columns as uep12_columns
from wireloom.protocols.uep12 import messages as uep12
from wireloom.protocols.uep12 import record as uep12_record
from wireloom.wire.columns import MessageColumn, decode_each
from wireloom.wire.message import Message, Summary

FRAMES: Final = 100_000
SIGHTINGS: Final = 5
SPREAD: Final = 200
"""How many other frames come between two sightings of one."""

BATCH: Final = 10_000
NOW_MS: Final = 1_760_000_000_000


def measure() -> list[Figure]:
    """The figures."""
    return [
        *_figures(
            "MyriadMesh",
            _myriadmesh(Random(1)),
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
        goal=20,
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


def _sighted(random: Random, frames: list[bytes]) -> list[bytes]:
    """Each frame at some nodes, at about the same time."""
    seen = [
        (place + random.random() * SPREAD, frame)
        for place, frame in enumerate(frames)
        for _ in range(SIGHTINGS)
    ]
    return [frame for _, frame in sorted(seen)]


def _myriadmesh(random: Random) -> list[bytes]:
    """Mostly data, mostly sealed, with what goes along with it."""
    makers = random.choices(
        (_sealed, _data, _heartbeat, _ack, _ping, _query, _test),
        weights=(45, 15, 15, 15, 3, 3, 4),
        k=FRAMES // SIGHTINGS,
    )
    nodes = [random.randbytes(32) for _ in range(50)]
    frames = [_frame(random, nodes, *maker(random)) for maker in makers]
    return _sighted(random, [myriadmesh_codec.encode(frame) for frame in frames])


def _frame(
    random: Random, nodes: list[bytes], payload: myriadmesh.Payload, flags: Flags, type_: str
) -> Message:
    return myriadmesh.Frame(
        flags=flags | Flags.SIGNED,
        message_type=myriadmesh.TYPES[type_].message_type,  # type: ignore[attr-defined]
        priority=random.choice((32, 96, 160, 160, 208, 240)),
        ttl=random.randint(4, 10),
        message_id=random.randbytes(16),
        source_node_id=random.choice(nodes),
        dest_node_id=random.choice(nodes),
        timestamp=NOW_MS + random.randrange(3_600_000),
        payload=payload,
        signature=random.randbytes(64),
    )


Made = tuple[myriadmesh.Payload, Flags, str]


def _sealed(random: Random) -> Made:
    sealed = myriadmesh.Sealed(ciphertext=random.randbytes(random.randint(37, 137)))
    return sealed, Flags.ENCRYPTED, "DATA"


def _data(random: Random) -> Made:
    data = random.randbytes(random.randint(20, 120))
    return myriadmesh.Data(content_type=ContentType.TEXT, data=data), Flags.RELAY, "DATA"


def _heartbeat(random: Random) -> Made:
    beat = myriadmesh.Heartbeat(
        sequence_number=random.getrandbits(16), uptime=random.getrandbits(20), load_average=0.5
    )
    return beat, Flags(0), "HEARTBEAT"


def _ack(random: Random) -> Made:
    ack = myriadmesh.Ack(original_message_id=random.randbytes(16), ack_type=AckType.DELIVERED)
    return ack, Flags.ACK, "CONTROL"


def _ping(random: Random) -> Made:
    ping = myriadmesh.Control(command=Command.PING, parameters=random.randbytes(8))
    return ping, Flags(0), "CONTROL"


def _query(random: Random) -> Made:
    query = myriadmesh.DhtQuery(query_type=QueryType.FIND_NODE, key=random.randbytes(32))
    return query, Flags(0), "DHT_QUERY"


def _test(random: Random) -> Made:
    test = myriadmesh.TestRequest(
        test_type=TestType.PING, test_id=random.randbytes(8), test_payload=random.randbytes(32)
    )
    return test, Flags(0), "TEST_REQUEST"


def _uep12(random: Random) -> list[bytes]:
    """Mostly content that refers to two earlier messages, and pulls of what was missed."""
    makers = random.choices(
        (_content, _list, _pull_by_hash, _pull_by_time),
        weights=(80, 4, 12, 4),
        k=FRAMES // SIGHTINGS,
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
