"""Types as Spark writes them, for Arrow."""

import pyarrow as pa
import pytest

from wireloom.pipeline.catalogue import all_tables
from wireloom.pipeline.types import arrow_type


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bigint", pa.int64()),
        (" Timestamp ", pa.timestamp("us", "UTC")),
        ("decimal(20,0)", pa.decimal128(20, 0)),
        ("array<string>", pa.list_(pa.string())),
        ("map<string, array<double>>", pa.map_(pa.string(), pa.list_(pa.float64()))),
        (
            "struct<n:decimal(20,0),within:struct<`flag`: boolean>>",
            pa.struct([("n", pa.decimal128(20, 0)), ("within", pa.struct([("flag", pa.bool_())]))]),
        ),
    ],
)
def test_what_spark_writes_is_understood(text: str, expected: pa.DataType) -> None:
    assert arrow_type(text) == expected


@pytest.mark.parametrize("text", ["", "varchar", "array<>", "struct<n:what>"])
def test_other_words_are_no_types(text: str) -> None:
    with pytest.raises(KeyError):
        arrow_type(text)


def test_spark_writes_every_declared_type_in_the_same_way() -> None:
    for table in all_tables():
        written = [field.dataType.simpleString() for field in table.schema]
        assert written == [column.type for column in table.columns], table.name
