"""The life of one message."""

from pathlib import Path

import pytest

from wireloom.lake import Lake, LakeError
from wireloom.report.trace import trace


def test_a_life_has_its_fates_and_its_steps_in_order(tables: Path) -> None:
    lake = Lake(tables)
    (row,) = lake.rows(
        "SELECT message_id FROM fates WHERE protocol = 'myriadmesh' AND state = 'delivered' "
        "AND evidence_kind = 'wire' ORDER BY copies DESC, message_id LIMIT 1"
    )
    life = trace(lake, str(row["message_id"]))
    assert (life.protocol, life.message["type"]) == ("myriadmesh", "DATA")
    assert [fate["state"] for fate in life.fates] == ["delivered"]
    assert life.steps[0]["own"]
    assert any(not step["own"] and step["type"] == "CONTROL" for step in life.steps)
    assert life.fates[0]["evidence_frame"] in {step["sighting"] for step in life.steps}


def test_the_beginning_of_an_id_is_enough_if_it_is_one_messages(tables: Path) -> None:
    lake = Lake(tables)
    (row,) = lake.rows("SELECT min(message_id) AS id FROM messages WHERE protocol = 'dtn'")
    assert trace(lake, str(row["id"])[:20]).message_id == row["id"]


def test_an_unknown_or_ambiguous_id_is_said(tables: Path) -> None:
    lake = Lake(tables)
    with pytest.raises(LakeError, match="no message"):
        trace(lake, "zz")
    with pytest.raises(LakeError, match="name one"):
        trace(lake, "")
