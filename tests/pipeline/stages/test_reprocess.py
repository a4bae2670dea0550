"""Reprocess: frames that another version decoded become what this version makes of them."""

import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from support.corpus import fates, same_tables, truth
from wireloom.pipeline import frame_tables, run
from wireloom.pipeline.log import DeltaLog
from wireloom.pipeline.spark import Started
from wireloom.pipeline.stages import reprocess as stage
from wireloom.pipeline.store import TableStore
from wireloom.pipeline.transforms.fates import TABLE as FATES


@pytest.fixture
def outdated(spark: SparkSession, tables: Path, tmp_path: Path) -> TableStore:
    """Tables as an older version would have left them: it refused every hub message."""
    shutil.copytree(tables, tmp_path / "tables")
    store = TableStore(tmp_path / "tables")
    frames = store.read(spark, frame_tables.frames()).withColumn("decoder", f.lit("0.0.1"))
    refused = store.read(spark, frame_tables.quarantine()).withColumn("decoder", f.lit("0.0.1"))
    hub = f.col("protocol") == "signalhub"
    wrongly = frames.where(hub).withColumns(
        {
            "reason": f.lit("unknown_type"),
            "detail": f.lit("never heard of it"),
            "offset": f.lit(None).cast("bigint"),
        }
    )
    names = [column.name for column in frame_tables.quarantine().columns]
    more = refused.union(wrongly.select(names)).localCheckpoint()
    store.replace(frame_tables.frames(), frames.where(~hub).localCheckpoint(), app="old", version=0)
    store.replace(frame_tables.quarantine(), more, app="old", version=0)
    nothing = spark.createDataFrame([], FATES.schema)
    store.replace(FATES, nothing, app="old", version=0)
    return store


def test_an_old_versions_mistakes_are_mended(
    spark: SparkSession, corpus: Path, tables: Path, outdated: TableStore
) -> None:
    good, bad = run.reprocess(Started(spark), outdated)
    assert good + bad == sum(
        file.rows for table in ("frames", "quarantine") for file in outdated.log.files(table)
    )
    assert fates(Path(outdated.root)) == truth(corpus)
    same_tables(tables, Path(outdated.root))
    assert stage.reprocess(Started(spark), outdated, on_slice=lambda *_: None) == (0, 0)


def test_what_a_crash_left_between_two_tables_is_finished_first(
    spark: SparkSession, tables: Path, outdated: TableStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = DeltaLog.commit

    def crash(self: DeltaLog, table: object, *args: object, **more: object) -> int:
        if table == frame_tables.quarantine():
            raise KeyboardInterrupt
        return commit(self, table, *args, **more)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(DeltaLog, "commit", crash)
        with pytest.raises(KeyboardInterrupt):
            stage.reprocess(Started(spark), outdated, on_slice=lambda *_: None)
    assert outdated.log.done("frames", stage.APP) > outdated.log.done("quarantine", stage.APP)
    stage.reprocess(Started(spark), outdated, on_slice=lambda *_: None)
    for table in frame_tables.ingested():
        same_rows = (
            outdated.read(spark, table)
            .select("sighting", "decoder")
            .exceptAll(TableStore(tables).read(spark, table).select("sighting", "decoder"))
        )
        assert same_rows.count() == 0
        assert outdated.read(spark, table).count() == TableStore(tables).read(spark, table).count()


def test_what_this_version_decoded_stays_as_it_is(spark: SparkSession, tables: Path) -> None:
    before = TableStore(tables).log.version("frames")
    assert stage.reprocess(Started(spark), TableStore(tables), on_slice=lambda *_: None) == (0, 0)
    assert TableStore(tables).log.version("frames") == before
