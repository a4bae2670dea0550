"""The limits that field types declare."""

import re
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireloom.wire import fields

INTEGERS = {
    "U8": (0, 2**8 - 1),
    "U16": (0, 2**16 - 1),
    "U32": (0, 2**32 - 1),
    "I16": (-(2**15), 2**15 - 1),
    "Millis": (0, 2**63 - 1),
    "Millis48": (0, 2**48 - 1),
}
UUIDS = re.compile(rb"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
SIZES = {f"Bytes{size}": size for size in (4, 8, 12, 16, 24, 32, 64)}


def accepts(hint: Any, value: object) -> bool:
    try:
        msgspec.convert(value, hint)
    except msgspec.ValidationError:
        return False
    return True


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_end_where_their_bytes_do(name: str) -> None:
    hint = getattr(fields, name)
    low, high = INTEGERS[name]
    assert [accepts(hint, n) for n in (low - 1, low, high, high + 1)] == [False, True, True, False]


def test_u64_has_no_upper_end_of_its_own() -> None:
    assert not accepts(fields.U64, -1)
    assert accepts(fields.U64, 2**64 - 1)


@pytest.mark.parametrize("name", SIZES)
def test_bytes_have_one_length(name: str) -> None:
    hint = getattr(fields, name)
    size = SIZES[name]
    assert [accepts(hint, bytes(n)) for n in (size - 1, size, size + 1)] == [False, True, False]


def test_every_field_type_says_its_size() -> None:
    for name in [*INTEGERS, *SIZES, "U64"]:
        _, meta = get_args(getattr(fields, name))
        assert meta.extra["size"]


@given(st.binary(max_size=40) | st.from_regex(UUIDS) | st.uuids().map(lambda one: b"%a" % str(one)))
def test_bytes_that_translate_to_the_shape_are_a_uuid_and_no_others(raw: bytes) -> None:
    for text in (raw, raw.strip(b"'"), raw.upper(), raw + b"0"):
        shape = text.translate(fields.UUID_DIGITS)
        assert (shape == fields.UUID_SHAPE) is (UUIDS.fullmatch(text) is not None)
