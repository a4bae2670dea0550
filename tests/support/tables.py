"""What a transform gives, as its table would hold it."""

from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from wireloom.pipeline.tables import Table


def rows(table: Table, found: DataFrame) -> list[dict[str, Any]]:
    """The rows of `found` with the columns and types that `table` declares."""
    return [row.asDict(recursive=True) for row in _chosen(table, found).collect()]


def stored(table: Table, found: DataFrame) -> DataFrame:
    """`found` as if it was written and read back: what it takes to make it is done once."""
    return found.sparkSession.createDataFrame(_chosen(table, found).toArrow(), table.schema)


def _chosen(table: Table, found: DataFrame) -> DataFrame:
    return found.select([f.col(c.name).cast(c.type).alias(c.name) for c in table.columns])
