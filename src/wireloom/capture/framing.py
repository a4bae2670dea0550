"""The size of an Arrow message, as stored and decompressed, before it is read.

```
ff ff ff ff | size of the metadata 4 | metadata, a flatbuffer | body
```

Arrow trusts these sizes and allocates that much memory, for the message and for what it is
decompressed to. This module reads only the few fields that hold them:

```
Message      0 version | 1 kind | 2 header | 3 size of the body
RecordBatch  0 rows | 1 nodes | 2 buffers | 3 compression       a buffer: offset 8 | size 8
```

A buffer of a compressed batch begins with its size when it is decompressed, or with -1 where it is
not compressed.
"""

import struct
from typing import Final

CONTINUATION: Final = b"\xff\xff\xff\xff"
PREFIX_SIZE: Final = 8

MAX_METADATA_SIZE: Final = 64 * 1024
"""The most metadata of a message; that of a batch has about a thousand bytes."""

MAX_BATCH_SIZE: Final = 256 * 1024 * 1024
"""The most bytes of a batch: twice what a server captures at once."""

_U32, _I32, _I64 = struct.Struct("<I"), struct.Struct("<i"), struct.Struct("<q")
_U16, _BUFFER = struct.Struct("<H"), struct.Struct("<qq")
_HEADER, _BODY_SIZE = 2, 3
_BUFFERS, _COMPRESSION = 2, 3


def metadata_size(prefix: bytes) -> int | None:
    """How long the metadata is after a prefix; None if there is no message."""
    if len(prefix) != PREFIX_SIZE or not prefix.startswith(CONTINUATION):
        return None
    size = int.from_bytes(prefix[4:], "little")
    return size if 0 < size <= MAX_METADATA_SIZE else None


def body_size(metadata: bytes) -> int | None:
    """How long the body is; None if it is longer than a batch may be, or cannot be known."""
    try:
        place = _field(metadata, _root(metadata), _BODY_SIZE)
        size: int = 0 if place is None else _I64.unpack_from(metadata, place)[0]
    except (struct.error, ValueError):
        return None
    return size if 0 <= size <= MAX_BATCH_SIZE else None


def batch_size(message: bytes | memoryview) -> int | None:
    """How much memory a batch takes once it is decompressed; None if that cannot be known."""
    begin = metadata_size(bytes(message[:PREFIX_SIZE]))
    if begin is None:
        return None
    metadata = bytes(message[PREFIX_SIZE : PREFIX_SIZE + begin])
    body = message[PREFIX_SIZE + begin :]
    try:
        header = _field(metadata, _root(metadata), _HEADER)
        batch = _followed(metadata, header)
        if _field(metadata, batch, _COMPRESSION) is None:
            return len(body)
        buffers = _followed(metadata, _field(metadata, batch, _BUFFERS))
        return sum(map(abs, _sizes(metadata, buffers, body)))
    except (struct.error, ValueError):
        return None


def _sizes(metadata: bytes, buffers: int, body: bytes | memoryview) -> list[int]:
    (count,) = _U32.unpack_from(metadata, buffers)
    found = []
    for number in range(min(count, len(metadata) // _BUFFER.size)):
        offset, size = _BUFFER.unpack_from(metadata, buffers + 4 + number * _BUFFER.size)
        if size:
            declared = int(_I64.unpack_from(body, _checked(offset, len(body)))[0])
            found.append(size if declared == -1 else declared)
    return found


def _root(metadata: bytes) -> int:
    return _followed(metadata, 0)


def _followed(metadata: bytes, place: int | None) -> int:
    """The place that the offset at `place` points to."""
    if place is None:
        raise ValueError("a field is missing")
    return _checked(place + _U32.unpack_from(metadata, place)[0], len(metadata))


def _field(metadata: bytes, table: int, number: int) -> int | None:
    """Where a field of a table lies; None if the table has none."""
    layout = _checked(table - _I32.unpack_from(metadata, table)[0], len(metadata))
    (size,) = _U16.unpack_from(metadata, layout)
    place = 4 + 2 * number
    if place + 2 > size:
        return None
    (offset,) = _U16.unpack_from(metadata, layout + place)
    return table + int(offset) if offset else None


def _checked(place: int, size: int) -> int:
    """A place within bounds: Python would count a negative one from the end."""
    if not 0 <= place < size:
        raise ValueError("a place outside")
    return place
