"""Workers write what ingest commits."""

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark.sql.datasource import InputPartition

from support.batches import mixed
from support.cases import case
from support.nodes import captured
from wireloom.capture.frame import to_batch
from wireloom.capture.writer import CaptureWriter
from wireloom.pipeline import frame_tables, storing
from wireloom.pipeline.decoding import decode_batch
from wireloom.pipeline.source import available
from wireloom.pipeline.store import TableStore
from wireloom.pipeline.storing import StoringSource, StoringStream
from wireloom.registry import NAMES

GOOD, BAD = bytes.fromhex("792000"), b"nonsense"


@pytest.fixture
def stream(tmp_path: Path) -> StoringStream:
    """Three frames, each in a batch of its own."""
    with CaptureWriter(tmp_path / "captures", "n") as writer:
        for raw in (GOOD, BAD, GOOD):
            writer.flush()
            writer.append(captured("uep12", raw, 0, "n"))
    options = {
        "path": str(tmp_path / "captures"),
        "tables": str(tmp_path / "tables"),
        "maxRows": "10",
    }
    source = StoringSource(options)
    return source.streamReader(source.schema())


def test_a_share_becomes_a_file_of_each_table_that_gets_rows(
    stream: StoringStream, tmp_path: Path
) -> None:
    end = available(tmp_path / "captures")
    (share,) = stream.partitions({}, end)
    (files,) = stream.read(share)
    found = {row["table"]: row for row in files.to_pylist()}
    assert set(found) == {"frames", "quarantine"}
    assert {row["slice"] for row in found.values()} == {0}
    tables = {table.name: table for table in frame_tables.ingested()}
    for name, count in (("frames", 2), ("quarantine", 1)):
        path = tmp_path / "tables" / name / found[name]["path"]
        rows = pa.parquet.read_table(path)
        assert rows.num_rows == count
        assert rows.schema.names == [column.name for column in tables[name].columns]
        assert pa.parquet.read_metadata(path).num_row_groups == 1
    assert TableStore(tmp_path / "tables").log.open("frames") is None


def test_another_source_s_share_is_not_taken(stream: StoringStream) -> None:
    with pytest.raises(TypeError):
        next(stream.read(InputPartition(None)))


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
