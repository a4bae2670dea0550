from typing import Any

import pytest
from msgspec.structs import replace
from pyspark.sql import SparkSession

from protocols.signalhub.samples import ACTOR, WIDGET
from support.hub_talk import NOW_MS, heard, said
from support.spark import seen
from support.tables import rows
from wireloom.pipeline.transforms.hub_actors import TABLE, hub_actors
from wireloom.wire.outcome import Outcome

LISTED, GONE, STRANGER, OLD = "@(a/listed)", "@(a/gone)", "@(a/stranger)", "@(a/old)"
REGISTERED = said(
    "hub:registered",
    2,
    at=10,
    about=1,
    payload={"expires_at": NOW_MS + 60_000, "version": 4, "renewal_token": "one"},
)
FRAMES = [
    heard(said("hub:register", 1, at=0, payload={"actor_address": WIDGET}), 0),
    heard(REGISTERED, 10, "out"),
    heard(REGISTERED, 12, node="client-1", peer="hub"),
    heard(said("hub:renew", 3, at=50_000, payload={"renewal_token": "one"}), 50_000),
    heard(
        said("hub:renewed", 4, at=50_001, about=3, payload={"expires_at": NOW_MS + 180_000}),
        50_001,
        "out",
    ),
    heard(said("hub:send", 5, at=60_000, from_=WIDGET), 60_000),
    heard(said("application", 6, at=60_001, to=WIDGET), 60_001, "out"),
    heard(
        said(
            "hub:discovered",
            7,
            at=100,
            payload={"actors": (replace(ACTOR, actor_address=LISTED, expires_at=NOW_MS + 2**62),)},
        ),
        100,
        "out",
    ),
    heard(said("hub:registered", 8, at=200, payload={"actor_address": GONE}), 200, "out"),
    heard(said("hub:unregister", 9, at=300, payload={"actor_address": GONE}), 300),
    heard(said("hub:unknown_actor", 10, at=400, payload={"actor_address": STRANGER}), 400, "out"),
    heard(
        said("hub:registered", 11, at=500, payload={"actor_address": STRANGER}),
        500,
        outcome=Outcome.REJECTED,
    ),
    heard(
        said("hub:registered", 12, at=1, payload={"actor_address": OLD, "expires_at": NOW_MS}),
        1,
        "out",
    ),
    heard(said("hub:renewed", 13, at=2, to=OLD, payload={"expires_at": NOW_MS + 1}), 2, "out"),
]


@pytest.fixture(scope="module")
def actors(spark: SparkSession) -> dict[str, dict[str, Any]]:
    found = hub_actors(seen(spark, FRAMES), NOW_MS + 100_000)
    return {row["actor"]: row for row in rows(TABLE, found)}


def test_only_addresses_that_were_registered_or_asked_for_are_actors(
    actors: dict[str, Any],
) -> None:
    assert set(actors) == {WIDGET, LISTED, GONE, STRANGER, OLD}


def test_a_renewal_keeps_an_actor_registered(actors: dict[str, Any]) -> None:
    row = actors[WIDGET]
    assert (row["state"], row["registrations"], row["renewals"]) == ("registered", 1, 1)
    assert int(row["expires_at"].timestamp() * 1000) == NOW_MS + 180_000
    assert row["capabilities"] == ["render", "handle-click", "handle-resize"]
    assert row["version"] == 4


def test_what_an_actor_sends_and_gets_is_counted(actors: dict[str, Any]) -> None:
    assert (actors[WIDGET]["sent"], actors[WIDGET]["received"]) == (1, 1)


def test_a_list_tells_of_actors_that_registered_unseen(actors: dict[str, Any]) -> None:
    row = actors[LISTED]
    assert (row["state"], row["registrations"]) == ("registered", 0)
    assert row["capabilities"] == ["render", "handle-click"]
    assert row["expires_at"] is None, "no calendar reaches so far"


def test_an_actor_is_unregistered_by_word_and_expires_by_time(actors: dict[str, Any]) -> None:
    assert actors[GONE]["state"] == "unregistered"
    assert (actors[OLD]["state"], actors[OLD]["renewals"]) == ("expired", 1)


def test_a_word_that_the_hub_refused_registers_nobody(actors: dict[str, Any]) -> None:
    row = actors[STRANGER]
    assert (row["state"], row["unknown"], row["registrations"]) == ("unknown", 1, 0)
