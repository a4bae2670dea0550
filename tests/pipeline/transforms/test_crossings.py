from typing import Any

import pytest
from pyspark.sql import SparkSession

from support.nodes import ANN, BOB, CID, KEYS, TEXT, captured, frame
from support.spark import seen
from support.tables import rows
from wireloom.pipeline.transforms.crossings import TABLE, crossings
from wireloom.pipeline.transforms.nodes import nodes

ONE = frame(1, ANN, BOB, TEXT)
FRAMES = [
    captured("myriadmesh", ONE, 0, ANN, "local"),
    captured("myriadmesh", ONE, 1, ANN, "out", peer=BOB),
    captured("myriadmesh", ONE, 2, ANN, "out", peer=BOB),
    captured("myriadmesh", ONE, 3, BOB, peer=ANN),
    captured("myriadmesh", ONE, 4, BOB, peer=CID),
    captured("myriadmesh", ONE, 5, ANN, "out", peer=CID),
]


@pytest.fixture(scope="module")
def found(spark: SparkSession) -> dict[str, dict[str, Any]]:
    sightings = seen(spark, FRAMES, KEYS)
    table = rows(TABLE, crossings(sightings, nodes(sightings)))
    return {row["sighting"]: row for row in table}


def test_what_left_or_came_has_a_row(found: dict[str, Any]) -> None:
    assert set(found) == {"ann#1", "ann#2", "bob#3", "bob#4", "ann#5"}


def test_as_many_arrived_as_the_peer_captured(found: dict[str, Any]) -> None:
    assert [found[sighting]["lost"] for sighting in ("ann#1", "ann#2")] == [0, 1]
    assert found["ann#5"]["lost"] is None, "cid captures nothing"
    assert found["bob#3"]["lost"] is None


def test_a_content_that_was_there_is_a_duplicate_whoever_brings_it(found: dict[str, Any]) -> None:
    assert [found[sighting]["duplicate"] for sighting in ("bob#3", "bob#4")] == [False, True]
    assert not found["ann#2"]["duplicate"]
