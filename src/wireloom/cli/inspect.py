"""`wireloom inspect`: one frame for a person, field by field, the fault marked."""

import sys
from typing import Any, Final

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from wireloom.cli.frames import from_hex, protocol_argument
from wireloom.cli.shown import show
from wireloom.registry import WireProtocol
from wireloom.registry import protocol as protocol_named
from wireloom.wire.cursor import Span
from wireloom.wire.declared import declared, parts
from wireloom.wire.errors import WireError

WIDE: Final = 110
"""Columns of a terminal that has room for what a field is about."""

MAX_HEX: Final = 8
"""Bytes of a field that are shown; the rest is counted."""

MAX_VALUE: Final = 60
VALUE_WIDTH: Final = 34
"""Columns for a value where its meaning stands beside it."""

_COLOURS: Final = ("cyan", "green", "magenta", "yellow", "blue")


@click.command("inspect")
@protocol_argument
@click.argument("frame")
def command(protocol: str, frame: str) -> None:
    """Show FRAME (hex; for signalhub also JSON text; - for standard input) field by field.

    Exit status: 0 if the frame is accepted, 1 if it is refused, 2 for misuse.
    """
    raw = _frame(protocol, frame)
    accepted = draw(Console(highlight=False), protocol_named(protocol), raw)
    sys.exit(0 if accepted else 1)


def draw(console: Console, spoken: WireProtocol, raw: bytes) -> bool:
    """Draws one frame on `console` and tells whether it is accepted."""
    shown = show(spoken, raw, ())
    console.print(_title(shown, raw))
    console.print(_table(spoken, raw, shown, wide=console.width >= WIDE))
    if not shown["ok"]:
        console.print(f"[bold red]refused: {shown['reason']}[/]  {escape(shown['detail'])}")
    return bool(shown["ok"])


def _frame(protocol: str, text: str) -> bytes:
    if text == "-":
        text = sys.stdin.read()
    text = text.strip()
    if protocol == "signalhub" and text.startswith("{"):
        return text.encode()
    raw = from_hex(text.encode())
    if isinstance(raw, WireError):
        raise click.UsageError("FRAME is not hex: an even number of digits 0-9 and a-f.")
    return raw


def _title(shown: dict[str, Any], raw: bytes) -> str:
    if not shown["ok"]:
        return f"[bold]{shown['protocol']}[/] frame, {len(raw)} bytes, [bold red]refused[/]"
    about = [f"[bold]{shown['protocol']} {escape(shown['type'])}[/], {len(raw)} bytes"]
    about += [
        f"{name} {escape(str(shown[name]))}"
        for name in ("id", "source", "destination", "created_at", "expires_at", "auth")
        if shown[name] is not None
    ]
    return "\n  ".join(about)


def _table(spoken: WireProtocol, raw: bytes, shown: dict[str, Any], *, wide: bool) -> Table:
    spans = spoken.codec.spans(raw)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("offset", justify="right", min_width=6)
    table.add_column("length", justify="right", min_width=6)
    table.add_column("bytes", no_wrap=True, min_width=max([5, *map(_hex_width, spans)]))
    names = [len(span.name) for span in spans]
    table.add_column("field", no_wrap=True, min_width=max([6, *names]))
    width = VALUE_WIDTH if wide else None
    table.add_column("value", no_wrap=True, overflow="ellipsis", max_width=width)
    if wide:
        table.add_column("meaning", style="dim")
    meanings = _meanings(spoken, shown.get("type"))
    for number, span in enumerate(spans):
        colour = _COLOURS[number % len(_COLOURS)]
        row = [
            str(span.offset),
            str(span.size),
            f"[{colour}]{_hex(raw, span.offset, span.size)}[/]",
            f"[{colour}]{escape(span.name)}[/]",
            escape(_value(span, raw, shown.get("fields", {}))),
        ]
        table.add_row(*row, *([meanings.get(span.name.rpartition(".")[2], "")] if wide else []))
    if not shown["ok"]:
        table.add_row(*_fault(raw, shown, spans))
    return table


def _fault(raw: bytes, shown: dict[str, Any], spans: list[Span]) -> list[str]:
    read = max((span.offset + span.size for span in spans), default=0)
    offset = shown["offset"] if shown["offset"] is not None else read
    left = max(0, len(raw) - offset)
    cells = [str(offset), str(left), _hex(raw, offset, left), "▲ here", shown["detail"]]
    return [f"[bold red]{escape(cell)}[/]" for cell in cells]


def _hex(raw: bytes, offset: int, size: int) -> str:
    text = raw[offset : offset + min(size, MAX_HEX)].hex(" ")
    return text + (f" … +{size - MAX_HEX}" if size > MAX_HEX else "")


def _hex_width(span: Span) -> int:
    return len(_hex(bytes(MAX_HEX), 0, span.size))


def _value(span: Span, raw: bytes, fields: Any) -> str:
    """The field's value as `decode` shows it, or what stands at its place."""
    taken = raw[span.offset : span.offset + span.size]
    found = fields
    for step in span.name.split("."):
        match found:
            case dict() if step in found:
                found = found[step]
            case list() if step.isdigit() and int(step) < len(found):
                found = found[int(step)]
            case _:
                return _bare(taken)
    if found == taken.hex():
        return _bare(taken)
    return _short(str(found))


def _bare(taken: bytes) -> str:
    if len(taken) > 2 and taken.isascii() and taken.decode().isprintable():
        return _short(repr(taken.decode()))
    return f"0x{taken.hex()}" if 0 < len(taken) <= 8 else ""


def _short(text: str) -> str:
    return text if len(text) <= MAX_VALUE else text[:MAX_VALUE] + "…"


def _meanings(spoken: WireProtocol, type_: str | None) -> dict[str, str]:
    """What field names mean: in messages of `type_`, or else in the first class that has them."""
    types = spoken.messages.TYPES
    first = [types[type_]] if type_ in types else []
    meanings: dict[str, str] = {}
    for cls in [*first, *types.values(), *spoken.messages.PARTS]:
        for one in (cls, *parts(cls)):
            for field in declared(one):
                meanings.setdefault(field.name, field.meaning)
    return meanings
