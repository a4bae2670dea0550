"""Building the Spark session; nothing else builds one."""

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pyarrow as pa
from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import DataFrame, SparkSession

CORES: Final = os.cpu_count() or 1
SLOTS: Final = CORES + 2
"""Tasks at a time, more than cores: a short task does not wait for a long one."""

LOGGING: Final = Path(__file__).with_name("log4j2.properties")

SETTINGS: Final = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": str(CORES),
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
    "spark.driver.memory": "4g",
    "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile=file:{LOGGING}",
}
"""The defaults of Wireloom; settings of the caller override them."""


class JavaMissingError(RuntimeError):
    """There is no Java to run Spark on."""


def session(
    *,
    master: str | None = None,
    settings: Mapping[str, str] | None = None,
    stderr: int | None = None,
) -> SparkSession:
    """A Spark session, on all cores of this machine unless `master` says otherwise.

    Args:
        master: Where it runs.
        settings: Settings of Spark, which override those of Wireloom.
        stderr: The file that Spark's process has as its standard error, if not this process's own.

    Raises:
        JavaMissingError: If no Java is installed.
    """
    home = Path(os.environ.get("JAVA_HOME", "/nonexistent"))
    if not (home / "bin" / "java").exists() and not shutil.which("java"):
        raise JavaMissingError(
            "Java 17 or newer is missing. Type: sudo apt-get install openjdk-17-jre-headless"
        )
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    conf = SparkConf().setAppName("wireloom")
    if master is not None or "SPARK_MASTER" not in os.environ:
        conf.setMaster(master or f"local[{SLOTS}]")
    conf.setAll(list({**SETTINGS, **(settings or {})}.items()))
    if stderr is not None:
        gateway = launch_gateway(conf, {"stderr": stderr})  # type: ignore[no-untyped-call]
        SparkContext(conf=conf, gateway=gateway)
    return SparkSession.builder.config(conf=conf).getOrCreate()


def framed(spark: SparkSession, rows: pa.Table) -> DataFrame:
    """Arrow rows as a data frame.

    In one chunk: Spark takes an empty chunk for the end, and leaves out what comes after it.
    """
    return spark.createDataFrame(rows.combine_chunks())
