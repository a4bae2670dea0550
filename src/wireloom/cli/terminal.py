"""What a person sees: lines and tables of any width, without anything that a terminal obeys.

Text goes to the terminal through `line` or a `Grid` alone. Both show control characters instead of
sending them (`wireloom.wire.visible`), and take no markup from text.
"""

import os
from collections.abc import Collection, Iterator, Sequence
from typing import Final, NamedTuple

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from wireloom.wire.visible import visible

NO_EDGE: Final = 1_000_000
"""Columns where no terminal is: for a file or a pipe, a row stays in one line."""

GAP: Final = 2
"""Columns between two of a table."""


class Cell(NamedTuple):
    """Text with a style."""

    text: str
    style: str = ""


Words = str | Cell


def console() -> Console:
    """The terminal. Elsewhere one without an edge, unless COLUMNS says where it is."""
    found = Console(highlight=False, markup=False, emoji=False)
    if not found.is_terminal and "COLUMNS" not in os.environ:
        found.width = NO_EDGE
    return found


def line(*words: Words) -> Text:
    """One line of text from anywhere."""
    return Text.assemble(*[_shown(one) for one in words])


def show(console: Console, *parts: Text) -> None:
    """Prints parts of a line: side by side, or below each other where that takes too much room."""
    whole = Text(" ").join(parts)
    if whole.cell_len <= console.width:
        console.print(whole, soft_wrap=True)
        return
    first, *rest = parts
    console.print(first, soft_wrap=True)
    indent = " " * (len(first.plain) - len(first.plain.lstrip()) + GAP)
    for part in rest:
        console.print(Text(indent) + part, soft_wrap=True)


class Grid:
    """A table. One that is too wide for its terminal becomes a block for each row.

    Args:
        columns: The names of the columns.
        right: The names of those that stand at the right of their column, as numbers do.
    """

    def __init__(self, *columns: str, right: Collection[str] = ()) -> None:
        self._names = [visible(name) for name in columns]
        self._right = [name in right for name in columns]
        self._rows: list[list[Text]] = []
        self._widths = [cell_len(name) for name in self._names]

    def add(self, *cells: Words) -> None:
        """Adds a row."""
        row = [_shown(cell) for cell in cells]
        sizes = zip(self._widths, row, strict=True)
        self._widths = [max(width, text.cell_len) for width, text in sizes]
        self._rows.append(row)

    @property
    def width(self) -> int:
        """Columns that it takes as a table. A column without a word takes none."""
        return max(0, self._left(len(self._widths)) - GAP)

    def _left(self, place: int) -> int:
        """Where a column begins."""
        return sum(width + GAP for width in self._widths[:place] if width)

    def draw(self, console: Console, *, title: str = "", folds_at: int = 0) -> None:
        """Draws it below its title, as a table where there is room.

        Args:
            console: Where.
            title: What stands above it.
            folds_at: Where there is no room, columns from this one on go into a second line
                instead of all into a block.
        """
        if title:
            console.print(line(Cell(title, "bold")))
        rows = [[Text(name, "dim") for name in self._names], *self._rows]
        if self.width <= console.width:
            for row in rows:
                console.print(self._laid(row), soft_wrap=True)
        elif folds_at:
            self._draw_folded(console, rows, folds_at)
        else:
            self._draw_blocks(console)

    def _laid(self, row: Sequence[Text]) -> Text:
        laid = Text()
        for text, width, right in zip(row, self._widths, self._right, strict=False):
            if not width:
                continue
            room = " " * (width - text.cell_len)
            laid.append(" " * GAP if laid else "")
            laid.append_text(Text(room) + text if right else text + Text(room))
        laid.rstrip()
        return laid

    def _draw_folded(self, console: Console, rows: Sequence[Sequence[Text]], folds_at: int) -> None:
        room = console.width - max(self._widths[folds_at:])
        indent = Text(" " * min(self._left(folds_at - 1), max(GAP, room)))
        for row in rows:
            console.print(self._laid(row[:folds_at]), soft_wrap=True)
            for rest in _packed(row[folds_at:], console.width - len(indent)):
                console.print(indent + rest, soft_wrap=True)

    def _draw_blocks(self, console: Console) -> None:
        """Nothing is cut: what is wider than the terminal goes on in its next line."""
        width = max(map(cell_len, self._names))
        for number, row in enumerate(self._rows):
            if number:
                console.print()
            for name, text in zip(self._names, row, strict=True):
                if text:
                    head = Text(name + " " * (width + GAP - cell_len(name)), "dim")
                    console.print(head + text, soft_wrap=True)


def _packed(texts: Sequence[Text], width: int) -> Iterator[Text]:
    """Lines with as many of the texts as there is room for."""
    laid = Text()
    for text in filter(None, texts):
        if laid and laid.cell_len + GAP + text.cell_len > width:
            yield laid
            laid = Text()
        laid = laid + Text(" " * GAP) + text if laid else text
    if laid:
        yield laid


def _shown(words: Words) -> Text:
    cell = Cell(words) if isinstance(words, str) else words
    return Text(visible(cell.text), cell.style)
