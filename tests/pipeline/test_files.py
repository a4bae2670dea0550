"""Parquet files below a root."""

from pathlib import Path

import pyarrow as pa
import pytest

from wireloom.pipeline.files import BOUNDED, ParquetFiles

NUMBERS = pa.schema([("n", pa.int64()), ("word", pa.string())])
SLICED = pa.schema([("slice", pa.int64()), ("word", pa.string())])


def write(files: ParquetFiles, name: str, path: str, schema: pa.Schema = NUMBERS) -> None:
    files.make(name)
    with files.writer(name, path, schema) as writer:
        number = pa.array([1, 2])
        writer.write_table(pa.table([number, pa.array(["one", "two"])], schema=schema))


def test_a_file_that_was_written_can_be_read(tmp_path: Path) -> None:
    files = ParquetFiles(tmp_path)
    write(files, "numbers", "a.parquet")
    with files.open("numbers", "a.parquet") as opened:
        assert opened.read().to_pylist() == [{"n": 1, "word": "one"}, {"n": 2, "word": "two"}]
    written = files.inspect("numbers", "a.parquet")
    assert written.size == (tmp_path / "numbers" / "a.parquet").stat().st_size
    assert written.footer.num_rows == 2


def test_only_columns_that_rows_are_chosen_by_have_statistics(tmp_path: Path) -> None:
    files = ParquetFiles(tmp_path)
    write(files, "sliced", "a.parquet", SLICED)
    group = files.inspect("sliced", "a.parquet").footer.row_group(0)
    known = {name: group.column(place).statistics for place, name in enumerate(SLICED.names)}
    assert {name for name, one in known.items() if one is not None} <= {*BOUNDED, "protocol"}
    assert (known["slice"].min, known["slice"].max) == (1, 2)


def test_the_files_of_a_folder_are_listed_relative_to_the_table(tmp_path: Path) -> None:
    files = ParquetFiles(tmp_path)
    assert files.paths("numbers", "") == []
    (tmp_path / "numbers" / "x").mkdir(parents=True)
    (tmp_path / "numbers" / "x" / "_SUCCESS").touch()
    write(files, "numbers", "x/b.parquet")
    write(files, "numbers", "x/a.parquet")
    assert files.paths("numbers", "x") == ["x/a.parquet", "x/b.parquet"]


@pytest.mark.parametrize("is_remote", [False, True])
def test_a_note_is_written_whole_read_listed_and_removed(tmp_path: Path, is_remote: bool) -> None:
    files = ParquetFiles(f"file://{tmp_path}" if is_remote else tmp_path)
    assert files.read_note("_stage/a.json") is None
    assert files.names("_stage") == []
    files.write_note("_stage/a.json", b"[1]")
    files.write_note("_stage/a.json", b"[2]")
    assert files.read_note("_stage/a.json") == b"[2]"
    assert files.names("_stage") == ["a.json"]
    files.remove("_stage/a.json")
    assert files.names("_stage") == []


def test_the_root_has_a_name_for_each_engine(tmp_path: Path) -> None:
    files = ParquetFiles(f"file://{tmp_path}/")
    assert files.uri("numbers") == f"file://{tmp_path}/numbers"
    assert files.delta_root == f"file://{tmp_path}"
