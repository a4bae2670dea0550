"""Columns within columns: `name.payload.path` is a field of a struct in a struct."""

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc


def leaf(rows: pa.Table, path: str) -> pa.ChunkedArray:
    """The column at a path."""
    name, *within = path.split(".")
    column = rows.column(name)
    return pc.struct_field(column, within) if within else column


def project(rows: pa.Table, paths: Sequence[str]) -> pa.Table:
    """The columns at some paths, each struct with the wanted fields alone. Nothing is copied."""
    wanted = _tree(paths)
    columns = [
        pa.chunked_array(
            [_pruned(chunk, tree) for chunk in rows.column(name).chunks],
            _pruned_type(rows.schema.field(name).type, tree),
        )
        for name, tree in wanted.items()
    ]
    return pa.table(dict(zip(wanted, columns, strict=True)))


def projected(schema: pa.Schema, paths: Sequence[str]) -> pa.Schema:
    """The schema that `project` gives rows of a schema."""
    wanted = _tree(paths)
    return pa.schema(
        [(name, _pruned_type(schema.field(name).type, tree)) for name, tree in wanted.items()]
    )


def leaves(schema: pa.Schema) -> list[str]:
    """The paths of all columns that are not structs."""
    return [path for field in schema for path in _leaves(field)]


def _leaves(field: pa.Field, before: str = "") -> list[str]:
    path = before + field.name
    if not pa.types.is_struct(field.type):
        return [path]
    return [leaf for one in field.type for leaf in _leaves(one, f"{path}.")]


class _Tree(dict[str, "_Tree"]):
    """The wanted fields of a struct; if there are none, all of it."""


def _tree(paths: Sequence[str]) -> _Tree:
    root = _Tree()
    for path in dict.fromkeys(paths):
        place = root
        for name in path.split("."):
            place = place.setdefault(name, _Tree())
    return root


def _pruned(column: pa.Array, wanted: _Tree) -> pa.Array:
    if not wanted:
        return column
    fields = [_pruned(column.field(name), tree) for name, tree in wanted.items()]
    mask = column.is_null() if column.null_count else None
    return pa.StructArray.from_arrays(fields, names=list(wanted), mask=mask)


def _pruned_type(type_: pa.DataType, wanted: _Tree) -> pa.DataType:
    if not wanted:
        return type_
    return pa.struct(
        [(name, _pruned_type(type_.field(name).type, tree)) for name, tree in wanted.items()]
    )
