"""The session: in two styles, started when it is needed."""

from pathlib import Path
from threading import Event
from typing import cast

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from wireloom.pipeline import spark as made
from wireloom.pipeline.classes import Archive
from wireloom.pipeline.spark import (
    FOR_FEW,
    JavaMissingError,
    Started,
    Starting,
    Style,
    for_few,
    framed,
    is_local,
    session,
)


class Session:
    """Stands for Spark, to see when it is started and stopped."""

    def __init__(self, style: Style) -> None:
        self.style = style
        self.is_stopped = False

    def stop(self) -> None:
        self.is_stopped = True


class Starts:
    """Starts such sessions; they wait until they may."""

    def __init__(self) -> None:
        self.found: list[Session] = []
        self.begun = Event()
        self.may_go_on = Event()

    def __call__(self, style: Style) -> SparkSession:
        self.begun.set()
        assert self.may_go_on.wait(30)
        self.found.append(Session(style))
        return cast("SparkSession", self.found[-1])


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


def test_a_session_for_few_is_one_and_leaves_the_other_as_it_is(spark: SparkSession) -> None:
    few = for_few(spark)
    assert for_few(spark) is few
    assert {name: few.conf.get(name) for name in FOR_FEW} == FOR_FEW
    assert {name: spark.conf.get(name) for name in FOR_FEW} != FOR_FEW
    assert few.sparkContext is spark.sparkContext


def test_a_session_that_is_there_is_given_whatever_style_is_asked_for(spark: SparkSession) -> None:
    there = Started(spark)
    there.begin(Style.LIGHT)
    assert there.session() is spark
    assert there.is_local


def test_it_starts_in_the_background_when_its_style_is_known() -> None:
    starts = Starts()
    starting = Starting(starts, is_local=True)
    assert not starts.begun.is_set()
    starting.begin(Style.LIGHT)
    assert starts.begun.wait(30)
    assert starts.found == [], "nobody waits for it"
    starts.may_go_on.set()
    assert starting.session() is cast("SparkSession", starts.found[0])
    starting.stop()
    assert starts.found[0].is_stopped


def test_the_first_style_counts_and_without_one_it_is_the_full_one() -> None:
    for asked, expected in (([Style.LIGHT, Style.FULL], Style.LIGHT), ([], Style.FULL)):
        starts = Starts()
        starts.may_go_on.set()
        starting = Starting(starts, is_local=False)
        for style in asked:
            starting.begin(style)
        starting.session()
        starting.session()
        starting.stop()
        assert [one.style for one in starts.found] == [expected]


def test_an_error_of_the_start_reaches_who_asks_for_the_session() -> None:
    def fail(style: Style) -> SparkSession:
        raise JavaMissingError(style.value)

    starting = Starting(fail, is_local=True)
    starting.begin(Style.LIGHT)
    for _ in range(2):
        with pytest.raises(JavaMissingError, match="light"):
            starting.session()
    starting.stop()


def test_one_that_was_never_started_is_stopped_at_once() -> None:
    starts = Starts()
    Starting(starts, is_local=True).stop()
    assert not starts.begun.is_set()


@pytest.mark.parametrize(
    ("master", "environment", "local"),
    [
        (None, None, True),
        (None, "spark://host:7077", False),
        ("local[2]", "spark://host:7077", True),
        ("yarn", None, False),
    ],
)
def test_where_it_runs_is_said_by_the_caller_or_by_the_environment(
    monkeypatch: pytest.MonkeyPatch, master: str | None, environment: str | None, local: bool
) -> None:
    monkeypatch.delenv("SPARK_MASTER", raising=False)
    if environment is not None:
        monkeypatch.setenv("SPARK_MASTER", environment)
    assert is_local(master) is local


def test_a_light_one_starts_sooner_and_a_full_one_has_more_memory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    light, *others = (made._styled("local", style, archives=False) for style in Style)
    assert light.items() >= FOR_FEW.items()
    assert "TieredStopAtLevel=1" in light["spark.driver.extraJavaOptions"]
    for other in others:
        assert FOR_FEW.keys().isdisjoint(other)
        assert "TieredStopAtLevel=1" not in other["spark.driver.extraJavaOptions"]
    memory = [one["spark.driver.memory"] for one in (light, *others)]
    assert memory == ["1g", "2g", "4g"]
    pages = [one.get("spark.buffer.pageSize") for one in (light, *others)]
    assert pages == ["1m", "1m", None]


@pytest.mark.parametrize("style", Style)
def test_a_collector_that_the_environment_names_is_the_only_one(
    monkeypatch: pytest.MonkeyPatch, style: Style
) -> None:
    def options() -> str:
        return made._styled("yarn", style, archives=False)["spark.driver.extraJavaOptions"]

    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Xss2m")
    assert options().count("GC") == 1
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Xss2m -XX:+UseZGC")
    assert "GC" not in options()


def test_only_a_driver_on_this_machine_has_an_archive_of_classes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    here = made._styled("local", Style.LIGHT, archives=True)["spark.driver.extraJavaOptions"]
    there = made._styled("yarn", Style.LIGHT, archives=True)["spark.driver.extraJavaOptions"]
    assert str(Archive.found(made.java()).unfinished) in here
    assert str(tmp_path) not in there
