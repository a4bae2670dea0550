"""Frames as batches and back."""

import msgspec
import pyarrow as pa
import pytest

from capture.made import BARE, FULL, START, frame
from wireloom.capture.frame import SCHEMA, from_batch, rows, to_batch


def test_frames_come_back_from_a_batch() -> None:
    frames = [frame(), FULL, BARE]
    assert from_batch(to_batch(frames, first_sequence=5)) == frames


def test_a_batch_has_the_columns_of_a_segment_and_consecutive_numbers() -> None:
    batch = to_batch([frame(), FULL, BARE], first_sequence=5)
    assert batch.schema.equals(SCHEMA)
    assert batch.column("sequence").to_pylist() == [5, 6, 7]
    batch.validate(full=True)


def test_no_frame_is_an_empty_batch() -> None:
    batch = to_batch([], first_sequence=0)
    assert batch.num_rows == 0
    assert batch.schema.equals(SCHEMA)
    assert list(rows(batch)) == []


def test_a_row_has_every_column_and_its_time_in_microseconds() -> None:
    (row,) = rows(to_batch([FULL], first_sequence=1))
    assert list(row) == SCHEMA.names
    assert row["captured_at"] == START + 7
    assert row["reason"] == "bad_pow"


def test_rows_show_times_that_no_calendar_has() -> None:
    (row,) = rows(to_batch([frame(captured_at=2**62)], first_sequence=0))
    assert row["captured_at"] == 2**62


def test_a_word_that_is_not_listed_is_refused_by_from_batch_and_shown_by_rows() -> None:
    batch = to_batch([frame()], first_sequence=0)
    place = SCHEMA.names.index("outcome")
    batch = batch.set_column(place, SCHEMA.field(place), pa.array(["vanished"]))
    with pytest.raises(msgspec.ValidationError):
        from_batch(batch)
    assert next(rows(batch))["outcome"] == "vanished"
