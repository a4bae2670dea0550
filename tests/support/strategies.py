"""Hypothesis strategies that derive from the message classes.

`messages_of(cls)` makes any message that the declaration allows. What a declaration cannot
say (a field that follows from another one) is given as an override.
"""

import types
from enum import Enum, Flag
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec
from hypothesis import strategies as st

from wireloom.wire.message import Message

M = TypeVar("M", bound=Message)

JSON_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)


def messages_of(cls: type[M], **overrides: st.SearchStrategy[Any]) -> st.SearchStrategy[M]:
    """Any message of `cls`; `overrides` say how single fields are made."""
    hints = get_type_hints(cls, include_extras=True)
    made = {}
    for field in msgspec.structs.fields(cls):
        strategy = overrides.get(field.name)
        if strategy is None:
            strategy = values_of(hints[field.name])
        made[field.name] = strategy
    return st.builds(cls, **made)


def values_of(hint: Any, meta: msgspec.Meta | None = None) -> st.SearchStrategy[Any]:
    """Any value of a type."""
    if hint in (Any, object):
        return JSON_VALUES
    origin = get_origin(hint)
    if origin is Annotated:
        inner, *metas = get_args(hint)
        return values_of(inner, next(m for m in metas if isinstance(m, msgspec.Meta)))
    if origin is Literal:
        return st.sampled_from(get_args(hint))
    if origin in (Union, types.UnionType):
        return st.one_of([values_of(arg) for arg in get_args(hint)])
    if origin in (tuple, list):
        low, high = _sizes(meta, default=3)
        items = st.lists(values_of(get_args(hint)[0]), min_size=low, max_size=high)
        return items.map(tuple) if origin is tuple else items
    if origin is dict:
        keys, values = get_args(hint)
        return st.dictionaries(values_of(keys), values_of(values), max_size=3)
    return _scalars_of(hint, meta)


def _scalars_of(hint: Any, meta: msgspec.Meta | None) -> st.SearchStrategy[Any]:
    if hint is msgspec.UnsetType:
        return st.just(msgspec.UNSET)
    if hint is types.NoneType:
        return st.none()
    if hint is bool:
        return st.booleans()
    if hint is int:
        low = meta.ge if meta and meta.ge is not None else -(2**63)
        high = meta.le if meta and meta.le is not None else 2**64 - 1
        return st.integers(int(low), int(high))
    if hint is float:
        return st.floats(allow_nan=False, allow_infinity=False)
    if hint is bytes:
        low, high = _sizes(meta, default=40)
        return st.binary(min_size=low, max_size=high)
    if hint is str:
        return _texts(meta)
    if issubclass(hint, Flag):
        return st.sets(st.sampled_from(list(hint))).map(lambda s: hint(sum(m.value for m in s)))
    if issubclass(hint, Enum):
        return st.sampled_from(list(hint))
    if issubclass(hint, Message):
        return messages_of(hint)
    raise TypeError(hint)


def _texts(meta: msgspec.Meta | None) -> st.SearchStrategy[str]:
    if meta and meta.pattern:
        return st.from_regex(meta.pattern, fullmatch=True)
    low, high = _sizes(meta, default=20)
    return st.text(min_size=low, max_size=high)


def _sizes(meta: msgspec.Meta | None, *, default: int) -> tuple[int, int]:
    low = meta.min_length if meta and meta.min_length is not None else 0
    high = meta.max_length if meta and meta.max_length is not None else default
    return low, max(low, min(high, max(low, default)))
