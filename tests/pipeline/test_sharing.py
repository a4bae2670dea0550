"""What is checked of folders; `tests/cluster/test_sharing.py` has workers that do not see them."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from wireloom.pipeline.sharing import Place, WorkersError, check_shared
from wireloom.roots import Root


def test_folders_that_all_see_are_left_as_they_were(spark: SparkSession, tmp_path: Path) -> None:
    captures = tmp_path / "captures"
    captures.mkdir()
    (captures / "one.arrow").touch()
    places = [
        Place("captures", Root(captures), is_written=False),
        Place("tables", Root(f"file://{tmp_path}/tables"), is_written=True),
    ]
    check_shared(spark, places)
    assert [path.name for path in captures.iterdir()] == ["one.arrow"]
    assert list((tmp_path / "tables").iterdir()) == []


def test_object_storage_is_the_same_for_all(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")  # nobody listens there
    check_shared(spark, [Place("tables", Root("s3://lake/wireloom"), is_written=True)])


def test_captures_that_the_driver_may_only_read_are_known_by_what_is_in_them(
    spark: SparkSession,
) -> None:
    check_shared(spark, [Place("captures", Root("/sys"), is_written=False)])


def test_tables_that_the_driver_cannot_write_are_refused(spark: SparkSession) -> None:
    with pytest.raises(WorkersError) as refused:
        check_shared(spark, [Place("tables", Root("/sys/tables"), is_written=True)])
    assert str(refused.value).startswith("The tables cannot be written to /sys/tables: ")


def test_captures_that_are_not_there_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    with pytest.raises(WorkersError, match=f"does not see the driver's {missing}: "):
        check_shared(spark, [Place("captures", Root(missing), is_written=False)])
    assert not missing.exists()
