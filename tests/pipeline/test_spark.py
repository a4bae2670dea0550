"""The session."""

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from wireloom.pipeline.spark import JavaMissingError, framed, session


def test_times_are_utc_and_the_callers_settings_win(spark: SparkSession) -> None:
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
    assert spark.conf.get("spark.driver.memory") == "2g"


def test_missing_java_is_said_with_the_command_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(JavaMissingError, match="apt-get install openjdk-17-jre-headless"):
        session()


def test_rows_after_an_empty_chunk_are_not_left_out(spark: SparkSession) -> None:
    chunks = pa.chunked_array([pa.array(part, pa.int64()) for part in ([], [1, 2], [], [3])])
    assert framed(spark, pa.table({"number": chunks})).count() == 3
