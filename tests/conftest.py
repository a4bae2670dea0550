"""Fixtures that several folders share, and the profiles of hypothesis.

Tests that need Spark have a mark: they share one session, and so one process.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from pyspark.sql import SparkSession

from support.faults import Faults

_COMMON: dict[str, Any] = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
}
settings.register_profile("default", max_examples=100, derandomize=True, **_COMMON)
settings.register_profile("nightly", max_examples=5000, **_COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

SPARK_FIXTURES = {"spark", "corpus", "tables"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what needs Spark."""
    for item in items:
        if SPARK_FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.spark)


@pytest.fixture(scope="session", autouse=True)
def _numbers_from_zero() -> Iterator[None]:
    """New logs number their frames from 0 instead of from the clock: tests read better so."""
    from wireloom.capture import writer

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(writer, "microseconds", lambda: 0)
        yield


@pytest.fixture(scope="session")
def s3_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of an S3 server on this machine."""
    from support.stores import serving

    with serving(tmp_path_factory.mktemp("s3")) as port:
        yield port


@pytest.fixture
def bucket(s3_port: int, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of a new bucket; the environment says where it is."""
    from support.stores import made_bucket, point_to

    point_to(monkeypatch, s3_port)
    return f"s3://{made_bucket(s3_port)}"


@pytest.fixture
def faults(s3_port: int, bucket: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Faults]:
    """What stands between this process and its `bucket`, and can fail."""
    from support.faults import between
    from support.stores import point_to

    with between(s3_port) as faults:
        point_to(monkeypatch, faults.port)
        yield faults


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A Spark session: a start takes longer than most tests."""
    from wireloom.pipeline.spark import session

    started = session(settings={"spark.driver.memory": "2g"})
    yield started
    started.stop()


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A generated corpus of all five protocols with its truth."""
    from support.corpus import generated

    return generated(tmp_path_factory.mktemp("corpus"), frames=4000, seed=7)


@pytest.fixture(scope="session")
def tables(spark: SparkSession, corpus: Path) -> Path:
    """The corpus, run through the pipeline; gives its folder of tables."""
    from wireloom.pipeline.run import run
    from wireloom.pipeline.spark import Started
    from wireloom.pipeline.store import TableStore

    folder = corpus / "tables"
    run(Started(spark), corpus / "captures", TableStore(folder))
    return folder
