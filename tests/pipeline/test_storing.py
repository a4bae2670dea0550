"""A share of the captures becomes files below the tables."""

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from support.batches import mixed
from support.cases import case
from support.nodes import captured
from wireloom.capture.frame import to_batch
from wireloom.capture.writer import CaptureWriter
from wireloom.pipeline import frame_tables, storing
from wireloom.pipeline.decoding import decode_batch
from wireloom.pipeline.files import ParquetFiles
from wireloom.pipeline.source import available, runs, share
from wireloom.pipeline.store import TableStore
from wireloom.pipeline.storing import Storing, stored_here, written
from wireloom.registry import NAMES

GOOD, BAD = bytes.fromhex("792000"), b"nonsense"


@pytest.fixture
def wanted(tmp_path: Path) -> Storing:
    """Three frames, each in a batch of its own."""
    captures = tmp_path / "captures"
    with CaptureWriter(captures, "n") as writer:
        for raw in (GOOD, BAD, GOOD):
            writer.flush()
            writer.append(captured("uep12", raw, 0, "n"))
    shares = share(runs(captures, {}, available(captures)), 1)
    names = tuple(table.name for table in frame_tables.ingested())
    return Storing(str(tmp_path / "tables"), names, 0, shares)


def test_a_share_becomes_a_file_of_each_table_that_gets_rows(
    wanted: Storing, tmp_path: Path
) -> None:
    found = {file.table: file.path for file in stored_here(wanted)}
    assert set(found) == {"frames", "quarantine"}
    tables = {table.name: table for table in frame_tables.ingested()}
    for name, count in (("frames", 2), ("quarantine", 1)):
        path = tmp_path / "tables" / name / found[name]
        rows = pa.parquet.read_table(path)
        assert rows.num_rows == count
        assert set(rows.column(frame_tables.SLICE).to_pylist()) == {0}
        assert rows.schema.names == [column.name for column in tables[name].columns]
        assert pa.parquet.read_metadata(path).num_row_groups == 1
    assert TableStore(tmp_path / "tables").log.open("frames") is None


def test_only_the_tables_that_are_named_get_rows(wanted: Storing) -> None:
    (file,) = stored_here(wanted._replace(tables=("quarantine",)))
    assert file.table == "quarantine"


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_chosen_as_arrow_chooses_them(name: str) -> None:
    frames = case(name).frames
    for raws in (frames, mixed(case(name)), [BAD]):
        seen = [captured(name, raw, 0, "n") for raw in raws]
        batch = decode_batch(to_batch(seen, first_sequence=0))
        for table in frame_tables.ingested():
            mask = pc.equal(batch.column(frame_tables.KIND), table.name)
            rows = storing._chosen(batch, mask)
            rows.validate(full=True)
            assert rows.equals(batch.filter(mask))


def test_many_rows_of_a_protocol_are_row_groups_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storing, "ENOUGH", 4)
    seen = [
        captured(name, raw, 0, "n") for name in NAMES for raw in (case(name).frames * 9)[:9]
    ] + [captured(None, b"?", 0, "n")] * 6
    batch = decode_batch(to_batch(seen, first_sequence=0))
    tables = list(frame_tables.ingested())
    rows = storing._placed(batch, 0)
    halves = iter([rows.slice(0, 20), rows.slice(20)])
    counts = dict.fromkeys((*NAMES, None), 0)
    for file in written(ParquetFiles(tmp_path), halves, tables):
        with pa.parquet.ParquetFile(tmp_path / file.table / file.path) as opened:
            for group in range(opened.num_row_groups):
                protocols = opened.read_row_group(group, ["protocol"]).column(0)
                (name,) = pc.unique(protocols).to_pylist()
                counts[name] += len(protocols)
    batched = pc.equal(batch.column(frame_tables.KIND), "batched").true_count
    assert sum(counts.values()) == 9 * len(NAMES) + 6 + batched
    assert counts[None] == 6
