"""Parts of a page. Their texts come from captured traffic, and are escaped here and only here."""

import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import Final, NamedTuple

from wireloom.wire.visible import visible

_STRANGE: Final = re.compile(r"[^a-z0-9]+")


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


class Column(NamedTuple):
    """A column of a table."""

    name: str
    kind: str = "text"
    """`text` and `chart` begin at the left, `number` ends at the right."""


class StyledCell(NamedTuple):
    """A cell with a class of its own."""

    content: object
    kind: str


def text(value: object) -> Markup:
    """Any value as inert text: without markup, and without changes of the writing direction."""
    if isinstance(value, Markup):
        return value
    return Markup("–" if value is None else escape(visible(str(value))))


def count(value: float | None) -> str:
    """A number with thousands separators."""
    return "–" if value is None else f"{value:,.0f}"


def joined(parts: Iterable[Markup]) -> Markup:
    """Parts one after the other."""
    return Markup("".join(parts))


def tag(name: str, *content: object, **attributes: object) -> Markup:
    """An element; an attribute `class_` is its `class`."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{text(value)}"'
        for key, value in attributes.items()
        if value not in (None, "")
    )
    return Markup(f"<{name}{written}>{joined(map(text, content))}</{name}>")


def link(place: str, content: object) -> Markup:
    """Something that leads to another place in the page."""
    return tag("a", content, href=f"#{place}")


def anchor(*parts: object) -> str:
    """The name of a place in the page."""
    return "-".join(_STRANGE.sub("-", str(part).lower()).strip("-") for part in parts)


def table(columns: Sequence[Column], rows: Iterable[Sequence[object]], kind: str = "") -> Markup:
    """A table; where there is little room, a block for each row, with the names of its columns.

    Args:
        columns: Names and kinds of the columns.
        rows: The cells.
        kind: `compact` for short cells, which then share lines; `plain` for a table that is no
            wider than it must be.
    """
    heads = [tag("th", column.name, class_=column.kind, scope="col") for column in columns]
    body = [tag("tr", *map(_cell, columns, row)) for row in rows]
    if not body:
        return tag("p", "Nothing yet.")
    return tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *body), class_=kind)


def _cell(column: Column, content: object) -> Markup:
    kind = column.kind
    if isinstance(content, StyledCell):
        kind, content = f"{kind} {content.kind}".strip(), content.content
    elif content is None:
        kind = f"{kind} none"
    return tag("td", content, class_=kind, data_name=column.name)
