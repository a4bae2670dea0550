"""Fields of a frame in columns that fit a terminal."""

import io

import pytest
from rich.cells import cell_len
from rich.console import Console

from support.lakes import HOSTILE
from wireloom.cli.fields import WIDE, WIDEST, Field, Fields
from wireloom.cli.terminal import NO_EDGE

LONG = "0123456789abcdef" * 40


def field(**changes: object) -> Field:
    made = Field(0, b"\1\2\3\4\5\6", "ttl", "5", "Hops that are left.", "cyan")
    return made._replace(**changes)  # type: ignore[arg-type]


def drawn(*rows: Field, width: int = 80, full: bool = False) -> list[str]:
    out = io.StringIO()
    Fields(rows, width, full=full).draw(Console(file=out, width=width))
    return out.getvalue().splitlines()


def test_a_narrow_terminal_has_the_meaning_below() -> None:
    assert drawn(field()) == [
        "offset  length  bytes             field  value",
        "     0       6  01 02 03 04 … +2  ttl    5",
        "                                  Hops that are left.",
    ]


def test_a_wide_terminal_has_it_beside() -> None:
    head, row = drawn(field(), width=WIDE)
    assert head.split() == ["offset", "length", "bytes", "field", "value", "meaning"]
    assert row.split(maxsplit=9)[8:] == ["ttl", "5      Hops that are left."]


@pytest.mark.parametrize("width", [80, 120, WIDE])
def test_what_is_too_long_goes_on_below(width: int) -> None:
    lines = drawn(field(value=LONG, name=f"extra.{LONG}"), width=width)
    assert all(len(line) <= width for line in lines)
    column = lines[0].index("value")
    value = "".join(line[column:].split()[0] for line in lines[1:] if line[column:].strip())
    assert value.startswith(LONG)
    name = lines[0].index("field")
    names = "".join(line[name : column - 2].strip() for line in lines[1:])
    assert names.startswith(f"extra.{LONG}")


def test_all_bytes_are_shown_on_demand() -> None:
    taken = bytes(range(100))
    shown = drawn(field(taken=taken, value="", meaning=""), full=True)
    column = shown[0].index("bytes")
    text = " ".join(line[column : column + 11] for line in shown[1:])
    assert bytes.fromhex(text) == taken


def test_wide_characters_and_very_long_text_fit_too() -> None:
    for value in ("漢字" * 200, "word " * 5_000):
        lines = drawn(field(value=value))
        assert all(cell_len(line) <= 80 for line in lines)
        assert "".join("".join(lines[1:]).split()).count(value[:2]) >= 200


def test_no_terminal_is_no_endless_line() -> None:
    lines = drawn(field(value=LONG), width=NO_EDGE)
    assert max(map(len, lines)) <= WIDEST


def test_names_and_values_do_nothing_to_a_terminal() -> None:
    text = "\n".join(drawn(field(name=HOSTILE, value=HOSTILE), width=400))
    assert "\x1b" not in text
    assert "\\x1b" in text


def test_no_fields_are_a_head() -> None:
    assert drawn() == ["offset  length  bytes  field  value"]
