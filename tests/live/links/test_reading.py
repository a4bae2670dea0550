"""What was read reaches the library whole, and a close frame reaches it alone."""

from typing import NamedTuple

import pytest

from live.links.wires import CLOSE, PING, TEXT, frame
from wireloom.live.links import reading
from wireloom.live.links.frames import Header, take_header
from wireloom.live.links.reading import Deaf, Reading


class Library:
    """Takes what is read, at another place each time, and shows whole frames."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.told: list[str] = []
        self.reader = Reader()
        self._room = bytearray()
        self._kept = b""

    def get_buffer(self, sizehint: int) -> memoryview:
        assert sizehint
        self._room = bytearray(100_000)
        return memoryview(self._room)

    def buffer_updated(self, nbytes: int) -> None:
        self.parts.append(bytes(self._room[:nbytes]))
        self._kept += self.parts[-1]
        while (header := take_header(self._kept)) and len(self._kept) >= sum(header[1:3]):
            self._kept = self._kept[sum(header[1:3]) :]
            self.reader.last = Shown(len(self._kept))

    def __getattr__(self, name: str) -> object:
        return lambda *_: self.told.append(name)


class Shown(NamedTuple):
    """A whole frame."""

    tail_size: int


class Reader:
    """Refuses frames of more than 1,000 bytes."""

    def __init__(self) -> None:
        self.last: reading.Shown | None = None
        self.begun: list[tuple[Header, bytes]] = []
        self.is_lost = False

    def may_come(self, header: Header, begun: bytes) -> bool:
        self.begun.append((header, begun))
        return header.size <= 1_000

    def out_of_step(self) -> None:
        self.is_lost = True


class Stage:
    """Bytes in reads of any size."""

    def __init__(self) -> None:
        self.library = Library()
        self.refused: list[int] = []
        self.between = Reading(self.library, self.library.reader, self.refused.append)

    def read(self, data: bytes) -> None:
        self.between.get_buffer(-1)[: len(data)] = data
        self.between.buffer_updated(len(data))


def read(data: bytes) -> list[bytes]:
    stage = Stage()
    stage.read(data)
    assert b"".join(stage.library.parts) == data
    return stage.library.parts


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
    for between in (
        Reading(library, library.reader, lambda _: None),
        Deaf(library, 0, lambda: None),
    ):
        library.told.clear()
        between.pause_writing()
        between.resume_writing()
        between.eof_received()
        between.connection_lost(None)
        told = ["pause_writing", "resume_writing", "eof_received", "connection_lost"]
        assert library.told == told


LARGE = frame(TEXT, b"x" * 3_000)


@pytest.mark.parametrize("cut", range(1, 40))
def test_a_byte_within_a_frame_is_no_close_frame_whatever_it_looks_like(cut: int) -> None:
    stage = Stage()
    deceiving = b"\x81\xa0\x88\x88\x88\x88" + b"\x88" * 32
    data = deceiving * 3
    for at in range(0, len(data), cut):
        stage.read(data[at : at + cut])
    assert b"".join(stage.library.parts) == data
    assert not stage.library.reader.is_lost
    assert stage.library.reader.last == Shown(tail_size=0)
    seen = len(stage.library.reader.begun)
    stage.read(LARGE[:20])
    assert len(stage.library.reader.begun) == seen + 1
    assert stage.refused == [len(LARGE) - 20]


@pytest.mark.parametrize("step", [1, 2, 3, 7, 13, 14, 500])
def test_a_large_frame_is_refused_as_soon_as_its_header_is_there(step: int) -> None:
    stage = Stage()
    data = frame(TEXT, b"hi") + frame(PING) + frame(TEXT, b"y" * 1_000) + LARGE
    for at in range(0, len(data), step):
        stage.read(data[at : at + step])
        if stage.refused:
            break
    header, begun = stage.library.reader.begun[-1]
    assert header.size == 3_000
    assert begun == LARGE[: len(begun)]
    assert len(begun) < header.length + step
    assert stage.refused == [len(LARGE) - len(begun)]
    assert not stage.library.reader.is_lost


def test_frames_that_come_whole_are_not_looked_at() -> None:
    stage = Stage()
    stage.read(frame(TEXT, b"y" * 900) * 3)
    stage.read(LARGE)
    assert stage.library.reader.begun == []


def test_a_large_frame_behind_small_ones_is_refused() -> None:
    stage = Stage()
    stage.read(frame(TEXT, b"hi") * 5 + LARGE[:100])
    assert stage.refused == [len(LARGE) - 100]


def test_bytes_that_came_too_early_do_not_lead_to_a_frame_without_end() -> None:
    stage = Stage()
    stage.library._kept = LARGE[:10]  # with the handshake, where nobody looked at it
    stage.read(frame(TEXT, b"y" * 100)[:50])
    stage.read(b"z" * 200)
    assert stage.library.reader.is_lost


@pytest.mark.parametrize("step", [1, 5, 100, 5_000])
def test_whoever_is_not_heard_any_more_can_still_say_goodbye(step: int) -> None:
    left: list[bool] = []
    deaf = Deaf(Library(), 1_000, lambda: left.append(True))
    data = b"\x88" * 1_000 + LARGE + frame(PING) + BYE
    for at in range(0, len(data), step):
        assert not left or step == 5_000 or at >= len(data) - len(BYE)
        part = data[at : at + step]
        deaf.get_buffer(-1)[: len(part)] = part
        deaf.buffer_updated(len(part))
    assert left
