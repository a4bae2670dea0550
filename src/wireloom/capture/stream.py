"""The Arrow stream within a segment: where messages begin, and what is in them.

```
schema message | batch message … | ff ff ff ff 00 00 00 00
```
"""

import os
from functools import lru_cache
from typing import BinaryIO, Final, NamedTuple

import pyarrow as pa

from wireloom.capture.frame import SCHEMA
from wireloom.capture.framing import (
    MAX_BATCH_SIZE,
    PREFIX_SIZE,
    batch_size,
    body_size,
    metadata_size,
)
from wireloom.capture.identity import DIGITS, KEY, put_identity, take_identity
from wireloom.capture.segment import Sum, sum_of
from wireloom.remote import AnyPath, RemoteFile

END: Final = b"\xff\xff\xff\xff\x00\x00\x00\x00"
"""What an Arrow stream ends with."""

HEAD: Final = bytes(memoryview(SCHEMA.serialize()))
"""What a segment without an identity begins with."""

DAMAGED: Final = "the schema is damaged"

_PLAIN: Final = pa.ipc.IpcWriteOptions()
_COMPRESSED: Final = pa.ipc.IpcWriteOptions(compression="lz4")
_FAULTS: Final = (pa.ArrowException, OSError, ValueError, EOFError, MemoryError)
"""What Arrow raises when bytes are not what they should be."""


class Head(NamedTuple):
    """What a segment begins with."""

    size: int
    """Where the first batch begins."""

    fault: str | None = None
    """What is wrong with the schema."""

    identity: str | None = None
    """Which log the segment belongs to, if it says so."""


def put_head(identity: str) -> bytes:
    """What the segments of a log begin with."""
    schema = SCHEMA.with_metadata({KEY: put_identity(identity)})
    return bytes(memoryview(schema.serialize()))


def take_head(file: BinaryIO) -> Head:
    """The head of a segment, which is read from its beginning.

    Where the schema is damaged, the first batch begins where versions of this program put it.
    """
    raw = file.read(PREFIX_SIZE)
    size = PREFIX_SIZE + (metadata_size(raw) or len(HEAD) - PREFIX_SIZE)
    raw += file.read(size - len(raw))
    fault, identity = _told(raw)
    return Head(_likely_size(file) if fault == DAMAGED else size, fault, identity)


@lru_cache
def _told(raw: bytes) -> tuple[str | None, str | None]:
    """What is wrong with a schema, and the identity in it: all segments of a log have the same."""
    try:
        schema = pa.ipc.read_schema(pa.py_buffer(raw))
    except _FAULTS:
        return DAMAGED, None
    if not schema.equals(SCHEMA):
        return "the columns are not those of captured frames", None
    return None, take_identity((schema.metadata or {}).get(KEY, b""))


def _likely_size(file: BinaryIO) -> int:
    """Where a message begins: after a head without an identity, or else after one with it."""
    file.seek(len(HEAD))
    is_short = metadata_size(file.read(PREFIX_SIZE)) is not None
    return len(HEAD) if is_short else len(put_head("0" * DIGITS))


def put_batch(batch: pa.RecordBatch, *, is_compressed: bool) -> memoryview:
    """The message of a batch."""
    sink = pa.BufferOutputStream()
    options = _COMPRESSED if is_compressed else _PLAIN
    pa.ipc.new_stream(sink, SCHEMA, options=options).write_batch(batch)
    return memoryview(sink.getvalue())[len(HEAD) :]


def pays_to_compress(batch: pa.RecordBatch) -> bool:
    """Whether compression saves half the space; of encrypted frames it does not."""
    plain = len(put_batch(batch, is_compressed=False))
    return 2 * len(put_batch(batch, is_compressed=True)) <= plain


def take_batch(message: bytes) -> pa.RecordBatch | str:
    """The batch in a message, or what is wrong with it."""
    size = batch_size(message)
    if size is None or size > MAX_BATCH_SIZE:
        return f"no batch of frames: {'damaged' if size is None else 'larger than a batch may be'}"
    try:
        batch = pa.ipc.read_record_batch(pa.py_buffer(message), SCHEMA)
        batch.validate(full=True)
    except _FAULTS as error:
        return f"no batch of frames: {error!s:.120}"
    return batch


def take_message(file: BinaryIO, begin: int) -> bytes | None:
    """The message at a place, by the size in its own header; None if it is incomplete.

    Raises:
        OSError: If the file cannot be read.
    """
    left = size_of(file) - begin
    if left <= 0:
        return None
    file.seek(begin)
    prefix = file.read(PREFIX_SIZE)
    first = metadata_size(prefix)
    if first is None or first > left:
        return None
    metadata = file.read(first)
    second = body_size(metadata)
    if second is None or PREFIX_SIZE + first + second > left:
        return None
    message = prefix + metadata + file.read(second)
    return message if len(message) == PREFIX_SIZE + first + second else None


def size_of(file: BinaryIO) -> int:
    """How many bytes an open file has."""
    return file.size if isinstance(file, RemoteFile) else os.fstat(file.fileno()).st_size


def walk(path: AnyPath) -> list[Sum]:
    """Checksums computed from a stream, up to the first message that is no batch.

    Raises:
        OSError: If the file cannot be read.
    """
    found: list[Sum] = []
    with path.open("rb") as file:
        begin = take_head(file).size
        while (message := take_message(file, begin)) is not None:
            batch = take_batch(message)
            if isinstance(batch, str):
                break
            begin += len(message)
            found.append(sum_of(message, end=begin, rows=batch.num_rows))
    return found
