"""Messages as Arrow columns: types that derive from the message classes, and their values.

Every protocol shows its messages in one struct, the union of the fields of all its message
classes; a field that a message does not have is null. The mapping is a table plus recursion:

| field | column |
|---|---|
| bytes | text, lower-case hex |
| enum | text, the specification's name; flags a list of lower-case names |
| integer | int64; decimal(20, 0) where the type sets no upper bound (`wire.fields.U64`) |
| number, text, true or false | double, text, boolean |
| list | list |
| message | struct |
| map, any, a message within itself, or different types under one name | text, as JSON |
"""

import json
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from enum import Enum, Flag
from functools import reduce
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
import pyarrow as pa

from wireloom.wire.errors import WireError
from wireloom.wire.message import Message, Summary
from wireloom.wire.plain import to_plain

DECIMAL: Final = pa.decimal128(20, 0)
"""Unsigned 64 bits: Spark has no integer that holds them."""

JSON: Final = pa.large_string()
"""Marks text that is JSON while types are made; it becomes plain text in the end."""

DECODED: Final = pa.schema(
    [
        ("reason", pa.string()),
        ("detail", pa.string()),
        ("offset", pa.int64()),
        ("type", pa.string()),
        ("message_id", pa.string()),
        ("source", pa.string()),
        ("destination", pa.string()),
        ("targets", pa.list_(pa.string())),
        ("cast", pa.string()),
        ("created_ms", pa.int64()),
        ("expires_ms", pa.int64()),
        ("priority_rank", pa.int32()),
        ("hops", pa.int64()),
        ("reply_to", pa.string()),
        ("payload_size", pa.int64()),
    ]
)
"""What every frame is decoded to, whatever its protocol; the protocol's own struct follows.

A row has either a `reason`, with `detail` and `offset`, or a `type` and what comes after."""

Converter = Callable[[Any], Any]


class MessageColumn:
    """The struct column of a protocol: its type, and messages as its values.

    Args:
        name: The column's name, which is the protocol's.
        classes: Every class that a decoded message can be.
        parts: For fields that hold a message of one of many classes, which these are.
    """

    def __init__(
        self,
        name: str,
        classes: Iterable[type[Message]],
        *,
        parts: Mapping[str, tuple[type[Message], ...]] = types.MappingProxyType({}),
    ) -> None:
        self.marked: pa.StructType = _struct(tuple(classes), frozenset(), parts)
        """The type while JSON can still be told from other text."""
        self.type: pa.StructType = _unmarked(self.marked)
        self.schema: pa.Schema = DECODED.append(pa.field(name, self.type))
        self._convert = _converter(self.marked)

    def values(self, messages: Sequence[Message | None]) -> pa.StructArray:
        """One row a message, null where there is none."""
        convert = self._convert
        return pa.array(
            [None if message is None else convert(to_plain(message)) for message in messages],
            self.type,
        )


def decode_each(
    column: MessageColumn,
    decode: Callable[[bytes], Message],
    summarise: Callable[[Any, bytes], Summary],
    raws: Sequence[bytes],
) -> pa.RecordBatch:
    """Frames decoded one by one: what every faster way has to agree with.

    Args:
        column: The protocol's struct.
        decode: Its codec.
        summarise: Its record, which takes what `decode` gives.
        raws: The frames.
    """
    rows: list[dict[str, Any]] = []
    messages: list[Message | None] = []
    for raw in raws:
        try:
            message = decode(raw)
        except WireError as error:
            messages.append(None)
            rows.append(
                {"reason": error.reason.value, "detail": error.detail, "offset": error.offset}
            )
        else:
            messages.append(message)
            rows.append(_row(summarise(message, raw)))
    columns = [pa.array([row.get(field.name) for row in rows], field.type) for field in DECODED]
    return pa.RecordBatch.from_arrays([*columns, column.values(messages)], schema=column.schema)


def decode_distinct(
    raws: pa.BinaryArray, decode: Callable[[list[bytes]], pa.RecordBatch]
) -> pa.RecordBatch:
    """Frames decoded once for each distinct one: a frame is often seen at several nodes.

    Args:
        raws: The frames, none of them null.
        decode: Gives a row for each frame of a list.
    """
    encoded = raws.dictionary_encode()
    distinct = decode(encoded.dictionary.to_pylist())
    return distinct if len(distinct) == len(raws) else distinct.take(encoded.indices)


class CodecColumns:
    """The columns of a protocol that has no faster way to them than its codec.

    It has what the module `columns` of other protocols has.

    Args:
        name: The protocol.
        classes: Every class that a decoded message can be.
        decode: Its codec.
        summarise: Its record.
    """

    def __init__(
        self,
        name: str,
        classes: Iterable[type[Message]],
        decode: Callable[[bytes], Message],
        summarise: Callable[[Any, bytes], Summary],
    ) -> None:
        self.COLUMN: Final = MessageColumn(name, classes)
        self._decode = decode
        self._summarise = summarise

    def decode(self, raws: pa.BinaryArray) -> pa.RecordBatch:
        """A row for each frame, with the columns of `COLUMN.schema`."""
        return decode_distinct(raws, self._decode_each)

    def _decode_each(self, raws: list[bytes]) -> pa.RecordBatch:
        return decode_each(self.COLUMN, self._decode, self._summarise, raws)


