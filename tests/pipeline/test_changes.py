"""New rows change what they touch, and nothing is different from a whole computation."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace
from pyspark.sql import SparkSession

from support.hub_talk import heard, said
from support.letters import ack, connect, send, uuid
from support.nodes import ANN, BOB, TEXT, captured, forged, mesh_id
from support.nodes import frame as mesh_frame
from wireloom.capture.frame import CapturedFrame
from wireloom.capture.writer import CaptureWriter
from wireloom.lake import Lake
from wireloom.pipeline import frame_tables, merging
from wireloom.pipeline.derived import DERIVED, Derived
from wireloom.pipeline.spark import Started
from wireloom.pipeline.stages.analyse import analyse
from wireloom.pipeline.stages.ingest import ingest
from wireloom.pipeline.stages.refine import refine
from wireloom.pipeline.store import TableStore
from wireloom.protocols.myriadmesh.constants import AckType, Flags
from wireloom.protocols.myriadmesh.messages import Ack, Discovery

CHANGED, REMADE = "changed", "remade"
"""Marks in the logs: rows of the table changed, and maybe others than those of some keys."""

OF_MESSAGES = ("nodes", "fates", "messages")
NONSENSE = b"nonsense"
DELIVERED = Ack(original_message_id=(1).to_bytes(16, "big"), ack_type=AckType.DELIVERED)


class Bench:
    """A folder that frames come to, and some of the tables that are made of them."""

    def __init__(self, spark: SparkSession, folder: Path, tables: Sequence[str]) -> None:
        self.spark = Started(spark)
        self.folder = folder
        self.store = TableStore(folder / "tables")
        self.tables = [one for one in DERIVED if one.table.name in tables]

    def ingest(self, frames: list[CapturedFrame]) -> None:
        """Brings frames as far as `frames`."""
        with CaptureWriter(self.folder / "captures", frames[0].node) as writer:
            for one in frames:
                writer.append(one)
        ingest(self.spark, self.folder / "captures", self.store, on_batch=lambda _: None)

    def analyse(self) -> dict[str, int]:
        """Brings the tables up to date; gives how many rows of each were written."""
        written: dict[str, int] = {}
        analyse(self.spark, self.store, on_table=written.__setitem__, tables=self.tables)
        return written

    def take(self, *frames: CapturedFrame) -> dict[str, int]:
        """Brings frames as far as the tables."""
        self.ingest(list(frames))
        refine(self.spark, self.store)
        return self.analyse()

    def last(self, name: str, mark: str) -> bool:
        """Whether a table has this mark for the last slice."""
        return self.store.log.done(name, mark) == frame_tables.last_slice(self.store)

    def versions(self) -> list[int]:
        return [self.store.log.version(one.table.name) for one in self.tables]

    def rows(self, query: str, *values: str) -> list[tuple[object, ...]]:
        return [tuple(row.values()) for row in Lake(self.folder / "tables").rows(query, *values)]

    def states(self) -> dict[str, str]:
        """The state of each message."""
        return {
            str(id_): str(state) for id_, state in self.rows("SELECT message_id, state FROM fates")
        }

    def check(self) -> None:
        """Refuses tables that differ from what a whole computation gives."""
        other = TableStore(self.folder / "whole")
        ingest(self.spark, self.folder / "captures", other, on_batch=lambda _: None)
        refine(self.spark, other)
        analyse(self.spark, other, on_table=lambda *_: None, tables=self.tables)
        for one in self.tables:
            assert told(self.store, one) == told(other, one), one.table.name


def told(store: TableStore, derived: Derived) -> list[str]:
    """The rows of a table."""
    names = derived.table.arrow.names
    found = [row for _, rows in store.scan(derived.table, names) for row in rows.to_pylist()]
    return sorted(repr(row) for row in found)


@pytest.fixture
def bench(spark: SparkSession, tmp_path: Path) -> Bench:
    ready = Bench(spark, tmp_path, OF_MESSAGES)
    assert ready.take(connect(), send(10), send(20), ack(21, 20, at=5))["fates"] == 2
    assert ready.states() == {uuid(10): "in_flight", uuid(20): "delivered"}
    return ready


def test_what_new_rows_touch_is_brought_up_to_date(bench: Bench) -> None:
    assert bench.take(ack(11, 10, at=9), send(30, at=9))["fates"] == 2
    assert bench.states() == {
        uuid(10): "delivered",
        uuid(20): "delivered",
        uuid(30): "in_flight",
    }
    assert bench.last("fates", CHANGED)
    assert not bench.last("fates", REMADE)
    assert bench.take(send(10, at=10))["messages"] == 1
    query = "SELECT sightings FROM messages WHERE message_id = ?"
    assert bench.rows(query, uuid(10)) == [(2,)]
    bench.check()


def test_a_message_is_lost_when_its_deadline_passes_whoever_is_seen_then(bench: Bench) -> None:
    assert bench.take(send(40, at=31_000))["fates"] == 2
    assert bench.states()[uuid(10)] == "lost"
    assert not bench.last("fates", REMADE)
    bench.check()


def test_a_node_that_plays_a_new_part_needs_a_whole_look(bench: Bench) -> None:
    elsewhere = replace(send(50, at=3), node="hub-2")
    assert bench.take(elsewhere)["fates"] == 3
    assert bench.last("nodes", REMADE)
    assert bench.last("fates", REMADE)
    assert set(bench.states()) == {uuid(10), uuid(20), uuid(50)}
    assert bench.take(send(60, at=4))["fates"] == 1
    assert not bench.last("nodes", CHANGED)
    assert not bench.last("fates", REMADE)
    bench.check()


def test_nothing_new_is_nothing_to_do(bench: Bench) -> None:
    before = bench.versions()
    assert bench.analyse() == {}
    assert bench.versions() == before


def test_frames_that_came_meanwhile_are_left_for_the_next_time(bench: Bench) -> None:
    bench.ingest([ack(11, 10, at=9), send(30, at=9)])
    refine(bench.spark, bench.store)
    bench.ingest([ack(31, 30, at=12), send(30, at=12), send(10, at=12)])
    assert bench.analyse()["fates"] == 2
    assert bench.states() == {
        uuid(10): "delivered",
        uuid(20): "delivered",
        uuid(30): "in_flight",
    }
    refine(bench.spark, bench.store)
    assert bench.analyse()["fates"] == 2
    assert bench.states()[uuid(30)] == "delivered"
    bench.check()


def test_a_table_that_was_deleted_is_computed_from_all_frames(bench: Bench) -> None:
    bench.take(send(30, at=9))
    other = TableStore(bench.folder / "tables")
    for path in sorted((bench.folder / "tables" / "messages").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    bench.store = other
    assert bench.analyse()["messages"] == 5
    bench.check()


def mesh(raw: bytes, at: int = 0, direction: str = "in", **more: object) -> CapturedFrame:
    return captured("myriadmesh", raw, at, "relay", direction, **more)


HELLO = mesh_frame(1, ANN, BOB, TEXT)
THANKS = mesh_frame(2, BOB, ANN, DELIVERED, flags=Flags.ACK)
BOBS_KEY = mesh_frame(3, BOB, None, Discovery(public_key=BOB.key.public))


def test_a_key_that_comes_late_changes_the_rows_that_depend_on_it_and_no_other(
    spark: SparkSession, tmp_path: Path
) -> None:
    bench = Bench(spark, tmp_path, (*OF_MESSAGES, "receptions"))
    bench.take(mesh(HELLO), mesh(THANKS, 5), mesh(mesh_frame(4, ANN, BOB, TEXT), 6))
    assert set(bench.states().values()) == {"in_flight"}
    written = bench.take(mesh(BOBS_KEY, 9))
    assert bench.states() == {mesh_id(1): "delivered", mesh_id(4): "in_flight"}
    assert written == {"nodes": 0, "fates": 1, "messages": 3, "receptions": 2}
    query = "SELECT auth FROM receptions WHERE message_id = ?"
    assert bench.rows(query, mesh_id(2)) == [("valid",)]
    assert bench.rows(query, mesh_id(1)) == [("unknown_key",)]
    assert not any(bench.last(one.table.name, REMADE) for one in bench.tables)
    bench.check()


def test_a_name_that_a_late_key_refutes_is_no_longer_a_nodes(
    spark: SparkSession, tmp_path: Path
) -> None:
    bench = Bench(spark, tmp_path, OF_MESSAGES)
    bench.take(mesh(forged(THANKS), 5, "local"), mesh(HELLO, 6))
    assert bench.rows("SELECT identities FROM nodes") == [([BOB.id.hex()],)]
    bench.take(mesh(BOBS_KEY, 9))
    assert bench.rows("SELECT identities FROM nodes") == [([],)]
    bench.check()


def test_a_table_by_content_computes_the_contents_of_new_frames(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merging, "SMALL", 0)
    bench = Bench(spark, tmp_path, ["receptions"])
    bench.take(mesh(HELLO), mesh(HELLO, 1), mesh(THANKS, 2))
    (first,) = bench.store.log.files("receptions")
    assert bench.take(mesh(BOBS_KEY, 3))["receptions"] == 2, "its own, and what the key says"
    bench.take(mesh(mesh_frame(7, ANN, BOB, TEXT), 4))
    others = bench.store.log.files("receptions")
    assert first not in others
    assert bench.take(mesh(BOBS_KEY, -1))["receptions"] == 2
    query = "SELECT captured_at FROM receptions WHERE verdict = 'first' AND message_id = ?"
    assert len(bench.rows(query, mesh_id(3))) == 1
    kept = [file for file in bench.store.log.files("receptions") if file in others]
    assert len(kept) == len(others) - 1, "only the file with that content is written anew"
    bench.check()


def test_a_table_by_minute_computes_the_minutes_of_new_frames(
    spark: SparkSession, tmp_path: Path
) -> None:
    bench = Bench(spark, tmp_path, ["traffic"])
    minute = 60_000
    bench.take(mesh(HELLO), mesh(THANKS, minute), mesh(NONSENSE, minute))
    assert bench.rows("SELECT count(*) FROM traffic") == [(3,)]
    assert bench.take(mesh(HELLO, 1)) == {"traffic": 1}
    assert bench.take(mesh(NONSENSE, minute + 1)) == {"traffic": 2}
    assert bench.take(mesh(NONSENSE, 3 * minute)) == {"traffic": 1}
    query = "SELECT frames FROM traffic ORDER BY minute, type NULLS LAST"
    assert bench.rows(query) == [(2,), (1,), (2,), (1,)]
    assert not bench.last("traffic", REMADE)
    bench.check()


def test_a_table_by_frame_computes_new_frames_and_those_that_were_judged_again(
    spark: SparkSession, tmp_path: Path
) -> None:
    bench = Bench(spark, tmp_path, ["disagreements"])
    bench.take(mesh(forged(THANKS), outcome="accepted"), mesh(NONSENSE, outcome="accepted"))
    assert bench.rows("SELECT pipeline_reason FROM disagreements") == [("malformed",)]
    assert bench.take(mesh(NONSENSE, 1, outcome="accepted"), mesh(HELLO, 2)) == {"disagreements": 1}
    assert bench.take(mesh(BOBS_KEY, 3)) == {"disagreements": 1}
    query = "SELECT pipeline_reason FROM disagreements ORDER BY ALL"
    assert bench.rows(query) == [("bad_signature",), ("malformed",), ("malformed",)]
    assert not bench.last("disagreements", REMADE)
    bench.check()


TOPIC = [
    heard(said("hub:subscribe", 5, at=10), 10),
    heard(said("hub:subscribed", 6, at=11, about=5), 11, "out"),
]


def test_a_table_of_types_is_computed_when_one_of_them_comes(
    spark: SparkSession, tmp_path: Path
) -> None:
    bench = Bench(spark, tmp_path, ["hub_topics"])
    assert bench.take(*TOPIC) == {"hub_topics": 1}
    (file,) = bench.store.log.files("hub_topics")
    assert bench.take(send(10), mesh(HELLO), mesh(NONSENSE)) == {"hub_topics": 0}
    assert bench.store.log.files("hub_topics") == [file]
    assert not bench.last("hub_topics", CHANGED)
    assert bench.take(heard(said("hub:publish", 7, at=20), 20)) == {"hub_topics": 1}
    assert file not in bench.store.log.files("hub_topics")
    assert bench.last("hub_topics", REMADE)
    bench.check()


def test_a_table_that_stays_what_it_is_is_not_written_again(
    spark: SparkSession, tmp_path: Path
) -> None:
    bench = Bench(spark, tmp_path, ["hub_topics"])
    bench.take(*TOPIC)
    files = bench.store.log.files("hub_topics")
    unknown = said("hub:unsubscribe", 9, at=30, payload={"subscription_id": "nobody's"})
    assert bench.take(heard(unknown, 30)) == {"hub_topics": 0}
    assert bench.store.log.files("hub_topics") == files
    assert not bench.last("hub_topics", CHANGED)
