"""`wireloom sql`."""

import io
import json
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from support.lakes import HOSTILE, write, write_hostile
from wireloom.cli.main import wireloom
from wireloom.cli.sql import defused, plain

QUERY = "SELECT protocol, count(*) AS n FROM fates GROUP BY ALL ORDER BY 1"


def run(tables: Path, *args: str) -> Result:
    return CliRunner().invoke(wireloom, ["sql", *args, "--data", str(tables.parent)])


def test_every_format_prints_the_same_rows(tables: Path) -> None:
    lines = [
        json.loads(line) for line in run(tables, QUERY, "--format", "json").stdout.splitlines()
    ]
    assert [line["protocol"] for line in lines] == [
        "cthun", "dtn", "myriadmesh", "signalhub", "uep12",
    ]  # fmt: skip
    csv = run(tables, QUERY, "--format", "csv").stdout.splitlines()
    assert csv[0] == "protocol,n"
    assert csv[1] == f"cthun,{lines[0]['n']}"
    parquet = run(tables, QUERY, "--format", "parquet").stdout_bytes
    assert pq.read_table(io.BytesIO(parquet)).to_pylist() == lines
    assert "signalhub" in run(tables, QUERY).stdout


def test_show_tables_lists_them(tables: Path) -> None:
    names = run(tables, "show tables;", "--format", "csv").stdout.splitlines()
    assert {"name", "fates", "frames", "quarantine"} <= set(names)


def test_what_is_not_a_query_is_refused_in_one_sentence(tables: Path) -> None:
    result = run(tables, "DROP TABLE fates")
    assert result.exit_code == 1
    assert "only a query is answered" in result.stderr


def test_missing_tables_are_said(tmp_path: Path) -> None:
    result = CliRunner().invoke(wireloom, ["sql", "SELECT 1", "--data", str(tmp_path)])
    assert result.exit_code == 1
    assert "wireloom pipeline run" in result.stderr


def test_values_as_json() -> None:
    at = datetime(2024, 1, 2, 3, 4, 5, 600, tzinfo=UTC)
    value = {"at": at, "raw": b"\1", "n": Decimal(7), "x": Decimal("0.5"), "list": [(1,)]}
    assert plain(value) == {
        "at": "2024-01-02T03:04:05.000600Z",
        "raw": "01",
        "n": 7,
        "x": 0.5,
        "list": [[1]],
    }


ID = "0123456789abcdef" * 4


def asked(folder: Path, *args: str, columns: str | None = None) -> str:
    result = CliRunner().invoke(
        wireloom, ["sql", *args, "--data", str(folder)], env={"COLUMNS": columns}
    )
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.parametrize("columns", ["80", "120", None])
def test_no_id_is_cut_at_any_width(tmp_path: Path, columns: str | None) -> None:
    row = {"protocol": "dtn", "message_id": ID, "destination": ID[::-1], "state": "lost"}
    write(tmp_path / "tables", fates=[row, row])
    shown = asked(tmp_path, "SELECT * FROM fates", columns=columns)
    assert shown.count(ID) == shown.count(ID[::-1]) == 2
    rows = [line for line in shown.splitlines() if ID in line]
    assert (ID[::-1] in rows[0]) == (columns is None), "a pipe has a line for each row"
    narrow = asked(tmp_path, "SELECT message_id, state FROM fates", columns="80")
    assert f"{ID}  lost" in narrow


@pytest.mark.parametrize("form", ["table", "json", "csv"])
def test_data_does_nothing_to_a_terminal(tmp_path: Path, form: str) -> None:
    write_hostile(tmp_path / "tables")
    for table in ("frames", "fates", "messages"):
        shown = asked(tmp_path, f"SELECT * FROM {table}", "--format", form)
        assert shown.replace("\n", "").isprintable()
        if form == "json":
            assert json.loads(shown)["type"] == HOSTILE


def test_spreadsheets_run_no_cell_and_numbers_stay_numbers(tmp_path: Path) -> None:
    write(tmp_path / "tables", fates=[{"protocol": "=1+1"}])
    query = "SELECT protocol AS \"@a\", -5 AS b, '-5.5e3' AS c, '+x' AS d, ['='] AS e FROM fates"
    assert asked(tmp_path, query, "--format", "csv").splitlines() == [
        "'@a,b,c,d,e",
        '\'=1+1,-5,-5.5e3,\'+x,"[""=""]"',
    ]
    cells = ["=a", "+a", "-a", "@a", "\ta", "\ra", "a=", "", "-1", "+1.5"]
    assert [defused(cell) for cell in cells] == [
        "'=a", "'+a", "'-a", "'@a", "'\\ta", "'\\ra", "a=", "", "-1", "+1.5",
    ]  # fmt: skip


def test_a_plan_has_its_lines_and_an_empty_answer_says_so(tmp_path: Path) -> None:
    write(tmp_path / "tables")
    assert len(asked(tmp_path, "EXPLAIN SELECT * FROM fates").splitlines()) > 1
    assert "no rows" in asked(tmp_path, "SELECT * FROM fates")


def test_an_answer_that_fails_at_a_row_is_one_sentence(tmp_path: Path) -> None:
    write(tmp_path / "tables", fates=[{"protocol": "dtn"}])
    result = CliRunner().invoke(
        wireloom, ["sql", "SELECT protocol::INT FROM fates", "--data", str(tmp_path)]
    )
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)


@pytest.mark.parametrize(
    ("query", "form"),
    [
        ("SELECT count(*) FROM range(10000000000000) a, range(9) b WHERE hash(a) = 7", "table"),
        (
            "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n FROM t) SELECT count(*) FROM t",
            "csv",
        ),
        ("SELECT * FROM range(10000000000000)", "json"),
    ],
)
def test_ctrl_c_ends_a_query_that_would_never_end(tmp_path: Path, query: str, form: str) -> None:
    write(tmp_path / "tables")
    script = (
        "import wireloom.cli.sql, sys; from wireloom.cli.main import main\n"
        "print('begins', file=sys.stderr, flush=True); main()"
    )
    command = [
        sys.executable,
        "-c",
        script,
        "sql",
        query,
        "--data",
        str(tmp_path),
        "--format",
        form,
    ]
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stderr is not None
        assert running.stderr.readline() == "begins\n"
        time.sleep(2)
        assert running.poll() is None
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "Traceback" not in said


def test_a_long_answer_is_printed_in_portions(tmp_path: Path) -> None:
    write(tmp_path / "tables")
    lines = asked(tmp_path, "SELECT * FROM range(25000) t(n)").split()
    assert lines.count("n") == 3
    assert [int(line) for line in lines if line != "n"] == list(range(25_000))
