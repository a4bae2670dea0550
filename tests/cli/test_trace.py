"""`wireloom trace`."""

from pathlib import Path

from click.testing import CliRunner, Result

from wireloom.cli.main import wireloom
from wireloom.lake import Lake


def run(data: Path, id_: str) -> Result:
    env = {"COLUMNS": "160", "TERM": "dumb"}
    return CliRunner().invoke(wireloom, ["trace", id_, "--data", str(data)], env=env)


def test_a_message_of_every_protocol_can_be_traced(tables: Path) -> None:
    rows = Lake(tables).rows(
        "SELECT protocol, min(message_id) AS id, min_by(state, message_id) AS state FROM fates "
        "GROUP BY protocol"
    )
    assert len(rows) == 5
    for row in rows:
        result = run(tables.parent, str(row["id"]))
        text = result.stdout
        assert result.exit_code == 0
        assert str(row["id"]) in text
        assert str(row["state"]) in text
        assert "+0.0 ms" in text


def test_an_unknown_id_is_said(tables: Path) -> None:
    result = run(tables.parent, "nothing-like-this")
    assert result.exit_code == 1
    assert "no message has an id" in result.stderr
