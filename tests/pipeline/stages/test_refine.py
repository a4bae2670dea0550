"""Refine: keys from the traffic, verdicts once, and again when a key comes."""

import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from support.nodes import ANN, BOB, TEXT, captured, forged, frame, mesh_id
from wireloom.capture.frame import CapturedFrame
from wireloom.capture.writer import CaptureWriter
from wireloom.lake import Lake
from wireloom.pipeline import frame_tables
from wireloom.pipeline.judged_tables import KEYS, REJUDGED, VERDICTS
from wireloom.pipeline.spark import Started
from wireloom.pipeline.stages import refine as refining
from wireloom.pipeline.stages.ingest import ingest
from wireloom.pipeline.stages.refine import APP, refine
from wireloom.pipeline.store import TableStore
from wireloom.protocols.myriadmesh.integrity import node_id
from wireloom.protocols.myriadmesh.messages import Discovery
from wireloom.wire.keys import uid

OWNERS = {"dtn": uid, "myriadmesh": node_id}

WAYS = {
    "here": (60_000, 4_000_000),
    "by workers": (0, 4_000_000),
    "by Spark": (0, 0),
}
"""Up to how many rows they are judged here, and up to how many by workers that read all."""


@pytest.fixture(params=list(WAYS.values()), ids=list(WAYS))
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each way in which contents are judged."""
    here, shared = request.param
    monkeypatch.setattr(refining, "HERE", here)
    monkeypatch.setattr(refining, "SHARED_ROWS", shared)


def test_every_key_certifies_its_owner(tables: Path) -> None:
    rows = Lake(tables).rows(f"SELECT * FROM {KEYS.name}")
    assert {row["protocol"] for row in rows} == {"dtn", "myriadmesh"}
    for row in rows:
        owner = OWNERS[str(row["protocol"])](bytes.fromhex(str(row["public_key"])))
        assert owner.hex() == row["owner"]


def test_every_distinct_content_is_judged_once(tables: Path) -> None:
    lake = Lake(tables)
    (counted,) = lake.rows(
        f"SELECT count(*) AS n, count(DISTINCT (protocol, content)) AS d FROM {VERDICTS.name}"
    )
    assert counted["n"] == counted["d"]
    (missing,) = lake.rows(
        f"""SELECT count(*) AS n FROM frames ANTI JOIN {VERDICTS.name} USING (protocol, content)
            WHERE protocol IN ('dtn', 'myriadmesh', 'uep12')"""
    )
    assert missing["n"] == 0


def test_forged_frames_are_caught(corpus: Path, tables: Path) -> None:
    rows = Lake(tables).rows(f"SELECT auth, count(*) AS n FROM {VERDICTS.name} GROUP BY ALL")
    found = {str(row["auth"]): int(str(row["n"])) for row in rows}
    assert found["valid"] > found["invalid"] > 0


def told(folder: Path, name: str) -> list[str]:
    return sorted(repr(sorted(row.items())) for row in Lake(folder).rows(f"SELECT * FROM {name}"))


@pytest.mark.usefixtures("way")
def test_every_way_gives_the_same_keys_and_verdicts(
    spark: SparkSession, tables: Path, tmp_path: Path
) -> None:
    for table in frame_tables.ingested():
        shutil.copytree(tables / table.name, tmp_path / table.name)
    store = TableStore(tmp_path)
    refine(Started(spark), store)
    for table in (KEYS, VERDICTS):
        assert told(tmp_path, table.name) == told(tables, table.name)
    assert store.log.done(VERDICTS.name, REJUDGED) == 0


def take(spark: SparkSession, folder: Path, *frames: CapturedFrame) -> TableStore:
    """Brings frames as far as their verdicts."""
    with CaptureWriter(folder / "captures", "relay") as writer:
        for one in frames:
            writer.append(one)
    store = TableStore(folder / "tables")
    ingest(Started(spark), folder / "captures", store, on_batch=lambda _: None)
    refine(Started(spark), store)
    return store


def mesh(raw: bytes, at: int) -> CapturedFrame:
    return captured("myriadmesh", raw, at, "relay")


def auths(folder: Path) -> dict[str, str]:
    """What is said of each message; the ids say which copy it is."""
    rows = Lake(folder / "tables").rows(
        "SELECT message_id, auth FROM frames JOIN verdicts USING (protocol, content)"
    )
    return {str(row["message_id"]): str(row["auth"]) for row in rows}


@pytest.mark.usefixtures("way")
def test_what_waits_for_a_key_is_judged_again_when_it_comes_and_nothing_else_is(
    spark: SparkSession, tmp_path: Path
) -> None:
    good, bad, other = frame(1, BOB, ANN, TEXT), frame(2, BOB, ANN, TEXT), frame(3, ANN, BOB, TEXT)
    take(spark, tmp_path, mesh(good, 0), mesh(forged(bad), 1), mesh(other, 2))
    assert set(auths(tmp_path).values()) == {"unknown_key"}
    store = take(spark, tmp_path, mesh(good, 3))
    assert store.log.done(VERDICTS.name, REJUDGED) == 0
    assert store.log.rows(VERDICTS.name) == 3
    key = frame(4, BOB, None, Discovery(public_key=BOB.key.public))
    store = take(spark, tmp_path, mesh(key, 4))
    assert auths(tmp_path) == {
        mesh_id(1): "valid",
        mesh_id(2): "invalid",
        mesh_id(3): "unknown_key",
        mesh_id(4): "valid",
    }
    assert store.log.all_done(VERDICTS.name, [APP, REJUDGED]) == [2, 2]
    slices = Lake(tmp_path / "tables").rows("SELECT slice FROM verdicts ORDER BY slice")
    assert [row["slice"] for row in slices] == [0, 2, 2, 2]
    (known,) = Lake(tmp_path / "tables").rows("SELECT owner FROM keys")
    assert known["owner"] == BOB.id.hex()


def test_nothing_new_is_nothing_to_judge(spark: SparkSession, tmp_path: Path) -> None:
    store = take(spark, tmp_path, mesh(frame(1, BOB, ANN, TEXT), 0))
    before = store.log.version(VERDICTS.name), store.log.version(KEYS.name)
    refine(Started(spark), store)
    assert (store.log.version(VERDICTS.name), store.log.version(KEYS.name)) == before
