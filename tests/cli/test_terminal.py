"""Lines and tables for a person."""

import io

import pytest
from rich.console import Console

from support.lakes import HOSTILE
from wireloom.cli.terminal import NO_EDGE, Cell, Grid, console, line, show

ID = "0123456789abcdef" * 4


def drawn(grid: Grid, width: int, title: str = "") -> str:
    out = io.StringIO()
    grid.draw(Console(file=out, width=width, markup=False, highlight=False), title=title)
    return out.getvalue()


def sample() -> Grid:
    grid = Grid("id", "state", "count", right={"count"})
    grid.add(ID, Cell("lost", "red"), "1")
    grid.add("short", "delivered", "1,000")
    return grid


def test_a_table_with_room_has_a_line_for_each_row() -> None:
    lines = drawn(sample(), 120, "Title").splitlines()
    assert lines == [
        "Title",
        f"{'id':<64}  state      count",
        f"{ID}  lost           1",
        f"{'short':<64}  delivered  1,000",
    ]


def test_a_table_without_room_has_a_block_for_each_row_and_cuts_nothing() -> None:
    lines = drawn(sample(), 80).splitlines()
    assert lines[:4] == [f"id     {ID}", "state  lost", "count  1", ""]
    assert f"id     {ID}" in drawn(sample(), 20).splitlines()


def test_no_control_character_and_no_markup_of_data_is_obeyed() -> None:
    grid = Grid(HOSTILE, "b")
    grid.add(HOSTILE, Cell(HOSTILE, "red"))
    for text in (drawn(grid, 80), drawn(grid, 1000), line(HOSTILE, Cell(HOSTILE)).plain):
        assert "\\x1b[2J" in text
        assert "[bold red]m[/]" in text
        assert all(one.isprintable() for one in text.replace("\n", ""))


def test_the_edge_is_the_terminals_and_a_pipe_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert console().width == NO_EDGE
    monkeypatch.setenv("COLUMNS", "72")
    assert console().width == 72


def test_parts_of_a_line_stand_below_each_other_where_room_is_short() -> None:
    for width, expected in ((20, "  from ann abcdef\n"), (12, "  from ann\n    abcdef\n")):
        out = io.StringIO()
        show(Console(file=out, width=width), line("  from ann"), line("abcdef"))
        assert out.getvalue() == expected


def test_a_column_without_a_word_takes_no_room() -> None:
    grid = Grid("", "a", "")
    grid.add("", "x", "")
    assert grid.width == 1
    assert drawn(grid, 80) == "a\nx\n"


def test_a_folded_row_takes_as_many_lines_as_it_needs() -> None:
    grid = Grid("a", "b", "c", "d", "e")
    grid.add("1", "22", "c" * 9, "", "e" * 12)
    out = io.StringIO()
    grid.draw(Console(file=out, width=20), folds_at=2)
    assert out.getvalue().splitlines() == [
        "a  b",
        "   c  d  e",
        "1  22",
        f"   {'c' * 9}",
        f"   {'e' * 12}",
    ]


def test_a_folded_row_stays_within_the_terminal() -> None:
    grid = Grid("name", "size", "when")
    grid.add("n" * 12, "1", "w" * 10)
    out = io.StringIO()
    grid.draw(Console(file=out, width=20), folds_at=2)
    assert max(map(len, out.getvalue().splitlines())) <= 20
