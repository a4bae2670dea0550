"""Spark in styles that fit the work, from very little to much; nothing else builds a session.

Most of what a small run waits for is the start of the JVM and the compilers that work on generated
code. A light session therefore has a small heap, compiles little and generates no code. A full one
is Spark as it is on a cluster. All run the same transforms.
"""

import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Final, Protocol

import pyarrow as pa
from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import DataFrame, SparkSession

from wireloom.pipeline.classes import Archive

CORES: Final = os.cpu_count() or 1
SLOTS: Final = CORES + 2
"""Tasks at a time, more than cores: a short task does not wait for a long one."""

BESIDE: Final = CORES + 1
"""Tables that are computed side by side: one is planned while others are computed."""

LOGGING: Final = Path(__file__).with_name("log4j2.properties")

SETTINGS: Final = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": str(CORES),
    "spark.sql.adaptive.maxShuffledHashJoinLocalMapThreshold": "64m",
    "spark.sql.codegen.cache.maxEntries": "2000",
    "spark.default.parallelism": str(CORES),
    "spark.sql.adaptive.coalescePartitions.enabled": "true",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "20000",
    "spark.sql.parquet.compression.codec": "zstd",
    "spark.sql.maxConcurrentOutputFileWriters": "8",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    "spark.scheduler.mode": "FAIR",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
"""The defaults of Wireloom; settings of the caller override them."""

FOR_FEW: Final = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""One partition, plans that are not changed on the way, and no code that takes longer to compile
than to run."""


_SMALL_PAGES: Final = {"spark.buffer.pageSize": "1m"}
"""Each step of a query takes a page at once; pages of up to 64 MB keep the collector busy."""


class Style(Enum):
    """How much a session is made for."""

    LIGHT = "light"
    """Few rows: what counts is how soon it is there."""

    STEADY = "steady"
    """Few rows, again and again for days: what counts is how little it takes."""

    FULL = "full"
    """Many rows."""


_MEMORY: Final = {Style.LIGHT: "1g", Style.STEADY: "2g", Style.FULL: "4g"}
_COLLECTORS: Final = {
    Style.LIGHT: "-XX:+UseSerialGC",
    Style.STEADY: "-XX:+UseParallelGC",
    Style.FULL: "-XX:+UseParallelGC",
}
_OPTIONS: Final = {
    Style.LIGHT: "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=160m",
    Style.STEADY: "-XX:ReservedCodeCacheSize=320m",
    Style.FULL: "-XX:ReservedCodeCacheSize=320m",
}
_OF_ENVIRONMENT: Final = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS")
"""Where Java finds further options."""


class JavaMissingError(RuntimeError):
    """There is no Java to run Spark on."""


class Spark(Protocol):
    """Spark, which starts when a run knows how much there is to do."""

    @property
    def is_local(self) -> bool:
        """Whether it runs on this machine alone."""
        ...

    def begin(self, style: Style) -> None:
        """Starts it in the background; the first style that is asked for counts."""
        ...

    def session(self) -> SparkSession:
        """The session, as soon as it is there."""
        ...


class Started:
    """A session that is there already."""

    def __init__(self, session: SparkSession) -> None:
        self._session = session

    @property
    def is_local(self) -> bool:
        """Whether it runs on this machine alone."""
        return is_local(self._session.sparkContext.master)

    def begin(self, style: Style) -> None:
        """Nothing is left to be done."""

    def session(self) -> SparkSession:
        """The session."""
        return self._session


class Starting:
    """A session that starts in a thread of its own.

    Args:
        start: Starts it.
        is_local: Whether it will run on this machine alone.
    """

    def __init__(self, start: Callable[[Style], SparkSession], *, is_local: bool) -> None:
        self.is_local = is_local
        self._start = start
        self._thread = ThreadPoolExecutor(1)
        self._session: Future[SparkSession] | None = None

    def begin(self, style: Style) -> None:
        """Starts it in the background; the first style that is asked for counts."""
        if self._session is None:
            self._session = self._thread.submit(self._start, style)

    def session(self) -> SparkSession:
        """The session, as soon as it is there."""
        self.begin(Style.FULL)
        assert self._session is not None
        return self._session.result()

    def stop(self) -> None:
        """Ends it, if it was started."""
        if self._session is not None and self._session.exception() is None:
            self._session.result().stop()
        self._thread.shutdown()


def is_local(master: str | None) -> bool:
    """Whether a master is this machine; None is what the environment says."""
    return (master or os.environ.get("SPARK_MASTER", "local")).startswith("local")


def session(
    *,
    master: str | None = None,
    settings: Mapping[str, str] | None = None,
    style: Style = Style.FULL,
    stderr: int | None = None,
    archives: bool = False,
) -> SparkSession:
    """A Spark session, on all cores of this machine unless `master` says otherwise.

    Args:
        master: Where it runs.
        settings: Settings of Spark, which override those of Wireloom.
        style: How much it is made for.
        stderr: The file that Spark's process has as its standard error, if not this process's own.
        archives: Have the JVM write the archive of its classes when it ends, if there is none.

    Raises:
        JavaMissingError: If no Java is installed.
    """
    if java() is None:
        raise JavaMissingError(
            "Java 17 or newer is missing. Type: sudo apt-get install openjdk-17-jre-headless"
        )
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    conf = SparkConf().setAppName("wireloom")
    if master is not None or "SPARK_MASTER" not in os.environ:
        conf.setMaster(master or f"local[{SLOTS}]")
    conf.setAll(
        list({**SETTINGS, **_styled(master, style, archives=archives), **(settings or {})}.items())
    )
    if stderr is not None:
        gateway = launch_gateway(conf, {"stderr": stderr})  # type: ignore[no-untyped-call]
        SparkContext(conf=conf, gateway=gateway)
    return SparkSession.builder.config(conf=conf).getOrCreate()


def java() -> Path | None:
    """The Java that Spark runs on; None if there is none."""
    home = Path(os.environ.get("JAVA_HOME", "/nonexistent")) / "bin" / "java"
    found = home if home.exists() else shutil.which("java")
    return None if found is None else Path(found)


def _styled(master: str | None, style: Style, *, archives: bool) -> dict[str, str]:
    """The settings that depend on the style and on where Spark runs."""
    options = [f"-Dlog4j2.configurationFile=file:{LOGGING}", _OPTIONS[style]]
    if not _has_collector():
        options.append(_COLLECTORS[style])
    found = {"spark.driver.memory": _MEMORY[style]}
    if is_local(master):
        found |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
        options += Archive.found(java()).options(make=archives)
    if style is not Style.FULL:
        found |= _SMALL_PAGES
    if style is Style.LIGHT:
        found |= FOR_FEW
    return {**found, "spark.driver.extraJavaOptions": " ".join(options)}


def _has_collector() -> bool:
    """Whether the environment names a garbage collector; Java does not start with two."""
    given = " ".join(os.environ.get(name, "") for name in _OF_ENVIRONMENT)
    return re.search(r"-XX:\+Use\w*GC\b", given) is not None


@cache
def for_few(spark: SparkSession) -> SparkSession:
    """A session for a few rows, in the same Spark."""
    few = spark.newSession()
    for name, value in FOR_FEW.items():
        few.conf.set(name, value)
    return few


def framed(spark: SparkSession, rows: pa.Table) -> DataFrame:
    """Arrow rows as a data frame.

    In one chunk: Spark takes an empty chunk for the end, and leaves out what comes after it.
    """
    return spark.createDataFrame(rows.combine_chunks())
