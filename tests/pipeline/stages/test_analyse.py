"""Analyse: every table of the catalogue comes to be."""

from pathlib import Path

from wireloom.lake import Lake
from wireloom.pipeline.derived import DERIVED


def test_every_table_is_there_with_its_columns(tables: Path) -> None:
    lake = Lake(tables)
    for table in (one.table for one in DERIVED):
        answer = lake.query(f'SELECT * FROM "{table.name}" LIMIT 0')
        assert answer.columns == [column.name for column in table.columns]


def test_keys_tell_rows_apart(tables: Path) -> None:
    lake = Lake(tables)
    for table in (one.table for one in DERIVED):
        if table.key:
            key = ", ".join(f'"{name}"' for name in table.key)
            (counted,) = lake.rows(
                f'SELECT count(*) AS n, count(DISTINCT ({key})) AS d FROM "{table.name}"'
            )
            assert counted["n"] == counted["d"], table.name
