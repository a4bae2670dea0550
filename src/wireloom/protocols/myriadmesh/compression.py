"""Zstandard with a bound: what unpacks to too much is refused before there is room for it.

The size that a zstd frame states may be missing or a lie. Where it is stated, it is checked
first and the unpacked bytes are held to it; where not, they are read up to the bound.
"""

import zstandard

from wireloom.protocols.myriadmesh.constants import MAX_DECOMPRESSED_SIZE, MAX_WINDOW_SIZE
from wireloom.wire.errors import MalformedError, TooLargeError


class Inflater:
    """Unpacks what is compressed in one frame, batched frames included, within one bound (R25)."""

    __slots__ = ("_unpacker", "room")

    def __init__(self) -> None:
        self._unpacker: zstandard.ZstdDecompressor | None = None
        self.room = MAX_DECOMPRESSED_SIZE
        """How many bytes may still come out."""

    def inflate(self, packed: bytes) -> bytes:
        """What `deflate` packed.

        Raises:
            TooLargeError: If it is more than there is room for.
            MalformedError: If it is not exactly one zstd frame.
        """
        try:
            plain = self._inflated(packed)
        except zstandard.ZstdError as error:
            raise MalformedError(f"the compressed payload does not unpack: {error}") from None
        self.spend(len(plain))
        return plain

    def spend(self, size: int) -> None:
        """Takes the room for `size` bytes.

        Raises:
            TooLargeError: If there is not so much left.
        """
        self._check_room(size)
        self.room -= size

    def _inflated(self, packed: bytes) -> bytes:
        parameters = zstandard.get_frame_parameters(packed)
        if parameters.window_size > MAX_WINDOW_SIZE:
            raise TooLargeError(f"a zstd window of {parameters.window_size} bytes")
        if self._unpacker is None:  # making one takes longer than most payloads do
            self._unpacker = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW_SIZE)
        size = parameters.content_size
        if size == zstandard.CONTENTSIZE_UNKNOWN:
            size = len(self._unpacker.stream_reader(packed).read(self.room + 1))
        self._check_room(size)
        return self._unpacker.decompress(
            packed, max_output_size=max(1, size), allow_extra_data=False
        )

    def _check_room(self, size: int) -> None:
        if size > self.room:
            raise TooLargeError(
                f"unpacks to more than {MAX_DECOMPRESSED_SIZE} bytes, {self.room} are left"
            )


def deflate(plain: bytes) -> bytes:
    """`plain` as one zstd frame that states its size."""
    return zstandard.ZstdCompressor().compress(plain)


def saves(plain: bytes, packed: bytes) -> bool:
    """Whether compression is worth it: it has to save more than a tenth."""
    return len(packed) * 10 < len(plain) * 9
