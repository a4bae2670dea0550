"""Following: a few new rows change what they touch, and nothing is different from a whole run."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from support.letters import ack, connect, send, uuid
from wireloom.capture.frame import CapturedFrame
from wireloom.capture.writer import CaptureWriter
from wireloom.lake import Lake
from wireloom.pipeline import frame_tables
from wireloom.pipeline.stages.analyse import recompute
from wireloom.pipeline.stages.follow import FOLLOWED, follow, needed
from wireloom.pipeline.stages.ingest import ingest
from wireloom.pipeline.stages.refine import refine
from wireloom.pipeline.store import TableStore
from wireloom.pipeline.transforms.fates import fates
from wireloom.pipeline.transforms.messages import messages
from wireloom.pipeline.transforms.nodes import nodes
from wireloom.registry import NAMES


class Bench:
    """A folder that frames come to."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark = spark
        self.folder = folder
        self.store = TableStore(folder / "tables")

    def ingest(self, frames: list[CapturedFrame]) -> None:
        """Brings frames as far as `frames`."""
        with CaptureWriter(self.folder / "captures", frames[0].node) as writer:
            for frame in frames:
                writer.append(frame)
        captures = self.folder / "captures"
        ingest(self.spark, captures, self.store, on_batch=lambda _: None).await_end()

    def take(self, frames: list[CapturedFrame]) -> bool:
        """Brings frames as far as `refine`, and says whether the tables could follow."""
        self.ingest(frames)
        refine(self.spark, self.store)
        return follow(self.spark, self.store, on_table=lambda *_: None)

    def recompute(self) -> None:
        """Brings the followed tables up to date from everything."""
        recompute(self.spark, self.store, FOLLOWED, on_table=lambda *_: None)

    def states(self) -> dict[str, str]:
        """The state of each message."""
        rows = Lake(self.folder / "tables").rows("SELECT message_id, state FROM fates")
        return {str(row["message_id"]): str(row["state"]) for row in rows}


@pytest.fixture
def bench(spark: SparkSession, tmp_path: Path) -> Bench:
    ready = Bench(spark, tmp_path)
    assert not ready.take([connect(), send(10), send(20), ack(21, 20, at=5)])
    ready.recompute()
    assert ready.states() == {uuid(10): "in_flight", uuid(20): "delivered"}
    return ready


def test_what_new_rows_touch_is_brought_up_to_date(bench: Bench) -> None:
    assert bench.take([ack(11, 10, at=9), send(30, at=9)])
    assert bench.states() == {
        uuid(10): "delivered",
        uuid(20): "delivered",
        uuid(30): "in_flight",
    }
    assert bench.take([send(10, at=10)])
    (row,) = Lake(bench.folder / "tables").rows(
        "SELECT sightings FROM messages WHERE message_id = ?", uuid(10)
    )
    assert row["sightings"] == 2


def test_a_message_is_lost_when_its_deadline_passes_whoever_is_seen_then(bench: Bench) -> None:
    assert bench.take([send(40, at=31_000)])
    assert bench.states()[uuid(10)] == "lost"


def test_a_node_that_plays_a_new_part_needs_a_whole_look(bench: Bench) -> None:
    elsewhere = [
        CapturedFrame(
            captured_at=frame.captured_at,
            node="hub-2",
            protocol=frame.protocol,
            link=frame.link,
            direction=frame.direction,
            raw=frame.raw,
        )
        for frame in (send(50, at=3),)
    ]
    assert not bench.take(elsewhere)
    bench.recompute()
    assert uuid(50) in bench.states()
    assert bench.take([send(60, at=4)])


def test_nothing_new_is_nothing_to_do(bench: Bench) -> None:
    before = {table.name: bench.store.log.version(table.name) for table in FOLLOWED}
    assert follow(bench.spark, bench.store, on_table=lambda *_: None)
    assert {table.name: bench.store.log.version(table.name) for table in FOLLOWED} == before


def test_frames_that_came_meanwhile_are_left_for_the_next_time(bench: Bench) -> None:
    bench.ingest([ack(11, 10, at=9), send(30, at=9)])
    refine(bench.spark, bench.store)
    bench.ingest([ack(31, 30, at=12), send(30, at=12), send(10, at=12)])
    assert follow(bench.spark, bench.store, on_table=lambda *_: None)
    assert bench.states() == {
        uuid(10): "delivered",
        uuid(20): "delivered",
        uuid(30): "in_flight",
    }
    refine(bench.spark, bench.store)
    assert follow(bench.spark, bench.store, on_table=lambda *_: None)
    assert bench.states()[uuid(30)] == "delivered"


def pruned(schema: pa.Schema, paths: Sequence[str]) -> pa.Schema:
    """The fields at these paths, and what is around them."""
    wanted: dict[str, list[str]] = {}
    for path in paths:
        name, _, rest = path.partition(".")
        wanted.setdefault(name, []).extend([rest] if rest else [])
    fields = [(schema.field(name), rest) for name, rest in wanted.items()]
    return pa.schema(
        [
            pa.field(field.name, pa.struct(list(pruned(pa.schema(field.type), rest))))
            if rest
            else field
            for field, rest in fields
        ]
    )


def resolves(spark: SparkSession, paths: Sequence[str]) -> bool:
    """Whether the transforms can be analysed with these columns alone."""
    columns = pruned(frame_tables.frames().arrow, paths)
    seen = spark.createDataFrame(columns.append(pa.field("auth", pa.string())).empty_table())
    try:
        fates(seen, nodes(seen), 0)
        messages(seen)
    except AnalysisException:
        return False
    return True


def test_following_reads_the_columns_that_the_rules_name_and_no_more(spark: SparkSession) -> None:
    of_protocols = [path for path in needed() if "." in path]
    assert {path.partition(".")[0] for path in of_protocols} == set(NAMES)
    assert resolves(spark, needed())
    for path in of_protocols:
        assert not resolves(spark, [one for one in needed() if one != path]), path
