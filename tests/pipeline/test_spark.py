"""The session."""

import pytest
from pyspark.sql import SparkSession

from wireloom.pipeline.spark import JavaMissingError, session


def test_times_are_utc_and_the_callers_settings_win(spark: SparkSession) -> None:
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
    assert spark.conf.get("spark.driver.memory") == "2g"


def test_missing_java_is_said_with_the_command_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(JavaMissingError, match="apt-get install openjdk-17-jre-headless"):
        session()
