"""Reading the tables without Spark."""

from pathlib import Path

import deltalake
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.lakes import write
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


TRICKS = [
    "COPY fates TO '{root}/x.csv'",
    "EXPLAIN ANALYZE COPY fates TO '{root}/x.csv'",
    "EXPLAIN (ANALYZE) COPY fates TO '{root}/x.csv'",
    "explain analyze /* */ copy fates TO '{root}/x.csv'",
    "WITH a AS (COPY fates TO '{root}/x.csv') SELECT 1",
    "WITH a AS (COPY fates TO '{file}' (FORMAT parquet, USE_TMP_FILE false)) SELECT 1",
    "EXPLAIN ANALYZE WITH a AS (COPY fates TO '{root}/x.csv') SELECT 1",
    "SELECT * FROM (WITH a AS (COPY fates TO '{root}/x.csv') SELECT 1)",
    "SELECT * FROM query('WITH a AS (COPY fates TO ''{root}/x.csv'') SELECT 1')",
    "SELECT * FROM query('COPY fates TO ''{root}/x.csv''')",
    "WITH a AS (INSERT INTO fates SELECT * FROM fates RETURNING 1) SELECT * FROM a",
    "EXPLAIN ANALYZE CREATE TABLE t AS SELECT 1",
    "ATTACH '{root}/x.db'",
    "EXPORT DATABASE '{root}/x'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "UPDATE EXTENSIONS",
    "SELECT getenv('HOME')",
    "SELECT * FROM arrow_scan(1, 2, 3)",
    "SELECT * FROM json_execute_serialized_sql('FROM read_text(1)')",
    ";COPY fates TO '{root}/x.csv'",
    "-- EXPLAIN\nEXPLAIN ANALYZE COPY fates TO '{root}/x.csv'",
    "EXPLAIN ANALYZE SELECT 1; COPY fates TO '{root}/x.csv'",
    "FROM (INSERT INTO fates DEFAULT VALUES RETURNING 1)",
    "CREATE SECRET s (TYPE s3)",
    "PRAGMA enable_profiling",
    "CALL enable_logging(storage = 'file')",
    "SET temp_directory = '{root}'",
    "SET enable_external_access = true",
    "PREPARE p AS SELECT 1",
    "SELECT 1; COPY fates TO '{root}/x.csv'",
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM '/etc/passwd'",
    "SELECT * FROM '{other}'",
    "SELECT * FROM read_parquet('{root}/../*.parquet')",
    "SELECT * FROM read_text('{root}/fates/_delta_log/00000000000000000000.json')",
    "SELECT * FROM glob('{root}/**')",
    "SELECT * FROM 'https://127.0.0.1:1/x.parquet'",
    "SELECT * FROM sqlite_scan('{root}/x.db', 't')",
    "SELECT * FROM duckdb_secrets()",
    "SELECT * FROM enable_logging(storage = 'file')",
]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables with one fate, and a file beside them."""
    folder = tmp_path_factory.mktemp("small")
    pq.write_table(pa.table({"a": [1]}), folder / "other.parquet")
    return write(folder / "tables", fates=[{"protocol": "dtn", "message_id": "m"}])


@pytest.mark.parametrize("trick", TRICKS)
def test_a_query_writes_nowhere_and_reads_the_tables_alone(small: Path, trick: str) -> None:
    root, other = small, small.parent / "other.parquet"
    (file,) = (root / "fates").glob("*.parquet")
    before = _bytes(root.parent)
    with pytest.raises(LakeError):
        list(Lake(root).query(trick.format(root=root, file=file, other=other)).rows())
    assert _bytes(root.parent) == before
    assert len(Lake(root).rows("SELECT * FROM fates")) == 1


def _bytes(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "sql",
    [
        "EXPLAIN SELECT * FROM fates",
        "explain analyze SELECT 1",
        "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 5) FROM t",
        "DESCRIBE fates",
        "SUMMARIZE fates",
        "SELECT 1 UNION ALL SELECT 2 ORDER BY 1",
        "FROM fates",
        "VALUES (1)",
    ],
)
def test_queries_of_every_form_are_answered(small: Path, sql: str) -> None:
    assert list(Lake(small).query(sql).rows())


def test_a_query_that_does_not_fit_in_memory_leaves_nothing_on_disk(small: Path) -> None:
    (row,) = Lake(small).rows("SELECT current_setting('temp_directory') AS place")
    assert row["place"] == ""


def test_a_folder_without_tables_is_refused(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(LakeError, match="wireloom pipeline run"):
            Lake(folder)


def test_an_empty_table_has_its_columns(tmp_path: Path) -> None:
    deltalake.DeltaTable.create(str(tmp_path / "empty"), pa.schema([("a", pa.int64())]))
    (tmp_path / "stray").mkdir()
    answer = Lake(tmp_path).query("SELECT * FROM empty")
    assert (answer.columns, list(answer.rows())) == (["a"], [])
    assert Lake(tmp_path).rows("SELECT typeof(max(a)) AS type FROM empty") == [{"type": "BIGINT"}]


def test_tables_behind_a_url_are_read_by_arrow(tmp_path: Path) -> None:
    rows = pa.table({"n": [1, 2], "at": pa.array([1, 2], pa.timestamp("us", "UTC"))})
    deltalake.write_deltalake(str(tmp_path / "one"), rows)
    deltalake.write_deltalake(str(tmp_path / "one"), rows, mode="append")
    remote = Lake(f"file://{tmp_path}")
    query = "SELECT * FROM one WHERE n = 2"
    assert remote.rows(query) == Lake(tmp_path).rows(query) != []
    with pytest.raises(LakeError):
        remote.query("SELECT * FROM read_csv('/etc/passwd')")


def test_a_place_that_cannot_be_reached_is_said() -> None:
    with pytest.raises(LakeError, match="gopher://x cannot be read"):
        Lake("gopher://x")


@pytest.mark.parametrize("remote", [False, True])
@pytest.mark.parametrize("rows", [0, 1])
def test_names_of_tables_and_columns_are_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int, *, remote: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    name = "a\" AS SELECT 1; COPY (SELECT 1) TO 'x.csv'; --"
    column = "b\" FROM (SELECT 1); COPY (SELECT 1) TO 'y.csv'; --"
    root = tmp_path / "tables"
    schema = pa.schema([(column, pa.int64())])
    deltalake.DeltaTable.create(str(root / "plain"), schema)
    if rows:
        deltalake.write_deltalake(str(root / "plain"), pa.table({column: [7]}), mode="append")
    (root / "plain").rename(root / name)
    lake = Lake(f"file://{root}" if remote else root)
    (found,) = lake.names
    assert lake.query(f'SELECT * FROM "{found.replace(chr(34), chr(34) * 2)}"').columns == [column]
    assert [path.name for path in tmp_path.iterdir()] == ["tables"]


@pytest.mark.parametrize("folder", ["my data", "dätä", "it's", "what?", 'a "b"', "a*b"])
def test_the_folder_of_the_tables_may_have_any_name(tmp_path: Path, folder: str) -> None:
    root = tmp_path / folder
    deltalake.write_deltalake(str(root / "one"), pa.table({"n": [7]}))
    assert Lake(root).rows("SELECT n FROM one") == [{"n": 7}]
    with pytest.raises(LakeError):
        Lake(root).query("SELECT * FROM read_csv('/etc/passwd')")


def test_a_file_that_is_gone_is_said(tmp_path: Path) -> None:
    deltalake.write_deltalake(str(tmp_path / "one"), pa.table({"n": [7]}))
    (file,) = (tmp_path / "one").glob("*.parquet")
    file.unlink()
    with pytest.raises(LakeError, match="cannot be read"):
        Lake(tmp_path)
