"""A table that is no part of the pipeline, to try on what holds for all."""

from wireloom.pipeline.tables import Column, Table

TABLE = Table(
    "numbers",
    "Numbers.",
    (Column("n", "bigint", "A number."), Column("word", "string", "Its name.")),
    ("n",),
)
