"""The Arrow stream within a segment."""

import random
from io import BytesIO
from pathlib import Path

import pyarrow as pa
import pytest

from capture.made import frame
from wireloom.capture.frame import SCHEMA, from_batch, to_batch
from wireloom.capture.stream import END, HEAD, Head, put_head, take_batch, take_head, walk

FRAMES = [frame(number) for number in range(3)]
MESSAGE = bytes(memoryview(to_batch(FRAMES, first_sequence=0).serialize()))


def test_a_head_of_this_version_is_taken() -> None:
    assert take_head(BytesIO(HEAD + MESSAGE)) == Head(len(HEAD))


def test_a_head_that_another_version_wrote_longer_is_taken() -> None:
    padded = (len(HEAD) - 8 + 64).to_bytes(4, "little")
    head = HEAD[:4] + padded + HEAD[8:] + bytes(64)
    assert take_head(BytesIO(head + MESSAGE)) == Head(len(head))


def test_a_head_says_which_log_it_is_of() -> None:
    head = put_head("ab" * 16)
    assert take_head(BytesIO(head + MESSAGE)) == Head(len(head), None, "ab" * 16)


def test_a_flipped_bit_in_a_head_never_makes_it_the_head_of_another_log() -> None:
    head = put_head("ab" * 16)
    for place in range(8 * len(head)):
        raw = bytearray(head)
        raw[place // 8] ^= 1 << place % 8
        taken = take_head(BytesIO(raw + MESSAGE))
        assert taken.identity in {None, "ab" * 16}
        assert taken.fault is None or taken.size == len(head)


def test_other_columns_are_told() -> None:
    other = bytes(memoryview(pa.schema([("x", pa.int64())]).serialize()))
    assert take_head(BytesIO(other)) == Head(
        len(other), "the columns are not those of captured frames"
    )


@pytest.mark.parametrize("head", [b"", b"abc", bytes(16), b"\xff" * 16, HEAD[:100]])
def test_a_damaged_head_is_told_and_batches_are_expected_where_this_version_puts_them(
    head: bytes,
) -> None:
    assert take_head(BytesIO(head)) == Head(len(put_head("ab" * 16)), "the schema is damaged")


def test_batches_after_a_damaged_head_without_an_identity_are_found() -> None:
    head = bytes(100) + HEAD[100:]
    assert take_head(BytesIO(head + MESSAGE)) == Head(len(HEAD), "the schema is damaged")


def test_a_batch_is_taken() -> None:
    batch = take_batch(MESSAGE)
    assert isinstance(batch, pa.RecordBatch)
    assert from_batch(batch) == FRAMES


@pytest.mark.parametrize("raw", [b"", END, HEAD, MESSAGE[:-8], b"x" * 100])
def test_what_is_no_batch_is_told(raw: bytes) -> None:
    assert str(take_batch(raw)).startswith("no batch of frames: ")


def test_no_damage_to_a_batch_raises(tmp_path: Path) -> None:
    source = random.Random(5)
    path = tmp_path / "damaged.arrow"
    for _ in range(500):
        raw = bytearray(MESSAGE)
        for _ in range(source.randint(1, 4)):
            raw[source.randrange(len(raw))] = source.randrange(256)
        take_batch(bytes(raw))
        path.write_bytes(HEAD + raw + MESSAGE + END)
        assert len(walk(path)) <= 2


def test_walking_finds_all_batches_up_to_the_end(tmp_path: Path) -> None:
    path = tmp_path / "a.arrow"
    path.write_bytes(HEAD + MESSAGE + MESSAGE + END + MESSAGE)
    first, second = walk(path)
    assert first.end == len(HEAD + MESSAGE)
    assert second.end == len(HEAD + MESSAGE + MESSAGE)
    assert first.holds(MESSAGE)
    assert first.rows == 3


@pytest.mark.parametrize("rest", [b"", MESSAGE[:50], b"garbage" * 9, HEAD])
def test_walking_stops_at_what_is_no_batch(tmp_path: Path, rest: bytes) -> None:
    path = tmp_path / "a.arrow"
    path.write_bytes(HEAD + MESSAGE + rest)
    assert len(walk(path)) == 1


@pytest.mark.parametrize("raw", [b"", b"garbage" * 9])
def test_walking_a_file_that_is_no_stream_finds_nothing(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "a.arrow"
    path.write_bytes(raw)
    assert walk(path) == []


def test_the_head_is_the_schema() -> None:
    assert pa.ipc.read_schema(pa.py_buffer(HEAD)).equals(SCHEMA)
