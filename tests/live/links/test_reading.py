"""What was read reaches the library whole, and a close frame reaches it alone."""

import pytest

from live.links.wires import CLOSE, TEXT, frame
from wireloom.live.links.reading import CloseFirst


class Library:
    """Takes what is read, at another place each time."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.told: list[str] = []
        self._room = bytearray()

    def get_buffer(self, sizehint: int) -> memoryview:
        assert sizehint
        self._room = bytearray(4_096)
        return memoryview(self._room)

    def buffer_updated(self, nbytes: int) -> None:
        self.parts.append(bytes(self._room[:nbytes]))

    def __getattr__(self, name: str) -> object:
        return lambda *_: self.told.append(name)


def read(data: bytes) -> list[bytes]:
    library = Library()
    between = CloseFirst(library)
    between.get_buffer(-1)[: len(data)] = data
    between.buffer_updated(len(data))
    assert b"".join(library.parts) == data
    return library.parts


BYE = frame(CLOSE, b"\x03\xe8bye")


@pytest.mark.parametrize(
    ("first", "rest"),
    [
        (BYE, BYE),
        (BYE, BYE + frame(TEXT, b"late")),
        (frame(CLOSE), b"\x88"),
        (frame(CLOSE, b"x" * 125), frame(CLOSE)),
    ],
    ids=["twice", "and more", "and the beginning of another", "long"],
)
def test_a_close_frame_comes_before_what_follows_it(first: bytes, rest: bytes) -> None:
    assert read(first + rest) == [first, rest]


@pytest.mark.parametrize(
    "data",
    [BYE, BYE[:1], BYE[:2], BYE[:6], BYE[:-1], frame(TEXT, b"x") + BYE + BYE, frame(CLOSE), b"\0"],
    ids=lambda data: f"{len(data)} bytes",
)
def test_all_else_comes_as_it_was_read(data: bytes) -> None:
    assert read(data) == [data]


def test_the_library_hears_of_everything_else() -> None:
    library = Library()
    between = CloseFirst(library)
    between.pause_writing()
    between.resume_writing()
    between.eof_received()
    between.connection_lost(None)
    told = ["pause_writing", "resume_writing", "eof_received", "connection_lost"]
    assert library.told == told
