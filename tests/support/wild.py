"""Messages that a careless caller could build: one field changed to something of its kind."""

from enum import Enum
from typing import Any

import msgspec
from hypothesis import strategies as st

from wireloom.wire.message import Message


def wilder(data: st.DataObject, message: Message) -> Message:
    """`message` with one field, its own or of a part of it, replaced by a wild value."""
    fields = [
        name for name in message.__struct_fields__ if getattr(message, name) is not msgspec.UNSET
    ]
    if not fields:
        return message
    name = data.draw(st.sampled_from(fields))
    return msgspec.structs.replace(message, **{name: _wild(data, getattr(message, name))})


def _wild(data: st.DataObject, value: Any) -> Any:
    match value:
        case Message():
            return wilder(data, value)
        case Enum():
            return data.draw(st.sampled_from(list(type(value))))
        case bool():
            return not value
        case int():
            return data.draw(
                st.sampled_from([-1, 0, 256, 65536, 2**32, 2**48, 2**63, 2**64, 2**70])
            )
        case float():
            return data.draw(st.sampled_from([-1.0, 1e300, float("nan"), float("inf")]))
        case bytes():
            return data.draw(st.sampled_from([b"", value[:-1], value + b"\0", bytes(70_000)]))
        case str():
            return data.draw(
                st.sampled_from(["", "\ud800", "\0\n", value + "\n", value * 9, "x" * 70_000])
            )
        case tuple():
            return data.draw(st.sampled_from([(), value * 300, value[1:]]))
        case dict():
            return data.draw(
                st.sampled_from([{}, {"": None}, {"unheard_of": 1}, {"n": [float("nan")]}])
            )
    return value
