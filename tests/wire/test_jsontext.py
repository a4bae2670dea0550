"""Strict JSON and where its parts lie."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.strategies import JSON_VALUES
from wireloom.wire.cursor import Span
from wireloom.wire.errors import MalformedError
from wireloom.wire.jsontext import check_nesting, load, members


@given(JSON_VALUES)
def test_what_json_writes_is_read(value: Any) -> None:
    assert load(json.dumps(value).encode()) == value


@pytest.mark.parametrize(
    ("raw", "words", "offset"),
    [
        (b"", "not JSON", 0),
        (b"{", "not JSON", 1),
        (b'{"\xc3\xa4":x}', "not JSON", 6),
        (b'"\xff"', "not UTF-8", 1),
        (b'{"a":1,"b":{"c":1,"c":2}}', "key 'c' stands twice", None),
        (b"[NaN]", "NaN is not a JSON number", None),
        (b"-Infinity", "-Infinity is not", None),
        (b"1e400", "1e400 is out of range", None),
        (b"1" * 5000, "not JSON", None),
    ],
)
def test_what_is_not_strict_json_is_refused(raw: bytes, words: str, offset: int | None) -> None:
    with pytest.raises(MalformedError, match=words) as caught:
        load(raw)
    assert caught.value.offset == offset


def test_nesting_ends_at_64_levels() -> None:
    assert load(b"[" * 64 + b"]" * 64)
    with pytest.raises(MalformedError, match="deeper than 64") as caught:
        load(b"[" * 65 + b"]" * 65)
    assert caught.value.offset == 64


def test_nesting_of_a_long_document_ends_there_too() -> None:
    wide = b",".join([b'[{"[":[]}]'] * 10_000)
    assert len(load(b"[" + wide + b"]")) == 10_000
    with pytest.raises(MalformedError, match="deeper than 64"):
        load(b"[" + wide + b"," + b"[" * 64 + b"]" * 64 + b"]")


@given(st.text(alphabet='[]{}"\\x', min_size=65, max_size=300))
def test_depth_is_counted_outside_of_strings_only(text: str) -> None:
    depth, most, is_text, is_escaped = 0, 0, False, False
    for one in text:
        if is_text:
            is_text = is_escaped or one != '"'
            is_escaped = one == "\\" and not is_escaped
        else:
            is_text = one == '"'
            depth += (one in "[{") - (one in "]}")
            most = max(most, depth)
    try:
        check_nesting(text.encode())
    except MalformedError:
        assert most > 64
    else:
        assert most <= 64


def test_brackets_within_strings_do_not_nest() -> None:
    check_nesting(b'"' + b"[{" * 100 + b'\\""')
    check_nesting(b"[" + b",".join([b"[]"] * 100) + b"]")


def test_members_tell_where_values_lie() -> None:
    raw = b' {"a": "x\\"", "b":{"c":[1, 2],"d":{}} , "\xc3\xa4":null}'
    assert list(members(raw, base=10, prefix="p.")) == [
        Span("p.a", 17, 5),
        Span("p.b.c", 33, 6),
        Span("p.b.d", 44, 2),
        Span("p.ä", 55, 4),
    ]


@pytest.mark.parametrize(
    "raw", [b"", b"7", b"{", b'{"a"', b'{"a":', b'{"a":[', b"{1:2}", b"[" * 9999]
)
def test_members_stop_where_json_stops(raw: bytes) -> None:
    assert list(members(raw)) in ([], [Span("1", 3, 1)])


def test_members_stop_at_bytes_that_are_no_text() -> None:
    assert list(members(b'{"a":1,"\xff":2}')) == [Span("a", 5, 1)]
