"""One row a message."""

from pathlib import Path

from pyspark.sql import SparkSession

from support.letters import error, frame, send, uuid
from support.spark import seen
from support.tables import rows
from wireloom.lake import Lake
from wireloom.pipeline.transforms.messages import TABLE, messages


def test_sightings_of_one_message_make_one_row(spark: SparkSession) -> None:
    frames = [send(10), send(10, at=5), send(20), send(20, ttl=1)]
    found = {row["message_id"]: row for row in rows(TABLE, messages(seen(spark, frames)))}
    one, other = found[uuid(10)], found[uuid(20)]
    assert (one["sightings"], one["nodes"], one["contents"], one["conflict"]) == (2, 1, 1, False)
    assert (other["contents"], other["conflict"]) == (2, True)
    assert (one["type"], one["auth"], one["first_node"]) == ("hub:send", "unchecked", "hub-1")


def test_what_the_hub_carries_has_the_applications_own_type(spark: SparkSession) -> None:
    inner = {"type": "chat:line", "payload": {"type": "within"}}
    frames = [
        frame("hub:publish", 10, fields={"payload": {"topic": "news", "message": inner}}),
        frame("hub:broadcast", 20, fields={"payload": {"message": inner, "exclude_self": True}}),
        send(30),
        error(31, 30, at=1, code="timeout"),
    ]
    found = {row["message_id"]: row for row in rows(TABLE, messages(seen(spark, frames)))}
    assert {id_: (row["type"], row["app_type"]) for id_, row in found.items()} == {
        uuid(10): ("hub:publish", "chat:line"),
        uuid(20): ("hub:broadcast", "chat:line"),
        uuid(30): ("hub:send", "greet"),
        uuid(31): ("hub:error", None),
    }


def test_every_message_of_the_corpus_has_a_row(tables: Path) -> None:
    (found,) = Lake(tables).rows(
        """SELECT count(*) AS n FROM frames ANTI JOIN messages USING (protocol, message_id)
           WHERE message_id IS NOT NULL"""
    )
    assert found["n"] == 0
