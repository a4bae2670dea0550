"""What a node did against what its bytes deserve."""

from pathlib import Path

from wireloom.lake import Lake


def test_forged_frames_that_a_node_took_are_there(tables: Path) -> None:
    rows = Lake(tables).rows("SELECT DISTINCT protocol, pipeline_says FROM disagreements")
    assert ("myriadmesh", "rejected") in {(row["protocol"], row["pipeline_says"]) for row in rows}


def test_what_both_agree_on_is_not(tables: Path) -> None:
    (found,) = Lake(tables).rows(
        """SELECT count(*) AS n FROM disagreements JOIN quarantine USING (sighting)
           WHERE quarantine.outcome = 'rejected'"""
    )
    assert found["n"] == 0
