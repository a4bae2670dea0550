"""Fields of a frame in columns that fit a terminal: what is too long goes on below, never cut."""

import textwrap
from collections.abc import Sequence
from itertools import zip_longest
from typing import Final, NamedTuple

from rich.cells import cell_len, chop_cells
from rich.console import Console
from rich.text import Text

from wireloom.cli.terminal import GAP
from wireloom.wire.visible import visible

WIDE: Final = 140
"""Columns of a terminal that has room for the meaning of a field beside it, not below."""

WIDEST: Final = 180
"""No line is longer: where no terminal is, there is no edge."""

ROOMY: Final = 100
"""Columns of a terminal that has room for `MANY` bytes in a line; others have it for `FEW`."""

MANY: Final = 8
FEW: Final = 4

MAX_NAME: Final = 32
"""Columns for the name of a field: at least 24 of 80."""

MIN_COLUMN: Final = 16
"""Columns that values and meanings have at least."""

MAX_WORDS: Final = 1_000
"""Characters of a text that is folded between its words; a longer one is folded anywhere."""

HEADS: Final = ("offset", "length", "bytes", "field", "value", "meaning")


class Field(NamedTuple):
    """One field of a frame."""

    offset: int
    taken: bytes
    name: str
    value: str
    meaning: str
    style: str
    is_fault: bool = False
    """Whether all of its row has its style."""


class Fields:
    """The fields of a frame as a table.

    Args:
        rows: The fields.
        width: Columns that the terminal has.
        full: Whether all bytes are shown.
    """

    def __init__(self, rows: Sequence[Field], width: int, *, full: bool) -> None:
        self._rows = rows
        self._is_full = full
        self._is_wide = width >= WIDE
        self._bytes = MANY if width >= ROOMY else FEW
        self._widths = self._laid_out(min(width, WIDEST))

    def draw(self, console: Console) -> None:
        """Draws them below the names of the columns."""
        heads = HEADS if self._is_wide else HEADS[:-1]
        _draw(console, [[head] for head in heads], self._widths, ["dim"] * len(heads))
        for row in self._rows:
            self._draw_row(console, row)

    def _draw_row(self, console: Console, row: Field) -> None:
        plain = row.style if row.is_fault else ""
        cells = [
            [str(row.offset)],
            [str(len(row.taken))],
            self._hex(row.taken),
            _folded(visible(row.name), self._widths[3]),
            _folded(visible(row.value), self._widths[4]),
        ]
        styles = [plain, plain, row.style, row.style, plain]
        if self._is_wide:
            cells.append(textwrap.wrap(row.meaning, self._widths[5]))
            _draw(console, cells, self._widths, [*styles, "dim"])
            return
        _draw(console, cells, self._widths, styles)
        indent = sum(self._widths[:3]) + 3 * GAP
        for words in textwrap.wrap(row.meaning, sum(self._widths[3:5]) + GAP):
            console.print(Text(" " * indent + words, "dim"), soft_wrap=True)

    def _laid_out(self, width: int) -> list[int]:
        """The widths of the columns."""
        names = [cell_len(visible(row.name)) for row in self._rows]
        values = [cell_len(visible(row.value)) for row in self._rows]
        sizes = [cell_len(line) for row in self._rows for line in self._hex(row.taken)[:1]]
        fixed = [
            max([6, *(len(str(row.offset)) for row in self._rows)]),
            max([6, *(len(str(len(row.taken))) for row in self._rows)]),
            max([5, *sizes]),
            min(max([5, *names]), MAX_NAME, width * 3 // 10),
        ]
        room = max(MIN_COLUMN, width - sum(fixed) - len(fixed) * GAP)
        if not self._is_wide:
            return [*fixed, room]
        value = min(max([5, *values]), max(MIN_COLUMN, room // 2))
        return [*fixed, value, max(MIN_COLUMN, room - value - GAP)]

    def _hex(self, taken: bytes) -> list[str]:
        """The bytes of a field: the first line and how many follow, or all lines."""
        size = self._bytes
        if self._is_full:
            return [taken[at : at + size].hex(" ") for at in range(0, len(taken), size)]
        more = f" … +{len(taken) - size}" if len(taken) > size else ""
        return [taken[:size].hex(" ") + more]


def _folded(text: str, width: int) -> list[str]:
    if len(text) > MAX_WORDS or cell_len(text) != len(text):
        return chop_cells(text, width)
    return textwrap.wrap(text, width, drop_whitespace=False, break_on_hyphens=False)


def _draw(
    console: Console, cells: Sequence[Sequence[str]], widths: Sequence[int], styles: Sequence[str]
) -> None:
    """Draws one row, which has as many lines as the longest of its cells."""
    for parts in zip_longest(*cells, fillvalue=""):
        drawn = Text()
        for place, (part, width, style) in enumerate(zip(parts, widths, styles, strict=True)):
            room = " " * (width - cell_len(part))
            drawn.append(" " * GAP if place else "")
            drawn.append(room + part if place < 2 else part + room, style or None)
        drawn.rstrip()
        console.print(drawn, soft_wrap=True)
