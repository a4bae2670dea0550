"""`wireloom inspect`: one frame for a person, field by field, the fault marked."""

import json
import sys
from typing import Any, Final

import click
from rich.console import Console

from wireloom.cli.fields import Field, Fields
from wireloom.cli.frames import from_hex, protocol_argument
from wireloom.cli.meanings import meaning_among, meaning_in
from wireloom.cli.misuse import MisuseError
from wireloom.cli.shown import show
from wireloom.cli.terminal import Cell, console, line
from wireloom.registry import WireProtocol
from wireloom.registry import protocol as protocol_named
from wireloom.wire.cursor import Span
from wireloom.wire.errors import WireError

MAX_VALUE: Final = 128
"""Characters of a value that are shown unless all are asked for: those of a signature in hex."""

ABOUT: Final = (
    "id",
    "source",
    "destination",
    "created_at",
    "expires_at",
    "auth",
    "inner_auth",
)
"""What stands above the fields, where the message has it."""

_COLOURS: Final = ("cyan", "green", "magenta", "yellow", "blue")
_FAULT: Final = "bold red"


@click.command("inspect")
@protocol_argument
@click.argument("frame")
@click.option("--full", is_flag=True, help="Show all bytes and whole values, however long.")
def command(protocol: str, frame: str, *, full: bool) -> None:
    """Show FRAME (hex; for signalhub also JSON text; - for standard input) field by field.

    Long values are shortened, and say how long they are.

    Exit status: 0 if the frame is accepted, 1 if it is refused, 2 for misuse.
    """
    raw = _frame(protocol, frame)
    accepted = draw(console(), protocol_named(protocol), raw, full=full)
    sys.exit(0 if accepted else 1)


def draw(console: Console, spoken: WireProtocol, raw: bytes, *, full: bool = False) -> bool:
    """Draws one frame on `console` and tells whether it is accepted."""
    shown = show(spoken, raw, ())
    _draw_title(console, shown, raw, full=full)
    fields = Fields(_rows(spoken, raw, shown, full=full), console.width, full=full)
    fields.draw(console)
    if not shown["ok"]:
        told = line(Cell(f"refused: {shown['reason']}", _FAULT), f"  {shown['detail']}")
        console.print(told, soft_wrap=True)
    return bool(shown["ok"])


def _frame(protocol: str, text: str) -> bytes:
    if text == "-":
        text = sys.stdin.read()
    text = text.strip()
    if protocol == "signalhub" and text.startswith("{"):
        return text.encode()
    raw = from_hex(text.encode())
    if isinstance(raw, WireError):
        raise MisuseError("FRAME is not hex: an even number of digits 0-9 and a-f.")
    return raw


def _draw_title(console: Console, shown: dict[str, Any], raw: bytes, *, full: bool) -> None:
    size = f"{len(raw):,} byte{'s' * (len(raw) != 1)}"
    if not shown["ok"]:
        fault = Cell("refused", _FAULT)
        console.print(line(Cell(shown["protocol"], "bold"), f" frame, {size}, ", fault))
        return
    what = Cell(f"{shown['protocol']} {shown['type']}", "bold")
    console.print(line(what, f", {size}"), soft_wrap=True)
    for name in ABOUT:
        if shown[name] is not None:
            console.print(line(f"  {name} {_text(shown[name], full=full)}"), soft_wrap=True)


def _rows(spoken: WireProtocol, raw: bytes, shown: dict[str, Any], *, full: bool) -> list[Field]:
    spans = spoken.codec.spans(raw)
    message = spoken.codec.decode(raw) if shown["ok"] else None
    classes = [*spoken.messages.TYPES.values(), *spoken.messages.PARTS]
    rows = [
        Field(
            offset=span.offset,
            taken=raw[span.offset : span.offset + span.size],
            name=span.name,
            value=_value(span, raw, shown.get("fields", {}), full=full),
            meaning=(
                meaning_among(classes, span.name)
                if message is None
                else meaning_in(message, span.name)
            ),
            style=_COLOURS[number % len(_COLOURS)],
        )
        for number, span in enumerate(spans)
    ]
    return rows if shown["ok"] else [*rows, _fault(raw, shown, spans)]


def _fault(raw: bytes, shown: dict[str, Any], spans: list[Span]) -> Field:
    read = max((span.offset + span.size for span in spans), default=0)
    offset = shown["offset"] if shown["offset"] is not None else read
    return Field(
        offset=offset,
        taken=raw[offset:],
        name="▲ here",
        value=shown["detail"],
        meaning="",
        style=_FAULT,
        is_fault=True,
    )


def _value(span: Span, raw: bytes, fields: Any, *, full: bool) -> str:
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
                return _bare(taken, full=full)
    if found == taken.hex():
        return _bare(taken, full=full)
    return _text(found, full=full)


def _bare(taken: bytes, *, full: bool) -> str:
    if len(taken) > 2 and taken.isascii() and taken.decode().isprintable():
        return _text(repr(taken.decode()), full=full)
    if len(taken) <= 8:
        return f"0x{taken.hex()}" if taken else ""
    return "" if full else _text(taken.hex(), full=False)  # all its bytes stand beside it


def _text(value: Any, *, full: bool) -> str:
    """A value in one line: shortened only where it says so."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if full or len(text) <= MAX_VALUE:
        return text
    size = f"{len(text) // 2:,} bytes" if _is_hex(text) else f"{len(text):,} characters"
    return f"{text[: MAX_VALUE // 2]}… {size} in all"


def _is_hex(text: str) -> bool:
    return len(text) % 2 == 0 and not text.strip("0123456789abcdef")
