"""`wireloom report`."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from support.corpus import counts
from support.lakes import AT, HOSTILE, write, write_hostile
from wireloom.cli.main import wireloom


def run(data: Path, *args: str, columns: str | None = "140") -> Result:
    env = {"COLUMNS": columns, "TERM": "dumb"}
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
    assert [mark for mark in (" src=", "<script") if mark in text] == []


def test_missing_tables_are_said(tmp_path: Path) -> None:
    result = run(tmp_path)
    assert result.exit_code == 1
    assert "wireloom pipeline run" in result.stderr
    write(tmp_path / "tables")
    (tmp_path / "tables" / "fates").rename(tmp_path / "gone")
    result = run(tmp_path)
    assert result.exit_code == 1
    assert result.stderr == "Error: no table fates yet. Go on: wireloom pipeline run\n"


def fate(protocol: str, state: str, **further: Any) -> dict[str, Any]:
    return {"protocol": protocol, "message_id": "m", "state": state, "sent_at": AT, **further}


def small(folder: Path, reasons: int = 1) -> Path:
    frame = {"sighting": "a#0", "protocol": "dtn", "captured_at": AT, "type": "Data"}
    write(
        folder / "tables",
        frames=[frame],
        fates=[
            fate("dtn", "delivered", latency_ms=11_280_000, skew_ms=0),
            fate("dtn", "lost"),
            fate("uep12", "in_flight"),
            *[fate("uep12", "rejected", reason=f"reason-{n:02}") for n in range(reasons)],
        ],
        swarms=[{"swarm": "swarm-a", "messages": 25, "status": "1 gone"}],
        ledger=[{"state": "linked"}],
    )
    return folder


@pytest.mark.parametrize("columns", ["80", "120", None])
def test_a_report_as_a_person_reads_it(tmp_path: Path, columns: str | None) -> None:
    assert run(small(tmp_path), columns=columns).stdout.splitlines() == [
        "1 frames captured = 1 decoded + 0 in quarantine",
        "from 2026-01-01 06:00:00 UTC to 2026-01-01 06:00:00 UTC",
        "",
        "The books",
        "protocol  sent =  delivered  expired  rejected  cancelled  in flight  lost",
        "dtn          2 =          1        0         0          0          0     1",
        "uep12        2 =          0        0         1          0          1     0",
        "",
        "Time to delivery",
        "protocol  delivered         p50         p90         p99  skewed clocks",
        "dtn               1  3 h 08 min  3 h 08 min  3 h 08 min              0",
        "",
        "Top reasons",
        "protocol  what     reason     count",
        "uep12     message  reason-00      1",
        "",
        "Health",
        "swarm swarm-a: 25 messages, 1 gone",
        "ledger: 1 linked",
        "hub asks: none",
    ]


def test_the_books_of_large_numbers_fit_in_80_columns(tmp_path: Path) -> None:
    small(tmp_path, reasons=1_200)
    text = run(tmp_path, columns="80").stdout
    assert max(map(len, text.splitlines())) <= 80
    assert "and 1,185 more: --json" in text


def test_a_state_that_nobody_knows_unbalances_the_books(tmp_path: Path) -> None:
    write(tmp_path / "tables", fates=[fate("dtn", "elsewhere")])
    assert "dtn          1 ≠" in run(tmp_path).stdout


def test_a_page_and_json_can_be_had_together(tmp_path: Path) -> None:
    html = small(tmp_path) / "report.html"
    result = run(tmp_path, "--json", "--html", str(html))
    assert json.loads(result.stdout)["books"]["dtn"]["sent"] == 2
    assert result.stderr == f"wrote {html}\n"
    assert "swarm swarm-a: 25 messages, 1 gone" in html.read_text()


@pytest.mark.parametrize("place", ["missing/report.html", "file/report.html"])
def test_a_page_without_a_folder_is_misuse(tmp_path: Path, place: str) -> None:
    small(tmp_path)
    (tmp_path / "file").write_text("kept")
    html = tmp_path / place
    result = run(tmp_path, "--html", str(html))
    assert result.exit_code == 2
    assert result.stderr == f"Error: {html.parent} is no folder. Make it first, or name another.\n"


def test_a_page_that_cannot_be_written_is_misuse(tmp_path: Path) -> None:
    small(tmp_path)
    result = run(tmp_path, "--html", str(tmp_path / ("x" * 300)))
    assert result.exit_code == 2
    assert "cannot be written: File name too long." in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_data_does_nothing_to_a_terminal(tmp_path: Path) -> None:
    write_hostile(tmp_path / "tables", state="rejected")
    for args in ((), ("--json",)):
        shown = run(tmp_path, *args, columns="80").stdout
        assert shown.replace("\n", "").isprintable()
        assert "[bold red]m[/]" in shown
    assert json.loads(shown)["reasons"][0]["reason"] == HOSTILE
