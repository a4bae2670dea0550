"""`wireloom sql`."""

import io
import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow.parquet as pq
from click.testing import CliRunner, Result

from wireloom.cli.main import wireloom
from wireloom.cli.sql import plain

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
    assert "only one query" in result.stderr


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
