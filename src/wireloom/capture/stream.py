"""The Arrow stream within a segment: where messages begin, and what is in them.

```
schema message | batch message … | ff ff ff ff 00 00 00 00
```
"""

import struct
from pathlib import Path
from typing import BinaryIO, Final

import pyarrow as pa

from wireloom.capture.record import SCHEMA
from wireloom.capture.segment import Sum, sum_of

END: Final = b"\xff\xff\xff\xff\x00\x00\x00\x00"
"""What an Arrow stream ends with."""

HEAD: Final = bytes(memoryview(SCHEMA.serialize()))
"""What a segment begins with."""

MAX_HEAD_SIZE: Final = 65_536
"""Another version of Arrow may write the same columns longer, but not so long."""

_PLAIN: Final = pa.ipc.IpcWriteOptions()
_COMPRESSED: Final = pa.ipc.IpcWriteOptions(compression="lz4")
_PREFIX: Final = struct.Struct("<II")
_CONTINUATION: Final = 0xFFFFFFFF
_FAULTS: Final = (pa.ArrowException, OSError, ValueError, EOFError)
"""What Arrow raises when bytes are not what they should be."""


def take_head(file: BinaryIO) -> tuple[int, str | None]:
    """Where the first batch begins, and what is wrong with the schema before it.

    Where the schema is damaged, the place is the one that this version writes.
    """
    raw = file.read(_PREFIX.size)
    size = len(HEAD)
    if len(raw) == _PREFIX.size:
        mark, metadata_size = _PREFIX.unpack(raw)
        if mark == _CONTINUATION and metadata_size <= MAX_HEAD_SIZE:
            size = _PREFIX.size + metadata_size
    raw += file.read(size - len(raw))
    return (size, None) if raw == HEAD else (size, _schema_fault(raw))


def put_batch(batch: pa.RecordBatch, *, is_compressed: bool) -> memoryview:
    """The message of a batch."""
    sink = pa.BufferOutputStream()
    options = _COMPRESSED if is_compressed else _PLAIN
    pa.ipc.new_stream(sink, SCHEMA, options=options).write_batch(batch)
    return memoryview(sink.getvalue())[len(HEAD) :]


def pays_to_compress(batch: pa.RecordBatch) -> bool:
    """Whether frames are so much alike that they take half the room; those of ciphers are not."""
    plain = len(put_batch(batch, is_compressed=False))
    return 2 * len(put_batch(batch, is_compressed=True)) <= plain


def take_batch(message: bytes) -> pa.RecordBatch | str:
    """The batch in a message, or what is wrong with it."""
    try:
        batch = pa.ipc.read_record_batch(pa.py_buffer(message), SCHEMA)
        batch.validate(full=True)
    except _FAULTS as error:
        return f"no batch of frames: {error!s:.120}"
    return batch


def walk(path: Path) -> list[Sum]:
    """Checksums of a stream as it lies there, up to the first message that is no batch.

    Raises:
        OSError: If the file cannot be read.
    """
    found: list[Sum] = []
    with pa.OSFile(str(path)) as file:
        try:
            messages = pa.ipc.MessageReader.open_stream(file)
            messages.read_next_message()
            while True:
                begin = file.tell()
                messages.read_next_message()
                end = file.tell()
                found.append(_sum_at(file, begin, end))
        except (StopIteration, *_FAULTS):
            return found


def _sum_at(file: pa.OSFile, begin: int, end: int) -> Sum:
    file.seek(begin)
    message = file.read(end - begin)
    batch = take_batch(message)
    if isinstance(batch, str):
        raise ValueError(batch)
    return sum_of(message, end=end, rows=batch.num_rows)


def _schema_fault(raw: bytes) -> str | None:
    try:
        schema = pa.ipc.read_schema(pa.py_buffer(raw))
    except _FAULTS:
        return "the schema is damaged"
    return None if schema.equals(SCHEMA) else "the columns are not those of captured frames"
