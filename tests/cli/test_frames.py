"""Reading frames in bounded memory."""

import io

from wireloom.cli.frames import MAX_FRAME_SIZE, binary_frame, lines
from wireloom.wire.errors import TooLargeError


def test_a_line_that_is_too_long_is_refused_and_skipped() -> None:
    file = io.BytesIO(b"short\n" + b"x" * 25 + b"\nnext\r\nlast")
    first, long, following, last = lines(file, limit=10)
    assert (first, following, last) == (b"short", b"next", b"last")
    assert isinstance(long, TooLargeError)


def test_a_last_line_that_is_too_long_is_refused_too() -> None:
    (only,) = lines(io.BytesIO(b"x" * 25), limit=10)
    assert isinstance(only, TooLargeError)


def test_a_line_of_the_full_length_is_taken() -> None:
    assert list(lines(io.BytesIO(b"x" * 9 + b"\n"), limit=10)) == [b"x" * 9]


def test_a_whole_input_that_is_too_long_is_refused() -> None:
    class Endless(io.RawIOBase):
        def readable(self) -> bool:
            return True

        def read(self, size: int = -1, /) -> bytes:
            return bytes(size)

    (only,) = binary_frame(Endless())  # type: ignore[arg-type]
    assert isinstance(only, TooLargeError)
    assert str(MAX_FRAME_SIZE) in only.detail
