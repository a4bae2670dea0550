"""What lies behind a number."""

from datetime import timedelta
from pathlib import Path
from typing import Any

from support.lakes import AT, write
from wireloom.lake import Lake
from wireloom.report.books import gather
from wireloom.report.examples import MAX_ROWS, Kind, examples


def fate(number: int, state: str, reason: str | None = None) -> dict[str, Any]:
    return {
        "protocol": "dtn",
        "message_id": f"m{number:02}",
        "destination": "hash",
        "state": state,
        "reason": reason,
        "sent_at": AT + timedelta(seconds=number),
    }


def test_every_number_has_its_latest_messages(tmp_path: Path) -> None:
    root = write(
        tmp_path / "tables",
        fates=[*[fate(n, "lost") for n in range(30)], fate(40, "rejected", "no_route")],
        nodes=[{"protocol": "dtn", "node": "dtn-01", "identities": ["hash"]}],
        quarantine=[{"protocol": "dtn", "reason": "malformed", "sighting": "a#1"}],
    )
    lake = Lake(root)
    lists = {one.kind: one for one in examples(lake, gather(lake))}
    lost = lists[Kind("dtn", "lost")]
    assert [row["message_id"] for row in lost.rows] == [
        f"m{n}" for n in range(29, 29 - MAX_ROWS, -1)
    ]
    assert (lost.total, lost.rows[0]["destination_name"]) == (30, "dtn-01")
    assert len(lake.rows(lost.query)) == 30
    assert lists[Kind("dtn", "rejected", "no_route")].rows[0]["message_id"] == "m40"
    assert lists[Kind("dtn", "refused", "malformed")].rows[0]["sighting"] == "a#1"
    assert set(lists) == {
        Kind("dtn", "lost"),
        Kind("dtn", "rejected"),
        Kind("dtn", "rejected", "no_route"),
        Kind("dtn", "refused", "malformed"),
    }


def test_a_command_for_a_shell_quotes_nothing_that_a_shell_runs(tmp_path: Path) -> None:
    evil = "$(rm -rf ~)' OR true --"
    lake = Lake(write(tmp_path / "tables", fates=[fate(1, "rejected", evil), fate(2, "rejected")]))
    found = {one.kind: one for one in examples(lake, gather(lake))}
    assert found[Kind("dtn", "rejected", evil)].query == ""
    assert [row["reason"] for row in found[Kind("dtn", "rejected", evil)].rows] == [evil]
