"""Declaring a table: its columns with their types and meanings, for Spark, Arrow and the docs."""

from functools import cache
from typing import NamedTuple

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from wireloom.pipeline.types import arrow_type


class Column(NamedTuple):
    """One column of a table."""

    name: str
    type: str
    """As in Spark's DDL."""

    meaning: str
    unit: str = ""


class Table(NamedTuple):
    """What a table is."""

    name: str
    about: str
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()
    """The columns that tell its rows apart."""

    @property
    def schema(self) -> StructType:
        """For Spark."""
        return _as_struct(self.columns)

    @property
    def arrow(self) -> pa.Schema:
        """The same for Arrow."""
        return _as_arrow(self.columns)


def columns_of(schema: pa.Schema, meanings: dict[str, str]) -> tuple[Column, ...]:
    """The columns of an Arrow schema."""
    return tuple(
        Column(field.name, field.dataType.simpleString(), meanings.get(field.name, ""))
        for field in from_arrow_schema(schema)
    )


@cache
def _as_arrow(columns: tuple[Column, ...]) -> pa.Schema:
    return pa.schema([(column.name, arrow_type(column.type)) for column in columns])


@cache
def _as_struct(columns: tuple[Column, ...]) -> StructType:
    return from_arrow_schema(_as_arrow(columns))
