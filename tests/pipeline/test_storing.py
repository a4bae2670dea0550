"""Workers write what ingest commits."""

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql.datasource import InputPartition

from wireloom.capture.record import Captured, Direction
from wireloom.capture.writer import CaptureWriter
from wireloom.pipeline import declared
from wireloom.pipeline.source import available
from wireloom.pipeline.storing import StoringSource, StoringStream
from wireloom.pipeline.tables import Store

GOOD, BAD = bytes.fromhex("792000"), b"nonsense"


@pytest.fixture
def stream(tmp_path: Path) -> StoringStream:
    with CaptureWriter(tmp_path / "captures", "n") as writer:
        for raw in (GOOD, BAD, GOOD):
            writer.append(
                Captured(
                    captured_at=1_700_000_000_000_000,
                    node="n",
                    protocol="uep12",
                    link="udp",
                    direction=Direction.IN,
                    raw=raw,
                )
            )
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
    tables = {table.name: table for table in declared.ingested()}
    for name, count in (("frames", 2), ("quarantine", 1)):
        rows = pa.parquet.read_table(tmp_path / "tables" / name / found[name]["path"])
        assert rows.num_rows == count
        assert rows.schema.names == [column.name for column in tables[name].columns]
    assert Store(tmp_path / "tables").open("frames") is None


def test_another_source_s_share_is_not_taken(stream: StoringStream) -> None:
    with pytest.raises(TypeError):
        next(stream.read(InputPartition(None)))
