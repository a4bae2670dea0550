"""Names that follow from keys and words."""

from typing import Any

import pytest

from protocols.dtn.samples import KEY, OTHER_KEY
from support.cases import vectors
from wireloom.protocols.dtn.identity import (
    group_id_string,
    myc_tag,
    myc_tag_star,
    short_id,
    topic_id,
)
from wireloom.wire.keys import uid


def of_kind(check: str) -> list[dict[str, Any]]:
    found = [v for v in vectors("dtn") if v.get("check") == check]
    assert found
    return found


@pytest.mark.parametrize("vector", of_kind("identity"))
def test_a_key_has_a_uid_and_a_tag(vector: dict[str, Any]) -> None:
    key = bytes.fromhex(vector["hex"])
    assert uid(key).hex() == vector["expect"]["uid"]
    assert myc_tag(key) == vector["expect"]["myc_tag"]


@pytest.mark.parametrize("vector", of_kind("cluster"))
def test_a_cluster_is_named_after_its_members_in_any_order(vector: dict[str, Any]) -> None:
    both = bytes.fromhex(vector["hex"])
    keys = [both[:32], both[32:]]
    assert keys == [KEY.public, OTHER_KEY.public]
    assert myc_tag_star(keys).hex() == vector["expect"]["myc_tag_star"]
    assert myc_tag_star(keys[::-1]) == myc_tag_star(keys)


@pytest.mark.parametrize("vector", of_kind("topic"))
def test_a_topic_follows_from_its_name(vector: dict[str, Any]) -> None:
    name = bytes.fromhex(vector["hex"]).decode()
    assert topic_id(name).hex() == vector["expect"]["topic_id"]
    assert short_id(name) == vector["expect"]["short_id"]
    assert len(short_id(name)) == 10


def test_a_group_is_called_in_lower_case_without_spaces() -> None:
    assert group_id_string("Hiking Club") == "group:hiking-club"
