"""The data source: offsets, shares, and reading in anybody's Spark."""

from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql.datasource import InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows

from wireloom.capture.frame import CapturedFrame
from wireloom.capture.writer import CaptureWriter
from wireloom.pipeline import source
from wireloom.pipeline.source import (
    SkippedFile,
    Slice,
    WireloomSource,
    WireloomStream,
    advance,
    available,
    passed_over,
    read_slice,
    runs,
    share,
)
from wireloom.wire.outcome import Direction


def write(folder: Path, node: str, batches: list[int]) -> None:
    frame = CapturedFrame(
        captured_at=1_700_000_000_000_000,
        node=node,
        protocol="uep12",
        link="udp",
        direction=Direction.IN,
        raw=bytes.fromhex("792000"),
    )
    with CaptureWriter(folder, node) as writer:
        for count in batches:
            for _ in range(count):
                writer.append(frame)
            writer.flush()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, "a", [3, 4])
    write(tmp_path, "b", [5])
    return tmp_path


A, B = "a-0000000000000000", "b-0000000000000000"


def test_an_offset_counts_batches(folder: Path) -> None:
    assert available(folder) == {A: 2, B: 1}
    assert advance(folder, {}, available(folder), None) == {A: 2, B: 1}
    assert advance(folder, {}, {}, None) == {}


def test_what_is_not_read_is_named(folder: Path) -> None:
    assert passed_over(folder, available(folder)) == []
    (folder / "a copy.arrow").write_bytes(b"")
    assert passed_over(folder, {A: 5, B: 1}) == [
        SkippedFile("a copy.arrow", "it is not named like a segment"),
        SkippedFile(f"{A}.arrow", "a segment of this name with 5 batches was read, this one has 2"),
    ]


@pytest.mark.parametrize("way", ["read", "readStream"])
def test_what_cannot_be_loaded_is_said_in_one_sentence(
    spark: SparkSession, tmp_path: Path, way: str
) -> None:
    spark.dataSource.register(WireloomSource)
    with pytest.raises(AnalysisException, match="there is no folder") as missing:
        getattr(spark, way).format("wireloom").load(str(tmp_path / "nope"))
    assert "Traceback" not in str(missing.value)


def test_an_option_that_is_no_number_is_said_in_one_sentence(
    spark: SparkSession, folder: Path
) -> None:
    spark.dataSource.register(WireloomSource)
    loaded = spark.read.format("wireloom").option("partitions", "many").load(str(folder))
    with pytest.raises(AnalysisException, match="the option partitions is a whole") as wrong:
        loaded.count()
    assert "Traceback" not in str(wrong.value)


def test_a_segment_that_cannot_be_read_is_not_read_in_vain(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (first,) = share(runs(folder, {}, available(folder)), 1)
    monkeypatch.setattr("os.access", lambda path, _: path.name.startswith("a"))
    assert available(folder) == {A: 2}
    for path in folder.glob("*.arrow"):
        path.unlink()
    with pytest.raises(OSError, match="cannot be read"):
        list(read_slice(first))


def test_a_micro_batch_takes_whole_batches_up_to_its_limit(folder: Path) -> None:
    end = available(folder)
    assert advance(folder, {}, end, 7) == {A: 2}
    assert advance(folder, {}, end, 6) == {A: 1}
    assert advance(folder, {}, end, 1) == {A: 1}
    assert advance(folder, {A: 2}, end, 1) == {A: 2, B: 1}
    assert advance(folder, {A: 2, B: 1}, end, 1) == {A: 2, B: 1}


def test_a_stream_ends_with_what_was_there_when_it_was_told_to(folder: Path) -> None:
    stream = WireloomStream(folder, 2, 100)
    stream.prepareForTriggerAvailableNow()
    write(folder, "c", [1])
    assert stream.initialOffset() == {}
    assert stream.latestOffset({}, ReadMaxRows(100)) == {A: 2, B: 1}
    assert WireloomStream(folder, 2, 3).latestOffset({}, ReadAllAvailable())[A] == 2
    assert WireloomStream(folder, 2, 3).getDefaultReadLimit() == ReadMaxRows(3)


def test_shares_are_even_and_lose_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    batches = runs(folder, {}, available(folder))
    assert len(share(batches, 2)) == 1, "a few rows are not worth two shares"
    monkeypatch.setattr(source, "SHARE_ROWS", 6)
    slices = share(batches, 2)
    assert [sum(last - first for _, first, last in one.runs) for one in slices] == [2, 1]
    assert share([], 2) == []
    rows = [batch.num_rows for one in slices for batch in read_slice(one)]
    assert sum(rows) == 12


def test_a_run_says_what_it_has(folder: Path) -> None:
    batches = runs(folder, {A: 1}, available(folder))
    assert [(one.segment.name, one.first, one.last, one.rows) for one in batches] == [
        (A, 1, 2, 4),
        (B, 0, 1, 5),
    ]
    assert runs(folder, available(folder), available(folder)) == []


def test_batches_that_follow_each_other_are_read_as_one_run(folder: Path) -> None:
    batches = runs(folder, {}, available(folder))
    (whole,) = share(batches, 1)
    assert len(whole.runs) == len({segment for segment, *_ in batches}) < len(batches)


def test_a_segment_that_was_sealed_meanwhile_is_found(folder: Path) -> None:
    (segment, first, last, _), *_ = runs(folder, {}, available(folder))
    opened = Slice([(segment._replace(sealed=False), first, last)])
    assert sum(batch.num_rows for batch in read_slice(opened)) == 3


def test_only_slices_are_read() -> None:
    with pytest.raises(TypeError):
        list(read_slice(InputPartition(0)))


def test_a_source_without_a_folder_says_so() -> None:
    with pytest.raises(ValueError, match="load"):
        WireloomSource({}).reader(WireloomSource({}).schema())


def test_any_spark_session_reads_captures(spark: SparkSession, folder: Path) -> None:
    found = spark.read.format("wireloom").load(str(folder))
    assert found.count() == 12
    assert {row.type for row in found.select("type").distinct().collect()} == {"PULL_BY_HASH"}
