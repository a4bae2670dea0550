"""Messages to Arrow columns, a field of all messages at a time.

`wire.columns` shows each message as a plain object and converts that; it says what is right.
Here each class is looked at once, and then every field of all its messages becomes an array.
The result is the same.
"""

import json
import types
from collections.abc import Callable, Sequence
from enum import Enum, Flag
from functools import cache, partial
from operator import attrgetter
from typing import (
    Any,
    Final,
    Generic,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec
import numpy as np
import pyarrow as pa
from msgspec import UNSET

from wireloom.wire.columns import DECODED, JSON, MessageColumn, fits_int64
from wireloom.wire.errors import WireError
from wireloom.wire.message import Message, Summary
from wireloom.wire.plain import plain_value

M = TypeVar("M", bound=Message)

Extract = Callable[[Sequence[Any]], pa.Array]
"""Makes the values of one field an array."""


class RowColumn(MessageColumn, Generic[M]):
    """The struct column of a protocol whose messages are all seen as one class of rows.

    Args:
        name: The column's name, which is the protocol's.
        row: The class whose fields are the struct's.
        view: A decoded message as such a row.
        parts: For fields of many classes, which these are.
    """

    def __init__(
        self,
        name: str,
        row: type[Message],
        view: Callable[[M], Message],
        *,
        parts: dict[str, tuple[type[Message], ...]],
    ) -> None:
        super().__init__(name, (row,), parts=parts)
        self._view = view
        self._extract = _extractor(row, self.marked, self.type)

    def values(self, messages: Sequence[Message | None]) -> pa.StructArray:
        """One row a message, null where there is none; made of plain values."""
        view: Callable[[Any], Message] = self._view
        return super().values([None if one is None else view(one) for one in messages])

    def extract(self, messages: Sequence[M]) -> pa.StructArray:
        """The same for messages that are all there, field by field."""
        return self._extract(list(map(self._view, messages)))


def decode_all(
    column: RowColumn[M],
    decode: Callable[[bytes], M],
    summarise: Callable[[M, bytes], Summary],
    raws: Sequence[bytes],
) -> pa.RecordBatch:
    """What `decode_each` gives, faster.

    Args:
        column: The protocol's struct.
        decode: Its codec.
        summarise: Its record.
        raws: The frames.
    """
    messages: list[M] = []
    summaries: list[Summary] = []
    refusals: dict[int, WireError] = {}
    for index, raw in enumerate(raws):
        try:
            message = decode(raw)
        except WireError as error:
            refusals[index] = error
        else:
            messages.append(message)
            summaries.append(summarise(message, raw))
    arrays = [*_shared(summaries), column.extract(messages)]
    if refusals:
        rows = iter(range(len(messages)))
        places = [None if index in refusals else next(rows) for index in range(len(raws))]
        arrays = [array.take(pa.array(places, pa.int64())) for array in arrays]
    faults = _faults(refusals, len(raws))
    return pa.RecordBatch.from_arrays([*faults, *arrays], schema=column.schema)


def _faults(refusals: dict[int, WireError], count: int) -> list[pa.Array]:
    reasons: list[str | None] = [None] * count
    details: list[str | None] = [None] * count
    offsets: list[int | None] = [None] * count
    for index, error in refusals.items():
        reasons[index] = error.reason.value
        details[index] = error.detail
        offsets[index] = error.offset
    return [
        pa.array(values, DECODED.field(name).type)
        for name, values in (("reason", reasons), ("detail", details), ("offset", offsets))
    ]


def _shared(summaries: list[Summary]) -> list[pa.Array]:
    """The columns that all protocols share, in the order of `DECODED`."""
    to = [one.destination for one in summaries]
    columns: dict[str, list[Any]] = {
        "type": [one.type for one in summaries],
        "message_id": [one.id for one in summaries],
        "source": [one.source for one in summaries],
        "destination": [None if isinstance(one, tuple) else one for one in to],
        "targets": [one if isinstance(one, tuple) else None for one in to],
        "cast": [one.cast for one in summaries],
        "created_ms": [fits_int64(one.created_ms) for one in summaries],
        "expires_ms": [fits_int64(one.expires_ms) for one in summaries],
        "priority_rank": [one.priority_rank for one in summaries],
        "hops": [one.hops for one in summaries],
        "reply_to": [one.reply_to for one in summaries],
        "payload_size": [one.payload_size for one in summaries],
    }
    return [pa.array(values, DECODED.field(name).type) for name, values in columns.items()]


def _extractor(hint: Any, marked: pa.DataType, plain: pa.DataType) -> Extract:
    """What makes values of the type `hint` an array.

    Args:
        hint: A field's type, without annotations.
        marked: The column's type, in which JSON can be told from other text.
        plain: The same, without these marks.
    """
    if marked == JSON:
        return _json_texts(hint)
    if pa.types.is_struct(marked):
        return partial(_structs, marked, plain)
    options = [one for one in _options(hint) if one not in _ABSENT]
    if pa.types.is_list(marked) and all(get_origin(one) in (tuple, list) for one in options):
        item = get_args(options[0])[0]
        return partial(_lists, _extractor(item, marked.value_type, plain.value_type))
    show = _show(options)
    if show is None and msgspec.UnsetType not in _options(hint):
        return partial(pa.array, type=plain)
    return partial(_scalars, show or _same, plain)


def _json_texts(hint: Any) -> Extract:
    free = hint in _FREE
    is_loose = free or all(one in _ABSENT or one in _LOOSE for one in _options(hint))
    text = partial(_loose_text if is_loose else _text, free)
    return partial(_scalars, text, pa.string())


def _loose_text(free: bool, value: Any) -> str:  # noqa: FBT001
    """JSON of what holds no declared types; most often it holds nothing."""
    if value == {}:
        return "{}"
    try:
        text = _write_json(value)
    except TypeError:  # there are bytes in it
        return _text(free, value)
    return _text(free, value) if _MARK in text else text


def _text(free: bool, value: Any) -> str:  # noqa: FBT001
    return _write_json(plain_value(value, free=free))


def _scalars(show: Callable[[Any], Any], type_: pa.DataType, values: Sequence[Any]) -> pa.Array:
    shown = [None if value is None or value is UNSET else show(value) for value in values]
    return pa.array(shown, type_)


def _lists(extract: Extract, values: Sequence[Any]) -> pa.ListArray:
    offsets: list[int | None] = []
    items: list[Any] = []
    for value in values:
        if value is None or value is UNSET:
            offsets.append(None)
        else:
            offsets.append(len(items))
            items.extend(value)
    return pa.ListArray.from_arrays(pa.array([*offsets, len(items)], pa.int32()), extract(items))


def _structs(marked: pa.StructType, plain: pa.StructType, values: Sequence[Any]) -> pa.StructArray:
    """Messages of any classes, or none: made class by class, then put in their order."""
    groups: dict[type, list[Any]] = {}
    for value in values:
        groups.setdefault(type(value), []).append(value)
    arrays = [_alike(cls, marked, plain)(group) for cls, group in groups.items()]
    if len(arrays) == 1:
        return arrays[0]
    if not arrays:
        return pa.array([], plain)
    numbers = {cls: number for number, cls in enumerate(groups)}
    order = np.argsort([numbers[type(value)] for value in values], kind="stable")
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    return pa.concat_arrays(arrays).take(pa.array(places))


@cache
def _alike(cls: type, marked: pa.StructType, plain: pa.StructType) -> Extract:
    """What makes messages of one class structs; those that are absent become nulls."""
    if cls in _ABSENT:
        return lambda values: pa.nulls(len(values), plain)
    declared = _declared(cls)
    fields: list[Extract] = []
    for one, other in zip(marked, plain, strict=True):
        if one.name not in declared:
            fields.append(partial(_nulls, other.type))
        else:
            attribute, hint = declared[one.name]
            fields.append(partial(_field, attribute, _extractor(hint, one.type, other.type)))
    names = list(plain)
    return lambda values: pa.StructArray.from_arrays(
        [extract(values) for extract in fields], fields=names
    )


def _nulls(type_: pa.DataType, values: Sequence[Any]) -> pa.Array:
    return pa.nulls(len(values), type_)


def _field(attribute: str, extract: Extract, values: Sequence[Any]) -> pa.Array:
    return extract(list(map(attrgetter(attribute), values)))


def _declared(cls: type[Message]) -> dict[str, tuple[str, Any]]:
    """Attribute and type of each field, and of what derives from them, by its column."""
    hints = get_type_hints(cls)
    declared = {name.rstrip("_"): (name, hints[name]) for name in cls.__struct_fields__}
    for name in cls.derived:
        declared[name] = (name, get_type_hints(getattr(cls, name).fget)["return"])
    return declared


def _options(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)


def _show(options: list[Any]) -> Callable[[Any], Any] | None:
    """How values of these types are shown, by the shortest way; None if as they are."""
    if options == [bytes]:
        return bytes.hex
    if all(one in _AS_THEY_ARE or get_origin(one) is Literal for one in options):
        return None
    (only, *others) = options
    if not others and issubclass(only, Enum) and not issubclass(only, Flag):
        return {member: plain_value(member, free=False) for member in only}.__getitem__
    return partial(plain_value, free=False)


def _same(value: Any) -> Any:
    return value


_write_json: Final = json.JSONEncoder(ensure_ascii=False, sort_keys=True).encode
_ABSENT: Final = (types.NoneType, msgspec.UnsetType)
_AS_THEY_ARE: Final = (bool, float, int, str)
_MARK: Final = "$"
"""In the plain form of free values bytes are marked, and so is what looks like that."""
_FREE: Final = (Any, object)
_LOOSE: Final = (dict[str, Any], dict[str, object], dict[str, str])
