"""Reading the tables without Spark."""

from pathlib import Path

import pytest

from wireloom.lake import Lake, LakeError


def test_queries_are_answered(tables: Path) -> None:
    lake = Lake(tables)
    assert "fates" in lake.names
    (row,) = lake.rows("SELECT count(*) AS n FROM fates WHERE protocol = ?", "dtn")
    assert int(str(row["n"])) > 0
    assert lake.arrow("SELECT 1 AS one").to_pylist() == [{"one": 1}]
    with pytest.raises(LakeError):
        lake.arrow("SELECT nothing FROM nowhere")


@pytest.mark.parametrize(
    "sql",
    [
        "DROP VIEW fates",
        "SELECT 1; SELECT 2",
        "COPY fates TO '/tmp/x.csv'",
        "CREATE TABLE t (n INT)",
        "SET enable_external_access = true",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT nothing FROM nowhere",
        "not sql",
        "",
    ],
)
def test_only_queries_of_the_tables_are_answered(tables: Path, sql: str) -> None:
    with pytest.raises(LakeError):
        Lake(tables).query(sql)


def test_a_folder_without_tables_is_refused(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(LakeError, match="wireloom pipeline run"):
            Lake(folder)


def test_an_empty_table_has_its_columns(tmp_path: Path) -> None:
    import deltalake
    import pyarrow as pa

    deltalake.DeltaTable.create(str(tmp_path / "empty"), pa.schema([("a", pa.int64())]))
    (tmp_path / "stray").mkdir()
    answer = Lake(tmp_path).query("SELECT * FROM empty")
    assert (answer.columns, list(answer.rows())) == (["a"], [])
