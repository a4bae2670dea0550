"""Who is owed a message, and until when."""

from pyspark.sql import SparkSession

from support.letters import BOB, START_MS, ack, connect, send, uuid
from support.spark import seen
from wireloom.pipeline.transforms.accountable import ACCOUNTABLE, FAR_MS
from wireloom.pipeline.transforms.nodes import nodes


def test_chatter_has_no_fate_and_a_deadline_is_the_messages_own(spark: SparkSession) -> None:
    frames = [connect(), send(10), send(20, ttl=5_000), ack(21, 20, at=1), send(30, ttl=2**62)]
    sightings = seen(spark, frames)
    owed = spark.sql(ACCOUNTABLE, sightings=sightings, nodes=nodes(sightings)).collect()
    found = {row.message_id: row for row in owed}
    assert {id_: row.deadline_ms for id_, row in found.items()} == {
        uuid(10): START_MS + 30_000,
        uuid(20): START_MS + 5_000,
        uuid(30): FAR_MS,
    }
    assert {row.destination for row in found.values()} == {BOB}


def test_a_message_that_is_seen_twice_is_owed_once(spark: SparkSession) -> None:
    sightings = seen(spark, [send(10), send(10, at=7)])
    (row,) = spark.sql(ACCOUNTABLE, sightings=sightings, nodes=nodes(sightings)).collect()
    assert (row.copies, row.attempts) == (2, 1)
