"""Reading a log that is whole, growing, torn or damaged."""

import random
from pathlib import Path

import pyarrow as pa
import pytest

from capture.made import damage, frame, log, sequences, spoil
from support.faults import Faults, Mood
from wireloom.capture import reader
from wireloom.capture.reader import (
    NO_BATCH,
    Damage,
    batch_count,
    known_sums,
    read,
    read_segment,
)
from wireloom.capture.segment import SUM_SIZE, Segment, pack_sum, segments
from wireloom.capture.sending import send
from wireloom.capture.stream import HEAD
from wireloom.capture.writer import CaptureWriter
from wireloom.remote import RemotePath, UnreachableError, local


def numbers(items: list[pa.RecordBatch | Damage]) -> list[list[int] | None]:
    return [
        None if isinstance(item, Damage) else item.column("sequence").to_pylist() for item in items
    ]


def test_reading_begins_and_ends_at_any_batch(tmp_path: Path) -> None:
    segment = log(tmp_path)
    assert numbers(list(read_segment(segment))) == [[0, 1], [2, 3], [4, 5]]
    assert numbers(list(read_segment(segment, start=1))) == [[2, 3], [4, 5]]
    assert numbers(list(read_segment(segment, start=1, stop=2))) == [[2, 3]]
    assert numbers(list(read_segment(segment, stop=0))) == []
    assert numbers(list(read_segment(segment, start=3, stop=9))) == []
    assert batch_count(segment) == 3


def test_an_open_segment_is_read_up_to_its_last_checksum(tmp_path: Path) -> None:
    with CaptureWriter(tmp_path, "a") as writer:
        writer.append(frame(node="a"))
        writer.flush()
        (segment,) = segments(tmp_path)
        with segment.path.open("ab") as file:
            file.write(b"torn")
        assert batch_count(segment) == 1
        assert numbers(list(read_segment(segment))) == [[0]]
        segment.path.write_bytes(segment.path.read_bytes()[:-4])


def test_a_segment_sealed_since_it_was_listed_is_read_all_the_same(tmp_path: Path) -> None:
    sealed = log(tmp_path)
    assert numbers(list(read_segment(sealed._replace(sealed=False)))) == [[0, 1], [2, 3], [4, 5]]


def test_a_damaged_batch_is_reported_with_its_place_and_reading_goes_on(tmp_path: Path) -> None:
    segment = log(tmp_path)
    first, second, _ = segment.sums()
    spoil(segment.path, first.end + 300)
    items = list(read(tmp_path))
    assert numbers(items) == [[0, 1], None, [4, 5]]
    assert items[1] == Damage(
        segment, 1, first.end, second.end - first.end, 2, "the checksum does not match"
    )


def test_one_flipped_bit_anywhere_costs_one_batch_at_most(tmp_path: Path) -> None:
    segment = log(tmp_path)
    good = segment.path.read_bytes()
    source = random.Random(3)
    for _ in range(300):
        segment.path.write_bytes(good)
        spoil(segment.path, source.randrange(len(good)))
        assert len(sequences(tmp_path)) >= 4
        assert sum(one.rows for one in damage(tmp_path)) == 6 - len(sequences(tmp_path))


@pytest.mark.parametrize("is_sealed", [True, False])
def test_no_flipped_bit_of_a_checksum_costs_a_frame(tmp_path: Path, is_sealed: bool) -> None:
    segment = log(tmp_path)
    if not is_sealed:
        left = segment._replace(sealed=False)
        left.path.write_bytes(segment.path.read_bytes()[: segment.sums()[-1].end])
        segment.path.unlink()
    good = segment.sums_path.read_bytes()
    for bit in range(8 * len(good)):
        spoilt = bytearray(good)
        spoilt[bit // 8] ^= 1 << bit % 8
        segment.sums_path.write_bytes(spoilt)
        assert sequences(tmp_path) == list(range(6)), bit
        assert damage(tmp_path) == []
        (found,) = segments(tmp_path)
        assert numbers(list(read_segment(found, start=1, stop=2))) == [[2, 3]]


def test_a_flipped_bit_of_a_batch_beside_one_of_its_checksum_is_told(tmp_path: Path) -> None:
    segment = log(tmp_path)
    first, *_ = segment.sums()
    spoil(segment.path, first.end + 300)
    spoil(segment.sums_path, SUM_SIZE + 9)
    assert numbers(list(read(tmp_path))) == [[0, 1], None, [4, 5]]


def test_checksums_that_say_a_batch_is_huge_make_nobody_read_that_much(tmp_path: Path) -> None:
    segment = log(tmp_path)
    with segment.path.open("r+b") as file:
        file.truncate(1 << 40)  # a hole: it takes no room
    sums = segment.sums()
    sums[1] = sums[1]._replace(end=1 << 40)
    segment.sums_path.write_bytes(b"".join(map(pack_sum, sums)))
    assert numbers(list(read(tmp_path)))[:2] == [[0, 1], [2, 3]]


@pytest.mark.parametrize("kept", [0, 1, 2])
def test_batches_without_checksum_are_read_as_they_lie(tmp_path: Path, kept: int) -> None:
    segment = log(tmp_path)
    segment.sums_path.write_bytes(segment.sums_path.read_bytes()[: kept * SUM_SIZE])
    assert sequences(tmp_path) == list(range(6))
    assert damage(tmp_path) == []
    assert batch_count(segment) == 3


def test_a_missing_file_of_checksums_costs_nothing_in_a_sealed_segment(tmp_path: Path) -> None:
    segment = log(tmp_path)
    whole = known_sums(segment)
    segment.sums_path.unlink()
    assert known_sums(segment) == whole
    assert sequences(tmp_path) == list(range(6))


def test_an_open_segment_without_checksums_has_nothing_to_read_yet(tmp_path: Path) -> None:
    Segment(tmp_path, "a", 0, sealed=False).path.write_bytes(HEAD)
    assert list(read(tmp_path)) == []


def test_a_damaged_schema_is_told_and_the_batches_are_read(tmp_path: Path) -> None:
    segment = log(tmp_path)
    for offset in (0, 5, 8, 200):
        spoil(segment.path, offset)
    (schema, *rest) = list(read(tmp_path))
    assert isinstance(schema, Damage)
    assert (schema.batch, schema.rows, schema.detail) == (NO_BATCH, 0, "the schema is damaged")
    assert numbers(rest) == [[0, 1], [2, 3], [4, 5]]
    assert numbers(list(read_segment(segment, start=1))) == [[2, 3], [4, 5]]


def test_an_empty_file_is_told(tmp_path: Path) -> None:
    segment = log(tmp_path)
    segment.path.write_bytes(b"")
    told = damage(tmp_path)
    assert [one.batch for one in told] == [NO_BATCH, 0, 1, 2]
    assert sum(one.rows for one in told) == 6
    assert {one.detail for one in told[1:]} == {"not where it should be"}


def test_a_file_of_other_columns_is_told(tmp_path: Path) -> None:
    batch = pa.RecordBatch.from_pydict({"x": [1, 2]})
    path = Segment(tmp_path, "a", 0, sealed=True).path
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, batch.schema) as stream:
        stream.write_batch(batch)
    (told,) = damage(tmp_path)
    assert told.detail == "the columns are not those of captured frames"


