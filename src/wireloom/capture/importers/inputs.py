"""Files to import, decompressed: gzip and zstd are recognised by their first bytes."""

import gzip
import io
import zlib
from typing import Any, BinaryIO, Final, cast

import zstandard

from wireloom.capture.refusal import UnreadableError

GZIP_MAGIC: Final = b"\x1f\x8b"
ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"

MAX_WINDOW_SIZE: Final = 128 * 1024 * 1024
"""Memory that a zstd file may ask for."""

FREE_SIZE: Final = 1024 * 1024 * 1024
MAX_RATIO: Final = 1_000
"""A file may become this much larger once decompressed, and 1 GiB in any case: captured traffic
becomes ten to a hundred times as large."""

BUFFER_SIZE: Final = 1024 * 1024

_FAULTS: Final = (EOFError, OSError, zlib.error, zstandard.ZstdError)


def decompressed(file: BinaryIO) -> BinaryIO:
    """The content of a file that can be read from its beginning.

    What it gives raises `UnreadableError` where the compression is damaged, or hides far more than
    captured traffic would.
    """
    magic = file.read(len(ZSTD_MAGIC))
    file.seek(0)
    if magic.startswith(GZIP_MAGIC):
        inflated = cast("BinaryIO", gzip.GzipFile(fileobj=file))
    elif magic == ZSTD_MAGIC:
        decompressor = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW_SIZE)
        inflated = cast("BinaryIO", decompressor.stream_reader(file, read_across_frames=True))
    else:
        return file
    return cast("BinaryIO", io.BufferedReader(_Inflated(file, inflated), BUFFER_SIZE))


class _Inflated(io.RawIOBase):
    """A decompressed stream, as far as it may go."""

    def __init__(self, file: BinaryIO, inflated: BinaryIO) -> None:
        super().__init__()
        self._file = file
        self._inflated = inflated
        self._size = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = bytearray()
        try:
            while len(data) < len(buffer) and (
                more := self._inflated.read(len(buffer) - len(data))
            ):
                data += more
            read = self._file.tell()
        except _FAULTS as error:
            raise UnreadableError(f"damaged compression: {error!s:.120}") from None
        self._size += len(data)
        if self._size > FREE_SIZE + MAX_RATIO * read:
            raise UnreadableError("it becomes too large when it is decompressed")
        buffer[: len(data)] = data
        return len(data)
