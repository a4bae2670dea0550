"""TCP put in order again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireloom.capture.importers import streams
from wireloom.capture.importers.streams import Stream
from wireloom.capture.refusal import UnreadableError

TEXT = bytes(range(200))


def test_segments_in_order_pass_through() -> None:
    stream = Stream()
    stream.begin(999)
    assert stream.feed(1000, b"abc") == b"abc"
    assert stream.feed(1003, b"") == b""
    assert stream.feed(1003, b"de") == b"de"
    assert not stream.has_gap


def test_a_stream_without_its_beginning_begins_with_its_first_segment() -> None:
    stream = Stream()
    assert stream.feed(77, b"abc") == b"abc"
    stream.begin(5)
    assert stream.feed(80, b"d") == b"d"


def test_a_repeated_or_overlapping_segment_gives_only_what_is_new() -> None:
    stream = Stream()
    stream.feed(0, b"abc")
    assert stream.feed(0, b"abc") == b""
    assert stream.feed(1, b"bcde") == b"de"
    assert stream.feed(2, b"c") == b""
    assert not stream.has_gap


def test_the_first_copy_of_a_byte_counts() -> None:
    stream = Stream()
    stream.begin(2**32 - 1)
    assert stream.feed(3, b"def") == b""
    assert stream.feed(3, b"XYZgh") == b""
    assert stream.has_gap
    assert stream.feed(0, b"abcZ") == b"abcZefgh"


@given(st.data())
def test_any_order_with_repeats_and_overlaps_gives_the_text_once(data: st.DataObject) -> None:
    first = data.draw(st.integers(0, 2**32 - 1))
    cuts = sorted(data.draw(st.sets(st.integers(1, len(TEXT) - 1), max_size=10)))
    pieces = list(zip([0, *cuts], [*cuts, len(TEXT)], strict=True))
    pieces += data.draw(st.lists(st.tuples(st.integers(0, 199), st.integers(0, 200)), max_size=5))
    stream = Stream()
    stream.begin((first - 1) % 2**32)
    given_ = b""
    for begin, end in data.draw(st.permutations(pieces)):
        given_ += stream.feed((first + begin) % 2**32, TEXT[begin:end])
    assert given_ == TEXT
    assert not stream.has_gap


@pytest.mark.parametrize(("limit", "size"), [("MAX_WAITING_SIZE", 50), ("MAX_WAITING_COUNT", 1)])
def test_a_gap_ends_the_stream_before_memory_does(
    monkeypatch: pytest.MonkeyPatch, limit: str, size: int
) -> None:
    monkeypatch.setattr(streams, limit, 100)
    stream = Stream()
    stream.begin(0)

    def feed_all() -> None:
        for number in range(200):
            stream.feed(10 + number * size, bytes(size))

    with pytest.raises(UnreadableError, match="gap"):
        feed_all()
