"""One direction of a TCP connection put in order again, in bounded memory.

Sequence numbers are modulo 2³². Of bytes that came twice, the first copy counts.
"""

from typing import Final

from wireloom.capture.refusal import UnreadableError

MAX_WAITING_SIZE: Final = 4 * 1024 * 1024
"""Bytes kept beyond a gap. A sender that waits for its window sends less."""

MAX_WAITING_COUNT: Final = 4_096
"""Segments kept beyond a gap: they may be tiny."""

_MODULUS: Final = 1 << 32
_HALF: Final = 1 << 31


class Stream:
    """Gives the bytes of one direction in order, each once."""

    def __init__(self) -> None:
        self._next: int | None = None
        self._waiting: dict[int, bytes] = {}
        self._waiting_size = 0

    @property
    def has_gap(self) -> bool:
        """Whether bytes wait for others that did not come."""
        return bool(self._waiting)

    def begin(self, sequence: int) -> None:
        """Notes the number before the first byte (that of the SYN)."""
        if self._next is None:
            self._next = (sequence + 1) % _MODULUS

    def feed(self, sequence: int, data: bytes) -> bytes:
        """Takes one segment; gives the bytes that are now in order.

        A stream whose beginning was not captured begins with its first segment.

        Raises:
            UnreadableError: If too much waits for bytes that did not come.
        """
        if not data:
            return b""
        expected = sequence if self._next is None else self._next
        self._keep(sequence, data)
        ordered = bytearray()
        while (piece := self._take(expected)) is not None:
            ordered += piece
            expected = (expected + len(piece)) % _MODULUS
        self._next = expected
        if self._waiting_size > MAX_WAITING_SIZE or len(self._waiting) > MAX_WAITING_COUNT:
            raise UnreadableError("a TCP connection with a gap")
        return bytes(ordered)

    def _keep(self, sequence: int, data: bytes) -> None:
        kept = self._waiting.get(sequence, b"")
        if len(data) > len(kept):
            self._waiting[sequence] = kept + data[len(kept) :]
            self._waiting_size += len(data) - len(kept)

    def _take(self, expected: int) -> bytes | None:
        """The bytes from `expected` on that the pieces at hand have, if any."""
        for sequence in list(self._waiting):
            known = _distance(sequence, expected)
            if known >= 0:
                piece = self._waiting.pop(sequence)
                self._waiting_size -= len(piece)
                if len(piece) > known:
                    return piece[known:]
        return None


def _distance(earlier: int, later: int) -> int:
    """How far one number lies before another; negative if it lies after it."""
    return (later - earlier + _HALF) % _MODULUS - _HALF
