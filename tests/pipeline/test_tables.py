"""Declarations of tables: one for Spark and Arrow."""

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.types import LongType, StringType, StructType

from support.numbers import TABLE
from wireloom.pipeline.tables import Column, columns_of


def test_a_declaration_is_a_schema_of_spark_and_one_of_arrow(spark: SparkSession) -> None:
    assert TABLE.schema == StructType().add("n", LongType()).add("word", StringType())
    assert TABLE.arrow == pa.schema([("n", pa.int64()), ("word", pa.string())])


def test_an_arrow_schema_declares_columns() -> None:
    schema = pa.schema([("n", pa.int64()), ("at", pa.timestamp("us", "UTC"))])
    assert columns_of(schema, {"n": "A number."}) == (
        Column("n", "bigint", "A number."),
        Column("at", "timestamp", ""),
    )
