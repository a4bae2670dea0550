from typing import Any

import pytest
from msgspec import UNSET
from pyspark.sql import SparkSession

from protocols.signalhub.samples import SAMPLES
from support.hub_talk import HUB_NODE, heard, said
from support.spark import seen
from support.tables import rows
from wireloom.pipeline.transforms.hub_sessions import TABLE, hub_sessions
from wireloom.wire.outcome import Outcome


def connected(number: int, session: str, *, at: int, about: int, **more: Any) -> bytes:
    payload = {"session_id": session}
    return said("hub:connected", number, at=at, about=about, payload=payload, **more)


def disconnect(number: int, reason: str, *, at: int) -> bytes:
    return said("hub:disconnect", number, at=at, payload={"reason": reason})


CONNECT = said("hub:connect", 1, at=0)
CONNECTED = connected(2, "first", at=10, about=1)
FRAMES = [
    heard(CONNECT, 5, "out", node="client-1", peer="hub"),
    heard(CONNECT, 6),
    heard(CONNECTED, 10, "out"),
    heard(CONNECTED, 14, node="client-1", peer="hub"),
    heard(said("hub:heartbeat", 3, at=1000), 1000),
    heard(said("hub:heartbeat_ack", 4, at=1001, about=3), 1001, "out"),
    heard(said("hub:unknown_actor", 5, at=1500), 1500, "out"),
    heard(disconnect(6, "client_requested", at=2000), 2010),
    heard(connected(7, "second", at=3000, about=70, metadata=UNSET), 3000, "out"),
    heard(connected(8, "third", at=5000, about=80), 5000, "out"),
    heard(disconnect(9, "duplicate_connection", at=5001), 5001, "out"),
    heard(connected(10, "fake", at=5500, about=80), 5500, outcome=Outcome.REJECTED),
    heard(connected(11, "other", at=100, about=90), 100, "out", peer="worker"),
    heard(disconnect(12, "server_shutdown", at=900), 900, "out", peer="worker"),
]


@pytest.fixture(scope="module")
def sessions(spark: SparkSession) -> dict[str, dict[str, Any]]:
    found = rows(TABLE, hub_sessions(seen(spark, FRAMES)))
    assert len(found) == len({row["session_id"] for row in found})
    return {row["session_id"]: row for row in found}


def test_a_session_that_two_nodes_captured_is_shown_by_the_hub(sessions: dict[str, Any]) -> None:
    row = sessions["first"]
    assert (row["node"], row["peer"]) == (HUB_NODE, "ui")
    assert row["actor"] == "@(verified/user-123-browser)"
    assert row["asked_at"] < row["opened_at"]
    assert (row["client_version"], row["server_version"]) == ("0.1.0", "0.1.0")
    assert row["user_agent"] == "demo/1"


def test_a_client_ends_its_session(sessions: dict[str, Any]) -> None:
    row = sessions["first"]
    assert (row["close_reason"], row["closed_by"]) == ("client_requested", "client")
    assert row["duration_ms"] == 2000


def test_what_happens_in_a_session_is_counted(sessions: dict[str, Any]) -> None:
    row = sessions["first"]
    assert (row["frames"], row["errors"], row["heartbeats"]) == (5, 1, 1)
    assert row["skew_ms"] == 40
    assert row["bytes"] > len(CONNECTED)


def test_the_next_session_supersedes_one_that_nobody_ended(sessions: dict[str, Any]) -> None:
    row = sessions["second"]
    assert (row["close_reason"], row["closed_by"]) == ("superseded", None)
    assert row["duration_ms"] == 2000
    assert (row["actor"], row["asked_at"]) == (SAMPLES["hub:connected"].to, None)  # type: ignore[attr-defined]


def test_the_word_to_the_old_session_does_not_end_the_new_one(sessions: dict[str, Any]) -> None:
    row = sessions["third"]
    assert (row["closed_at"], row["duration_ms"], row["close_reason"]) == (None, None, None)


def test_an_opening_that_was_refused_opens_nothing(sessions: dict[str, Any]) -> None:
    assert set(sessions) == {"first", "second", "third", "other"}


def test_a_hub_ends_a_session_of_another_client(sessions: dict[str, Any]) -> None:
    row = sessions["other"]
    assert (row["close_reason"], row["closed_by"]) == ("server_shutdown", "hub")
