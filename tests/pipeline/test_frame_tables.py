"""The tables that ingest fills, and what is found in them without Spark."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from wireloom.pipeline import frame_tables
from wireloom.pipeline.frame_tables import REWRITTEN, SLICE, Span
from wireloom.pipeline.store import TableStore

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def test_every_column_has_a_meaning() -> None:
    for table in frame_tables.ingested():
        assert [column.name for column in table.columns if not column.meaning] == []


def test_a_refusal_stands_in_quarantine_only() -> None:
    frames = {column.name for column in frame_tables.frames().columns}
    quarantine = {column.name for column in frame_tables.quarantine().columns}
    assert {"reason", "detail", "offset"} <= quarantine
    assert not {"reason", "detail", "offset", "kind"} & frames
    assert {"raw", "decoder", "sighting"} <= quarantine & frames


def test_batched_frames_are_like_frames() -> None:
    assert frame_tables.batched().columns == frame_tables.frames().columns
    assert frame_tables.batched().name == "batched"


def put(store: TableStore, slice_: int, *rows: dict[str, Any], name: str = "frames") -> None:
    """Commits rows of a slice to one table, and the slice to all."""
    for table in frame_tables.ingested():
        paths = []
        if rows and table.name == name:
            whole = [{"captured_at": BEGIN, SLICE: slice_, **row} for row in rows]
            paths = [store.written(table, pa.Table.from_pylist(whole, table.arrow))]
        store.log.commit(table, paths, {SLICE: slice_})


@pytest.fixture
def store(tmp_path: Path) -> TableStore:
    """Two slices of frames, one of refused frames, and one batched frame."""
    made = TableStore(tmp_path)
    put(
        made,
        0,
        {"sighting": "a", "protocol": "dtn", "type": "Data", "message_id": "1"},
        {"sighting": "b", "protocol": "dtn", "type": "HopAck", "reply_to": "1"},
    )
    later = BEGIN + timedelta(minutes=1)
    put(made, 1, {"sighting": "c", "protocol": "uep12", "type": "X", "captured_at": later})
    put(made, 2, {"sighting": "d", "protocol": "dtn", "type": "Data"}, name="batched")
    refused = {"sighting": "e", "reason": "malformed", "captured_at": later + timedelta(minutes=1)}
    put(made, 3, refused, name="quarantine")
    return made


def sightings(rows: pa.Table) -> list[str]:
    return sorted(rows.column("sighting").to_pylist())


def test_frames_of_slices_are_gathered(store: TableStore) -> None:
    assert frame_tables.last_slice(store) == 3
    assert sightings(frame_tables.gathered(store, ["sighting"], after=-1, upto=3)) == [*"abcd"]
    assert sightings(frame_tables.gathered(store, ["sighting"], after=0, upto=1)) == ["c"]
    of_dtn = frame_tables.gathered(
        store, ["sighting", "protocol"], after=-1, upto=3, where=pc.field("protocol") == "dtn"
    )
    assert sightings(of_dtn) == ["a", "b", "d"]
    assert of_dtn.column_names == ["sighting", "protocol"]
    assert [frame_tables.count(store, after=slice_) for slice_ in (-1, 0, 1, 2)] == [4, 2, 1, 0]


def test_frames_that_hold_a_value_are_found_in_any_of_some_columns(store: TableStore) -> None:
    values = pa.array(["1"])
    found = frame_tables.holding(store, ["sighting"], ["message_id", "reply_to"], values, upto=3)
    assert sightings(found) == ["a", "b"]
    assert found.column_names == ["sighting"]
    found = frame_tables.holding(store, ["sighting"], ["reply_to"], values, upto=-1)
    assert found.num_rows == 0


def test_frames_of_a_time_are_found_from_its_begin_up_to_its_end(store: TableStore) -> None:
    minute = timedelta(minutes=1)
    frames, quarantine = frame_tables.frames(), frame_tables.quarantine()
    for spans, table, expected in (
        ([Span(BEGIN, BEGIN + minute)], frames, [*"ab"]),
        ([Span(BEGIN + minute, BEGIN + 2 * minute)], frames, ["c"]),
        ([Span(BEGIN - minute, BEGIN), Span(BEGIN + minute, BEGIN + 2 * minute)], frames, ["c"]),
        ([], frames, []),
        ([Span(BEGIN, BEGIN + 3 * minute)], quarantine, ["e"]),
    ):
        found = frame_tables.between(store, table, ["sighting"], spans, upto=3)
        assert sightings(found) == expected
    one = frame_tables.between(store, frames, ["sighting"], [Span(BEGIN, BEGIN + minute)], upto=-1)
    assert one.num_rows == 0


def test_frames_of_types_are_chosen_and_counted(store: TableStore) -> None:
    def chosen(protocol: str | None, *types: str, upto: int = 3) -> list[str]:
        found = frame_tables.chosen(store, ["sighting"], protocol, types, upto)
        return sightings(pa.concat_tables([NOTHING, *found]))

    assert chosen(None) == [*"abcd"]
    assert chosen("dtn") == ["a", "b", "d"]
    assert chosen("dtn", "Data") == [*"ad"]
    assert chosen(None, "Data", "X", upto=1) == [*"ac"]
    assert frame_tables.tally(store, upto=3) == {
        ("dtn", "Data"): 2,
        ("dtn", "HopAck"): 1,
        ("uep12", "X"): 1,
    }
    assert frame_tables.tally(store, upto=-1) == {}


NOTHING = pa.table({"sighting": pa.array([], pa.string())})


def test_refused_frames_of_slices_are_found(store: TableStore) -> None:
    found = frame_tables.refused(store, ["sighting", "reason"], after=-1, upto=3)
    assert found.to_pylist() == [{"sighting": "e", "reason": "malformed"}]
    assert frame_tables.refused(store, ["sighting"], after=3, upto=3).num_rows == 0
    assert frame_tables.refused(store, ["sighting"], after=-1, upto=2).num_rows == 0
    assert frame_tables.none_refused(["sighting"]).column_names == ["sighting"]


def test_the_horizon_is_the_latest_capture_up_to_a_slice(store: TableStore) -> None:
    begin = int(BEGIN.timestamp() * 1000)
    found = [frame_tables.horizon_ms(store, upto=slice_) for slice_ in range(-1, 4)]
    assert found == [0, begin, begin + 60_000, begin + 60_000, begin + 120_000]


def test_the_horizon_of_a_clock_that_was_never_set_is_as_exact(tmp_path: Path) -> None:
    store = TableStore(tmp_path)
    put(
        store,
        0,
        {
            "sighting": "a",
            "captured_at": datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=1001),
        },
    )
    assert frame_tables.horizon_ms(store, upto=0) == 1001


def test_what_was_rewritten_is_announced_once(store: TableStore) -> None:
    assert frame_tables.rewritten(store) == -1
    frame_tables.announce(store, -1)
    assert frame_tables.last_slice(store) == 3
    store.log.commit(frame_tables.frames(), [], {REWRITTEN: 4})
    for _ in range(2):
        frame_tables.announce(store, frame_tables.rewritten(store))
        done = [store.log.all_done(one.name, [SLICE, REWRITTEN]) for one in frame_tables.ingested()]
        assert done == [[4, 4]] * 3
    assert len(store.log.files("frames")) == 2


def test_a_crash_between_two_tables_leaves_a_slice_that_not_all_have(store: TableStore) -> None:
    store.log.commit(frame_tables.frames(), [], {SLICE: 4})
    assert frame_tables.last_slice(store) == 3
    put(store, 4)
    assert frame_tables.last_slice(store) == 4