def test_a_batch_that_matches_its_checksum_and_is_none_is_told(tmp_path: Path) -> None:
    from wireloom.capture.segment import pack_sum, sum_of

    segment = Segment(tmp_path, "a", 0, sealed=True)
    segment.path.write_bytes(HEAD + b"x" * 64)
    segment.sums_path.write_bytes(pack_sum(sum_of(b"x" * 64, end=len(HEAD) + 64, rows=1)))
    (told,) = damage(tmp_path)
    assert told.detail.startswith("no batch of frames")


def test_a_segment_that_cannot_be_opened_is_told(tmp_path: Path) -> None:
    segment = log(tmp_path)
    segment.path.unlink()
    (told,) = read_segment(segment)
    assert isinstance(told, Damage)
    assert (told.rows, told.detail) == (6, "cannot be read: No such file or directory")


def test_a_folder_in_the_place_of_a_segment_is_told(tmp_path: Path) -> None:
    local(Segment(tmp_path, "a", 0, sealed=True).path).mkdir()
    (told,) = damage(tmp_path)
    assert told.detail == "cannot be read: Is a directory"


def test_other_files_are_passed_over(tmp_path: Path) -> None:
    log(tmp_path)
    (tmp_path / "README.txt").write_text("not a segment")
    assert sequences(tmp_path) == list(range(6))


def test_any_bytes_in_the_place_of_a_segment_raise_nothing(tmp_path: Path) -> None:
    source = random.Random(4)
    segment = log(tmp_path)
    for size in range(0, 400, 7):
        segment.path.write_bytes(source.randbytes(size))
        segment.sums_path.write_bytes(source.randbytes(size % 70))
        assert sequences(tmp_path) == []


def test_checksums_on_object_storage_are_asked_for_once(
    faults: Faults, bucket: str, tmp_path: Path
) -> None:
    segment = log(tmp_path, batches=50)
    send(segment, RemotePath(bucket))
    (there,) = segments(RemotePath(bucket))
    assert known_sums(there) == known_sums(segment)
    faults.requests.clear()
    assert batch_count(there) == 50
    assert faults.requests == []
    assert len(list(read_segment(there, start=10, stop=40))) == 30
    assert len(faults.requests) == 2


def test_of_too_many_checksums_the_first_are_forgotten(
    bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "MAX_KEPT_BYTES", 1)
    segment = log(tmp_path)
    send(segment, RemotePath(bucket))
    for _ in range(2):
        assert known_sums(segment._replace(folder=RemotePath(bucket))) == known_sums(segment)


def test_a_store_that_does_not_answer_is_neither_damage_nor_an_empty_segment(
    faults: Faults, bucket: str, tmp_path: Path
) -> None:
    send(log(tmp_path), RemotePath(bucket))
    (there,) = segments(RemotePath(bucket))
    faults.fail(Mood.BUSY)
    with pytest.raises(UnreachableError):
        batch_count(there)
    faults.heal()
    batch_count(there)
    faults.fail(Mood.BUSY)
    with pytest.raises(UnreachableError):
        list(read_segment(there))


def test_a_segment_that_was_deleted_on_object_storage_is_told(bucket: str, tmp_path: Path) -> None:
    send(log(tmp_path), RemotePath(bucket))
    (there,) = segments(RemotePath(bucket))
    batch_count(there)
    there.path.unlink()
    (told,) = read_segment(there)
    assert isinstance(told, Damage)
    assert (told.batch, told.rows) == (NO_BATCH, 6)
