from hashlib import sha256
from typing import Any

import pytest
from pyspark.sql import SparkSession

from support.bundles import ANN, BOB, EVE, NOW_MS, bundle, sighting, signed
from support.spark import seen
from support.tables import rows
from wireloom.pipeline.transforms.groups import TABLE, groups
from wireloom.protocols.dtn.codec import encode
from wireloom.protocols.dtn.constants import UNSIGNED
from wireloom.protocols.dtn.identity import short_id
from wireloom.protocols.dtn.messages import GroupAnnounceMsg
from wireloom.wire.keys import SigningKey, uid


def announcement(group: str, key: SigningKey, *, at: int, name: str) -> GroupAnnounceMsg:
    return GroupAnnounceMsg(
        group_id_string=group,
        short_id=short_id(group),
        display_name=name,
        creator_uid_hex=uid(key.public).hex().upper(),
        created_at=NOW_MS + at,
        creator_sig=UNSIGNED,
    )


TEA, MAPS = "group:tea", "group:maps"
OLD = signed(announcement(TEA, ANN, at=1, name="Tea"), ANN)
NEW = signed(announcement(TEA, ANN, at=2, name="Tea and cake"), ANN)
UNKNOWN = signed(announcement(TEA, EVE, at=3, name="Nobody knows my key"), EVE)
RELAYED = bundle(signed(announcement(TEA, EVE, at=4, name="Not my bundle"), EVE), BOB)
NOT_SIGNED = bundle(announcement(TEA, BOB, at=5, name="Not signed"), BOB)
FRAMES = [
    sighting(bundle(NEW, ANN), at=10),
    sighting(bundle(NEW, ANN), at=12, node="n2"),
    sighting(encode(OLD), at=11),
    sighting(encode(UNKNOWN), at=13),
    sighting(RELAYED, at=14),
    sighting(NOT_SIGNED, at=15),
    sighting(bundle(signed(announcement(MAPS, ANN, at=7, name="Maps"), ANN), ANN), at=16),
    sighting(bundle(signed(announcement(MAPS, BOB, at=6, name="Mine"), BOB), BOB), at=17),
]
KEYS = [ANN.public, BOB.public]

Groups = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def found(spark: SparkSession) -> Groups:
    return _by_group(rows(TABLE, groups(seen(spark, FRAMES, KEYS))))


def _by_group(found: list[dict[str, Any]]) -> Groups:
    return {row["group_id"]: row for row in found}


def test_the_latest_announcement_with_its_creators_signature_is_shown(found: Groups) -> None:
    assert found[TEA]["display_name"] == "Tea and cake"
    assert found[TEA]["created_ms"] == NOW_MS + 2
    assert found[TEA]["creators"] == [found[TEA]["creator"]] == [uid(ANN.public).hex()]
    assert found[TEA]["short_id"] == short_id(TEA)


def test_copies_are_one_announcement(found: Groups) -> None:
    assert found[TEA]["announcements"] == 2
    assert not found[TEA]["conflict"]
    assert found[TEA]["last_seen"] - found[TEA]["first_seen"] > found[TEA]["last_seen"].resolution


def test_two_creators_of_one_group_are_a_conflict(found: Groups) -> None:
    assert found[MAPS]["conflict"]
    assert found[MAPS]["creators"] == sorted(uid(key.public).hex() for key in (ANN, BOB))
    assert found[MAPS]["display_name"] == "Maps"


def test_the_topic_is_the_one_that_members_subscribe_to(found: Groups) -> None:
    assert found[TEA]["topic_id"] == sha256(TEA.encode()).hexdigest()


def test_the_order_of_arrival_does_not_matter(spark: SparkSession, found: Groups) -> None:
    assert _by_group(rows(TABLE, groups(seen(spark, FRAMES[::-1], KEYS)))) == found
