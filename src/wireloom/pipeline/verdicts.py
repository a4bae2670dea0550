"""What signatures and proofs of work say, each distinct frame once.

Python sees rows here and in the data source only. Signed protocols need keys: those come from
the traffic itself, since a public key certifies its own owner by its hash.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import pyarrow as pa

from wireloom.registry import every
from wireloom.registry import protocol as protocol_named
from wireloom.wire.errors import WireError
from wireloom.wire.outcome import Auth

CHECKED: Final = tuple(one.name for one in every() if one.has_proof)
"""The protocols whose frames carry a proof."""

WANTED: Final = ("protocol", "content", "signer", "raw")
"""What is judged."""

WANTED_OF_FRAMES: Final = ("protocol", "content", "source", "raw")
"""The same, as `frames` calls it."""

SCHEMA: Final = pa.schema(
    [
        *((name, pa.string()) for name in ("protocol", "content", "signer", "auth")),
        ("slice", pa.int64()),
    ]
)

PIECE: Final = 512
"""Rows that are judged at a time by one of several threads."""


def judge(protocol: str, raw: bytes, keys: Iterable[bytes]) -> Auth:
    """What is known of one frame.

    A frame that carries a signed message is as good as the weaker of the two signatures. The
    inner one must be by a key that the frame itself brings.
    """
    spoken = protocol_named(protocol)
    try:
        message = spoken.codec.decode(raw)
    except WireError:
        return Auth.INVALID
    auth = spoken.integrity.authenticate(message, raw, list(keys))
    inner = spoken.inner_auth(message, ()) if auth is Auth.VALID else None
    return auth if inner is None else inner


def judged_beside(rows: pa.Table, keys: Mapping[str, bytes], place: int) -> pa.Table:
    """The verdicts on rows in this process: libsodium lets other threads go on."""
    whole = rows.combine_chunks()
    pieces = [whole.slice(begin, PIECE) for begin in range(0, whole.num_rows, PIECE)]
    judge_all = judge_batches(keys, place)
    with ThreadPoolExecutor() as pool:
        found = pool.map(lambda piece: list(judge_all(iter(piece.to_batches()))), pieces)
        return pa.Table.from_batches([batch for part in found for batch in part], SCHEMA)


def judge_batches(
    keys: Mapping[str, bytes], place: int
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """A function for `mapInArrow`: rows of protocol, content, signer and raw get a verdict.

    Args:
        keys: Public keys by the hex of who they belong to.
        place: The slice with which they are judged.
    """

    def judged(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            columns = [batch.column(name).to_pylist() for name in ("protocol", "signer", "raw")]
            found = [
                _judge(protocol, raw, keys.get(signer)).value
                for protocol, signer, raw in zip(*columns, strict=True)
            ]
            told = [batch.column(name) for name in ("protocol", "content", "signer")]
            places = pa.repeat(pa.scalar(place, pa.int64()), batch.num_rows)
            yield pa.RecordBatch.from_arrays(
                [*told, pa.array(found, pa.string()), places], schema=SCHEMA
            )

    return judged


def _judge(protocol: str, raw: bytes, key: bytes | None) -> Auth:
    """What `judge` says, without decoding a frame again where its protocol can do so."""
    quick = protocol_named(protocol).sound_auth
    auth = None if quick is None else quick(raw, key)
    return judge(protocol, raw, [] if key is None else [key]) if auth is None else auth