def _row(summary: Summary) -> dict[str, Any]:
    many = summary.destination if isinstance(summary.destination, tuple) else None
    return {
        "type": summary.type,
        "message_id": summary.id,
        "source": summary.source,
        "destination": summary.destination if many is None else None,
        "targets": None if many is None else list(many),
        "cast": summary.cast,
        "created_ms": fits_int64(summary.created_ms),
        "expires_ms": fits_int64(summary.expires_ms),
        "priority_rank": summary.priority_rank,
        "hops": summary.hops,
        "reply_to": summary.reply_to,
        "payload_size": summary.payload_size,
    }


def fits_int64(value: int | None) -> int | None:
    """A time that a column can hold; one beyond, which no clock shows, is unknown."""
    return value if value is not None and value < 1 << 63 else None


def _struct(
    classes: tuple[type[Message], ...],
    within: frozenset[type],
    parts: Mapping[str, tuple[type[Message], ...]] = types.MappingProxyType({}),
) -> pa.StructType:
    merged: dict[str, pa.DataType] = {}
    for cls in classes:
        inside = within | {cls}
        for name, hint in _hints(cls).items():
            type_ = _struct(parts[name], inside) if name in parts else _type(hint, inside)
            merged[name] = _merged(merged.get(name, type_), type_)
    return pa.struct(list(merged.items()))


def _hints(cls: type[Message]) -> dict[str, Any]:
    hints = get_type_hints(cls, include_extras=True)
    own = {field.name.rstrip("_"): hints[field.name] for field in msgspec.structs.fields(cls)}
    return own | {name: _derived_hint(cls, name, hints) for name in cls.derived}


def _derived_hint(cls: type[Message], name: str, hints: dict[str, Any]) -> Any:
    """What derives from the fields is a property, or the same for the whole class."""
    if name in hints:
        (hint,) = get_args(hints[name])
        return hint
    return get_type_hints(getattr(cls, name).fget, include_extras=True)["return"]


def _type(hint: Any, within: frozenset[type]) -> pa.DataType:
    """The column type of a field's type; JSON where there is no better one."""
    origin = get_origin(hint)
    if origin is Annotated:
        inner, meta = get_args(hint)
        return DECIMAL if inner is int and meta.le is None else _type(inner, within)
    if origin is Literal:
        return _type(type(get_args(hint)[0]), within)
    if origin in (Union, types.UnionType):
        options = [_type(arg, within) for arg in get_args(hint) if arg not in _ABSENT]
        return reduce(_merged, options) if options else JSON
    if origin in (tuple, list):
        item = _type(get_args(hint)[0], within)
        return JSON if item == JSON else pa.list_(item)
    return _class_type(hint, within)


def _class_type(hint: Any, within: frozenset[type]) -> pa.DataType:
    if hint in _SCALARS:
        return _SCALARS[hint]
    if isinstance(hint, type) and issubclass(hint, Message) and hint not in within:
        struct = _struct((hint,), within)
        return struct if len(struct) else JSON
    if isinstance(hint, type) and issubclass(hint, Flag):
        return pa.list_(pa.string())
    if isinstance(hint, type) and issubclass(hint, Enum):
        return pa.string()
    return JSON


def _merged(one: pa.DataType, other: pa.DataType) -> pa.DataType:
    """A type for the values of both: structs join their fields, what differs is JSON."""
    if one == other:
        return one
    if pa.types.is_struct(one) and pa.types.is_struct(other):
        fields = {field.name: field.type for field in one}
        for field in other:
            fields[field.name] = _merged(fields.get(field.name, field.type), field.type)
        return pa.struct(list(fields.items()))
    return JSON


def _unmarked(type_: pa.DataType) -> pa.DataType:
    if pa.types.is_struct(type_):
        return pa.struct([(field.name, _unmarked(field.type)) for field in type_])
    if pa.types.is_list(type_):
        return pa.list_(_unmarked(type_.value_type))
    return pa.string() if type_ == JSON else type_


def _converter(type_: pa.DataType) -> Converter:
    """What turns a plain value into one of the column."""
    if type_ == JSON:
        return _json
    if type_ == DECIMAL:
        return _decimal
    if pa.types.is_list(type_):
        item = _converter(type_.value_type)
        return lambda value: None if value is None else [item(one) for one in value]
    if pa.types.is_struct(type_):
        fields = [(field.name, _converter(field.type)) for field in type_]
        return lambda value: (
            None
            if value is None
            else {name: convert(value[name]) for name, convert in fields if name in value}
        )
    return _same


def _json(value: Any) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False, sort_keys=True)


def _decimal(value: int | None) -> Decimal | None:
    return None if value is None else Decimal(value)


def _same(value: Any) -> Any:
    return value


_ABSENT: Final = (types.NoneType, msgspec.UnsetType)

_SCALARS: Final[dict[Any, pa.DataType]] = {
    bool: pa.bool_(),
    bytes: pa.string(),
    float: pa.float64(),
    int: pa.int64(),
    str: pa.string(),
}
