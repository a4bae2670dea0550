from typing import Any

import pytest
from pyspark.sql import SparkSession

from support.hub_talk import heard, said, uuid
from support.nodes import (
    ANN,
    BOB,
    CID,
    DAN,
    KEYS,
    TEXT,
    bundle,
    bundle_id,
    captured,
    carried,
    forged,
    frame,
    mesh_id,
)
from support.spark import seen
from support.tables import rows
from wireloom.pipeline.transforms.journeys import TABLE, journeys
from wireloom.protocols.dtn.constants import Destination
from wireloom.protocols.myriadmesh.messages import Heartbeat
from wireloom.wire.outcome import Outcome

DIRECT = frame(1, ANN, BOB, TEXT)
RELAYED = frame(1, ANN, BOB, TEXT, ttl=9)
LETTER = bundle(ANN, b"letter", (Destination.USER, CID.uid))
ALIVE = frame(2, ANN, None, Heartbeat(sequence_number=1, uptime=1, load_average=0.0))
FRAMES = [
    captured("myriadmesh", RELAYED, 60, BOB, peer=CID, outcome=Outcome.DELIVERED),
    captured("myriadmesh", RELAYED, 45, CID, "out", peer=BOB, link="lora0"),
    captured("myriadmesh", DIRECT, 40, CID, peer=ANN, outcome=Outcome.FORWARDED, link="wifi0"),
    captured("myriadmesh", DIRECT, 3, ANN, "out", peer=CID, link="wifi0"),
    captured("myriadmesh", DIRECT, 9, ANN, "out", peer=DAN),
    captured("myriadmesh", DIRECT, 0, ANN, "local", outcome=Outcome.ACCEPTED),
    captured("myriadmesh", forged(DIRECT), 5, DAN, peer=ANN),
    captured("myriadmesh", ALIVE, 70, ANN, "out"),
    captured("dtn", carried(LETTER, ANN), 900, ANN, "out", peer=BOB),
    captured("dtn", carried(LETTER, ANN), 100, BOB, peer=ANN, outcome=Outcome.QUEUED),
    captured("dtn", carried(LETTER, ANN, BOB), 50, BOB, "out", peer=CID),
    captured("dtn", carried(LETTER, ANN, BOB), 20, CID, peer=BOB),
    captured("dtn", carried(LETTER), 890, ANN, "local"),
    heard(said("hub:send", 1, at=0), 0),
    heard(
        said("application", 2, at=8, metadata={"originalMessageId": uuid(1)}), 8, "out", peer="box"
    ),
    heard(said("hub:heartbeat", 3, at=0), 0),
]


@pytest.fixture(scope="module")
def found(spark: SparkSession) -> dict[str, list[dict[str, Any]]]:
    ways: dict[str, list[dict[str, Any]]] = {}
    for row in rows(TABLE, journeys(seen(spark, FRAMES, KEYS))):
        ways.setdefault(row["message_id"], []).append(row)
    return {id_: sorted(way, key=lambda row: row["step"]) for id_, way in ways.items()}


def test_only_messages_with_a_fate_have_a_journey(found: dict[str, Any]) -> None:
    assert set(found) == {mesh_id(1), bundle_id(LETTER).hex(), uuid(1)}


def test_a_message_goes_from_its_composer_over_relays(found: dict[str, Any]) -> None:
    way = found[mesh_id(1)]
    assert [row["node"] for row in way] == ["ann", "cid", "bob"]
    assert [row["step"] for row in way] == [1, 2, 3]
    assert [row["came_from"] for row in way] == [None, "ann", "cid"]
    assert [row["went_to"] for row in way] == [["cid", "dan"], ["bob"], []]
    assert [row["link"] for row in way] == ["wifi0", "wifi0", "udp"]
    assert [row["outcome"] for row in way] == ["accepted", "forwarded", "delivered"]
    assert [row["sightings"] for row in way] == [3, 2, 1]


def test_a_message_stays_from_its_arrival_until_it_leaves(found: dict[str, Any]) -> None:
    assert [row["dwell_ms"] for row in found[mesh_id(1)]] == [3, 5, None]


def test_hops_set_the_order_where_clocks_disagree(found: dict[str, Any]) -> None:
    way = found[bundle_id(LETTER).hex()]
    assert [row["node"] for row in way] == ["ann", "bob", "cid"]
    assert [row["dwell_ms"] for row in way] == [10, 0, None], "never below 0"


def test_what_a_hub_forwards_is_the_message_that_it_got(found: dict[str, Any]) -> None:
    (row,) = found[uuid(1)]
    assert (row["came_from"], row["went_to"], row["dwell_ms"]) == ("ui", ["box"], 8)
