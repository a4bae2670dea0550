from typing import Any

import pytest
from pyspark.sql import SparkSession

from support.hub_talk import HUB_NODE, heard, said, uuid
from support.spark import seen
from support.tables import rows
from wireloom.pipeline.transforms.hub_pauses import TABLE, hub_pauses
from wireloom.wire.outcome import Outcome

PAUSE = said("hub:pause", 1, at=0)
FRAMES = [
    heard(said("hub:send", 90, at=0), 0),
    heard(PAUSE, 100, "out"),
    heard(PAUSE, 110, node="client-1", peer="hub"),
    heard(said("hub:resume", 91, at=10), 150, outcome=Outcome.REJECTED),
    heard(said("hub:heartbeat", 92, at=10), 160),
    heard(said("hub:send", 93, at=10), 170),
    heard(said("hub:heartbeat_ack", 94, at=10), 171, "out"),
    heard(said("hub:pause", 2, at=200), 200, "out"),
    heard(said("hub:resume", 3, at=500), 600, "out"),
    heard(said("hub:send", 95, at=700), 700),
    heard(said("hub:pause", 4, at=800), 800, "out"),
    heard(said("hub:disconnect", 5, at=900), 900),
    heard(said("hub:pause", 6, at=50), 50, "out", peer="worker"),
]


@pytest.fixture(scope="module")
def pauses(spark: SparkSession) -> dict[str, dict[str, Any]]:
    found = rows(TABLE, hub_pauses(seen(spark, FRAMES)))
    return {row["pause_id"]: row for row in found}


def test_a_pause_told_twice_or_captured_twice_is_one(pauses: dict[str, Any]) -> None:
    assert set(pauses) == {uuid(1), uuid(4), uuid(6)}
    assert (pauses[uuid(1)]["node"], pauses[uuid(1)]["peer"]) == (HUB_NODE, "ui")


def test_a_resume_of_the_hub_ends_a_pause(pauses: dict[str, Any]) -> None:
    row = pauses[uuid(1)]
    assert (row["ended_by"], row["duration_ms"]) == ("resume", 500)
    assert (row["reason"], row["client"]) == ("outbound_queue_full", "@(browser/client-ui)")


def test_what_a_client_sends_during_a_pause_is_counted(pauses: dict[str, Any]) -> None:
    assert pauses[uuid(1)]["sent"] == 2, "a send, and the resume that the hub refused"
    assert pauses[uuid(4)]["sent"] == 0


def test_the_end_of_a_connection_ends_a_pause(pauses: dict[str, Any]) -> None:
    assert pauses[uuid(4)]["ended_by"] == "disconnect"


def test_a_pause_without_an_end_goes_on(pauses: dict[str, Any]) -> None:
    row = pauses[uuid(6)]
    assert (row["ended_at"], row["duration_ms"], row["ended_by"]) == (None, None, None)
