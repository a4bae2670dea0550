"""`wireloom report`."""

import json
from pathlib import Path

from click.testing import CliRunner, Result

from support.corpus import counts
from wireloom.cli.main import wireloom


def run(data: Path, *args: str) -> Result:
    env = {"COLUMNS": "140", "TERM": "dumb"}
    return CliRunner().invoke(wireloom, ["report", "--data", str(data), *args], env=env)


def test_json_has_the_books(corpus: Path, tables: Path) -> None:
    assert tables.exists()
    found = json.loads(run(corpus, "--json").stdout)
    for name, states in counts(corpus)["books"].items():
        assert {state: found["books"][name][state] for state in states} == states


def test_a_person_sees_the_books_balanced(corpus: Path, tables: Path) -> None:
    result = run(tables.parent)
    text = result.stdout
    assert result.exit_code == 0
    assert "Top reasons" in text
    assert "≠" not in text
    assert "in quarantine" in text


def test_a_page_with_charts_is_written(corpus: Path, tables: Path) -> None:
    page = tables.parent / "report.html"
    assert run(corpus, "--html", str(page)).stdout == f"wrote {page}\n"
    text = page.read_text()
    assert "<svg" in text
    assert [mark for mark in (" src=", " href=", "<script") if mark in text] == []


def test_missing_tables_are_said(tmp_path: Path) -> None:
    result = run(tmp_path)
    assert result.exit_code == 1
    assert "wireloom pipeline run" in result.stderr
