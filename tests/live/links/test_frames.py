"""The parts of RFC 6455 that are done here."""

import pytest

from live.links.wires import frame
from wireloom.live.links.frames import (
    BINARY,
    TEXT,
    Assembly,
    BreachError,
    Headers,
    check_text,
    is_sendable,
    put_close,
    take_close,
    take_header,
    unmask,
)


@pytest.mark.parametrize(
    ("size", "header"),
    [
        (0, "8100"),
        (125, "817d"),
        (126, "817e007e"),
        (65_535, "817effff"),
        (65_536, "817f0000000000010000"),
    ],
)
def test_headers_have_the_shortest_length(size: int, header: str) -> None:
    assert Headers(TEXT)[size].hex() == header


def test_headers_of_common_sizes_are_made_once() -> None:
    headers = Headers(BINARY)
    assert headers[5] is headers[5]
    assert headers[5].hex() == "8205"
    assert headers[1 << 20] is not headers[1 << 20]
    assert len(headers) == 1


def test_reasons_are_cut_between_characters() -> None:
    assert put_close(1000, "") == b"\x03\xe8"
    assert put_close(4000, "ö" * 100) == b"\x0f\xa0" + ("ö" * 61).encode()


def test_close_frames_are_read() -> None:
    assert take_close(b"") is None
    assert take_close(b"\x03\xe8why") == 1000
    for body in (b"\x03", b"\x00\x00", b"\x03\xec", b"\x13\x88"):
        with pytest.raises(BreachError) as breach:
            take_close(body)
        assert breach.value.code == 1002
    with pytest.raises(BreachError) as breach:
        take_close(b"\x03\xe8\xff")
    assert breach.value.code == 1007


def test_codes_that_may_be_sent() -> None:
    assert [code for code in range(5_100) if is_sendable(code)] == [
        *range(1000, 1004),
        *range(1007, 1015),
        *range(3000, 5000),
    ]


def test_text_is_checked() -> None:
    check_text(b"plain")
    check_text("größer".encode())
    with pytest.raises(BreachError, match="UTF-8"):
        check_text(b"\xff")


def test_parts_make_a_whole() -> None:
    assembly = Assembly(b"gr\xc3", is_text=True)
    assembly.add(b"", is_last=False)
    assembly.add(b"\xb6\xc3\x9f", is_last=True)
    assert assembly.whole() == "größ".encode()
    assert assembly.size == 6
    assert assembly.head(2) == b"gr"
    assert Assembly(b"", is_text=True).head(2) == b""


def test_parts_that_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wireloom.live.links.frames._MAX_FRAGMENTS", 2)
    assembly = Assembly(b"x", is_text=False)
    assembly.add(b"x", is_last=False)
    assembly.add(b"", is_last=False)  # an empty part takes no room
    with pytest.raises(BreachError) as breach:
        assembly.add(b"x", is_last=False)
    assert breach.value.reason == "the message has too many parts"


@pytest.mark.parametrize("size", [0, 125, 126, 65_535, 65_536])
@pytest.mark.parametrize("mask", [True, False])
def test_a_header_is_read_as_soon_as_it_is_there(size: int, mask: bool) -> None:
    raw = frame(TEXT, b"x" * size, mask=mask)
    header = take_header(raw)
    assert header is not None
    assert (header.opcode, header.size, header.length) == (TEXT, size, len(raw) - size)
    assert take_header(raw[: header.length]) == header
    assert all(take_header(raw[:end]) is None for end in range(header.length))
    assert unmask(raw[header.length :], header.mask) == b"x" * size
