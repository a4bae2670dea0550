"""Refine: keys from the traffic, verdicts once, and again when a key comes."""

from pathlib import Path

from wireloom.lake import Lake
from wireloom.pipeline.stages.refine import KEYS, VERDICTS
from wireloom.protocols.myriadmesh.integrity import node_id
from wireloom.wire.keys import uid

OWNERS = {"dtn": uid, "myriadmesh": node_id}


def test_every_key_certifies_its_owner(tables: Path) -> None:
    rows = Lake(tables).rows(f"SELECT * FROM {KEYS.name}")
    assert {row["protocol"] for row in rows} == {"dtn", "myriadmesh"}
    for row in rows:
        owner = OWNERS[str(row["protocol"])](bytes.fromhex(str(row["public_key"])))
        assert owner.hex() == row["owner"]


def test_every_distinct_content_is_judged_once(tables: Path) -> None:
    lake = Lake(tables)
    (counted,) = lake.rows(
        f"SELECT count(*) AS n, count(DISTINCT (protocol, content)) AS d FROM {VERDICTS.name}"
    )
    assert counted["n"] == counted["d"]
    (missing,) = lake.rows(
        f"""SELECT count(*) AS n FROM frames ANTI JOIN {VERDICTS.name} USING (protocol, content)
            WHERE protocol IN ('dtn', 'myriadmesh', 'uep12')"""
    )
    assert missing["n"] == 0


def test_forged_frames_are_caught(corpus: Path, tables: Path) -> None:
    rows = Lake(tables).rows(f"SELECT auth, count(*) AS n FROM {VERDICTS.name} GROUP BY ALL")
    found = {str(row["auth"]): int(str(row["n"])) for row in rows}
    assert found["valid"] > found["invalid"] > 0
