"""Types of columns, as declarations write them: Spark's own words, read without a Spark session."""

from typing import Final

import pyarrow as pa

_PLAIN: Final = {
    "string": pa.string(),
    "binary": pa.binary(),
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "double": pa.float64(),
    "timestamp": pa.timestamp("us", "UTC"),
    "decimal(20,0)": pa.decimal128(20, 0),
}


def arrow_type(text: str) -> pa.DataType:
    """The type that Spark writes as `text`, for Arrow.

    Raises:
        KeyError: If there is no such type.
    """
    text = text.strip().lower()
    kind, _, inner = text.partition("<")
    parts = _parts(inner.removesuffix(">"))
    if kind == "array":
        return pa.list_(arrow_type(parts[0]))
    if kind == "map":
        return pa.map_(arrow_type(parts[0]), arrow_type(parts[1]))
    if kind == "struct":
        named = [part.strip().partition(":") for part in parts]
        return pa.struct([(name.strip("` "), arrow_type(type_)) for name, _, type_ in named])
    return _PLAIN[text]


def _parts(text: str) -> list[str]:
    """What commas part, but for those within brackets."""
    parts, depth = [""], 0
    for one in text:
        depth += (one in "<(") - (one in ">)")
        if one == "," and not depth:
            parts.append("")
        else:
            parts[-1] += one
    return parts
