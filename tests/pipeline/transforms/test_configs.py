import json
from typing import Any

import pytest
from pyspark.sql import SparkSession

from support.bundles import ANN, BOB, NOW_MS, bundle, sighting, signed
from support.spark import seen
from support.tables import rows
from wireloom.pipeline.transforms.configs import TABLE, configs
from wireloom.protocols.dtn.codec import encode
from wireloom.protocols.dtn.constants import UNSIGNED
from wireloom.protocols.dtn.messages import ConfigUpdate
from wireloom.wire.keys import SigningKey, uid

MOST = (1 << 64) - 1
HORIZON_MS = NOW_MS + 100


def update(
    issuer: SigningKey, version: int, *, at: int, expires: int | None = None, log: str = "on"
) -> ConfigUpdate:
    return ConfigUpdate(
        version=version,
        issued_at_ms=NOW_MS + at,
        expires_at_ms=None if expires is None else NOW_MS + expires,
        flags={"log": log},
        issuer_key=issuer.public,
        signature=UNSIGNED,
    )


SECOND = signed(update(ANN, 2, at=2), ANN)
FRAMES = [
    sighting(bundle(signed(update(ANN, 1, at=1), ANN), ANN), at=9),
    sighting(bundle(SECOND, ANN), at=10),
    sighting(bundle(SECOND, ANN, at=1), at=11, node="n2"),
    sighting(encode(signed(update(ANN, 4, at=0, expires=101), ANN)), at=12),
    sighting(bundle(update(ANN, 5, at=5), ANN), at=13),
    sighting(bundle(signed(update(BOB, MOST, at=6, expires=100, log="off"), BOB), BOB), at=14),
    sighting(bundle(signed(update(BOB, MOST, at=6, expires=100), BOB), BOB), at=15),
    sighting(bundle(signed(update(BOB, MOST - 1, at=6), BOB), BOB), at=16),
]


@pytest.fixture(scope="module")
def found(spark: SparkSession) -> list[dict[str, Any]]:
    return _in_order(rows(TABLE, configs(seen(spark, FRAMES), HORIZON_MS)))


def _in_order(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(found, key=lambda row: row["first_seen"])


def test_the_greatest_version_of_an_issuer_is_current_until_it_expires(
    found: list[dict[str, Any]],
) -> None:
    assert [(row["version"], row["state"]) for row in found] == [
        (1, "superseded"),
        (2, "superseded"),
        (4, "current"),
        (MOST, "expired"),
        (MOST, "expired"),
        (MOST - 1, "superseded"),
    ]


def test_an_update_in_two_bundles_is_one_row(found: list[dict[str, Any]]) -> None:
    assert [(row["bundles"], row["nodes"]) for row in found[:3]] == [(1, 1), (2, 2), (1, 1)]


def test_a_version_given_twice_is_a_conflict(found: list[dict[str, Any]]) -> None:
    assert [row["conflict"] for row in found] == [False, False, False, True, True, False]
    assert {json.loads(row["flags"])["log"] for row in found[3:5]} == {"on", "off"}


def test_versions_follow_each_other_in_the_order_of_their_issue(
    found: list[dict[str, Any]],
) -> None:
    assert [row["previous_version"] for row in found] == [None, 1, 2, MOST - 1, MOST - 1, None]
    assert [row["in_order"] for row in found] == [True, True, False, True, True, True]


def test_the_issuer_is_named_by_key_and_uid(found: list[dict[str, Any]]) -> None:
    assert found[0]["issuer_key"] == ANN.public.hex()
    assert found[0]["issuer"] == uid(ANN.public).hex()


def test_the_order_of_arrival_does_not_matter(
    spark: SparkSession, found: list[dict[str, Any]]
) -> None:
    again = configs(seen(spark, FRAMES[::-1]), HORIZON_MS)
    assert _in_order(rows(TABLE, again)) == found
