"""A merge replaces what it touches, and rewrites no more than it must."""

from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from support.numbers import TABLE
from wireloom.pipeline import merging
from wireloom.pipeline.merging import Removal, merge
from wireloom.pipeline.store import TableStore


@pytest.fixture
def store(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TableStore:
    # Spark knows how a column's type is written.
    monkeypatch.setattr(merging, "SMALL", 10)
    monkeypatch.setattr(merging, "PIECE", 40)
    return TableStore(tmp_path)


def put(store: TableStore, touched: Iterable[int], come: dict[int, str], *, version: int) -> int:
    rows = pa.table({"n": pa.array(come, pa.int64()), "word": pa.array(come.values(), pa.string())})
    gone = Removal("n", pa.array(touched, pa.int64()))
    return merge(store, TABLE, gone, rows, app="app", version=version)


def found(store: TableStore) -> dict[int, str]:
    rows = [row for _, part in store.scan(TABLE, ["n", "word"]) for row in part.to_pylist()]
    words = {row["n"]: row["word"] for row in rows}
    assert len(words) == len(rows)
    return words


def test_rows_take_the_place_of_the_touched_ones(store: TableStore) -> None:
    assert put(store, [], {1: "one", 2: "two", 3: "three"}, version=0) == 3
    assert put(store, [2], {2: "zwei", 4: "vier"}, version=1) == 2
    assert found(store) == {1: "one", 2: "zwei", 3: "three", 4: "vier"}
    assert len(store.log.files(TABLE.name)) == 1


def test_a_merge_that_was_made_is_not_made_again(store: TableStore) -> None:
    put(store, [], {1: "one"}, version=0)
    assert put(store, [1], {1: "other"}, version=0) == 0
    assert found(store) == {1: "one"}


def test_a_merge_of_nothing_is_noted_and_leaves_the_files(store: TableStore) -> None:
    put(store, [], {1: "one"}, version=0)
    files = store.log.files(TABLE.name)
    assert put(store, [7], {}, version=1) == 0
    assert (store.log.files(TABLE.name), store.log.done(TABLE.name, "app")) == (files, 1)


def test_what_is_touched_may_go_for_good(store: TableStore) -> None:
    put(store, [], {1: "one", 2: "two"}, version=0)
    put(store, [1, 2], {}, version=1)
    assert found(store) == {}
    assert store.log.files(TABLE.name) == []


def test_large_files_are_left_alone_unless_they_are_touched(store: TableStore) -> None:
    put(store, [], dict.fromkeys(range(20), "x"), version=0)
    (large,) = store.log.files(TABLE.name)
    put(store, [-1], {-1: "less"}, version=1)
    assert large in store.log.files(TABLE.name)
    put(store, [7], {}, version=2)
    assert large not in store.log.files(TABLE.name)
    others = [n for n in range(20) if n != 7]
    assert found(store) == {-1: "less", **dict.fromkeys(others, "x")}


def test_a_touched_file_does_not_take_the_new_rows_along(store: TableStore) -> None:
    put(store, [], dict.fromkeys(range(20), "x"), version=0)
    put(store, [3], {3: "y", 30: "y"}, version=1)
    assert sorted(file.rows for file in store.log.files(TABLE.name)) == [2, 19]


def test_a_very_large_file_is_written_anew_in_pieces(
    store: TableStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(merging, "PIECE", 1000)
        put(store, [], dict.fromkeys(range(100), "x"), version=0)
    put(store, [5], {5: "y"}, version=1)
    assert sorted(file.rows for file in store.log.files(TABLE.name)) == [1, 19, 40, 40]
    assert found(store) == {**dict.fromkeys(range(100), "x"), 5: "y"}
