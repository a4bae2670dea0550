"""What a terminal would act on is shown instead."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireloom.wire.visible import visible, visible_json


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain äöü → 日本", "plain äöü → 日本"),
        ("\x1b[2J", "\\x1b[2J"),
        ("a\r\nb\tc", "a\\r\\nb\\tc"),
        ("\x9b31m\x7f", "\\x9b31m\\x7f"),
        ("\u202eexe.txt\u2066", "\\u202eexe.txt\\u2066"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
    ],
)
def test_what_does_something_is_shown(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(st.text())
def test_everything_shown_is_one_printable_line(text: str) -> None:
    assert visible(text).isprintable()


@given(st.text())
def test_json_says_the_same_in_printable_characters(text: str) -> None:
    shown = visible_json(json.dumps(text, ensure_ascii=False))
    assert shown.isprintable()
    assert json.loads(shown) == text
