"""Declaring a table: its columns with their types and meanings, for Spark, Arrow and the docs."""

from functools import cache
from typing import NamedTuple, cast

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructType


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
        return _parsed(self.columns)

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
def _parsed(columns: tuple[Column, ...]) -> StructType:
    """Parsed once: Spark's parser takes longer for a wide table than a commit does."""
    ddl = ", ".join(f"`{column.name}` {column.type}" for column in columns)
    return cast("StructType", StructType.fromDDL(ddl))


@cache
def _as_arrow(columns: tuple[Column, ...]) -> pa.Schema:
    schema = to_arrow_schema(_parsed(columns), timezone="UTC")
    return pa.schema([field.with_nullable(True) for field in schema])  # noqa: FBT003
