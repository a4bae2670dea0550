"""Where the fields of a frame lie, and how wire names become the names of fields."""

from contextlib import suppress
from functools import cache
from typing import Final, get_args, get_type_hints

import msgspec

from wireloom.protocols.signalhub.envelope import Part
from wireloom.protocols.signalhub.messages import TYPES, Application
from wireloom.protocols.signalhub.packed import Unpacker, is_map
from wireloom.wire import jsontext
from wireloom.wire.cursor import Reader, Span
from wireloom.wire.errors import WireError
from wireloom.wire.message import Message

_BLANK: Final = b" \t\r\n"
_OPENINGS: Final = b"[{"
_PACKED_OPENINGS: Final = bytes((*range(0x80, 0xA0), *range(0xDC, 0xE0)))
_MAX_SEARCHED_SIZE: Final = 16_384
"""Larger frames are refused without an offset: a refusal must stay cheap."""


def is_json(raw: bytes) -> bool:
    """Whether a frame is a JSON object, by its first byte that is not blank (R14)."""
    return raw[:1] == b"{" or raw.lstrip(_BLANK)[:1] == b"{"


def is_msgpack(raw: bytes) -> bool:
    """Whether a frame is a MessagePack map, by its first byte (R14)."""
    return bool(raw) and is_map(raw[0])


def openings(raw: bytes) -> int:
    """How many lists and objects a frame may have: bytes with which one begins, text included."""
    begins = _PACKED_OPENINGS if is_msgpack(raw) else _OPENINGS
    return len(raw) - len(raw.translate(None, begins))


def spans(raw: bytes) -> list[Span]:
    """Where each field of `raw` lies, up to the first fault; names as in the plain fields."""
    found = located(raw)
    type_ = next((_text(raw, span) for span in found if span.name == "type"), "")
    cls = TYPES.get(type_, Application)
    return [Span(plain_path(cls, span.name), span.offset, span.size) for span in found]


def located(raw: bytes) -> list[Span]:
    """Where each value of `raw` lies, up to the first fault; names as on the wire."""
    found: list[Span] = []
    if is_json(raw):
        with suppress(RecursionError):
            found.extend(jsontext.members(raw))
    elif is_msgpack(raw):
        unpacker = Unpacker(raw)
        with suppress(WireError):
            unpacker.document()
        found = unpacker.spans
    return found


def offset_of(raw: bytes, path: str) -> int | None:
    """Where the value at a path like `payload.actors[0].version` lies.

    It is the offset of the innermost value that has a span; of an object, that of its
    first member.
    """
    if len(raw) > _MAX_SEARCHED_SIZE:
        return None
    name = path.partition("[")[0]
    for span in located(raw):
        if span.name == name or span.name.startswith(f"{name}."):
            return span.offset
    return None


def plain_path(cls: type[Message], path: str) -> str:
    """The name among the plain fields of what is called `path` on the wire.

    Only the names that `cls` declares change; what stands in free objects does not.
    """
    key, dot, rest = path.partition(".")
    name, inner = _names(cls).get(key, (key, None))
    return name + dot + (plain_path(inner, rest) if inner and rest else rest)


@cache
def _names(cls: type[Message]) -> dict[str, tuple[str, type[Part] | None]]:
    hints = get_type_hints(cls)
    return {
        field.encode_name: (field.name.rstrip("_"), _part(hints[field.name]))
        for field in msgspec.structs.fields(cls)
    }


def _part(hint: object) -> type[Part] | None:
    classes = [hint, *get_args(hint)]
    return next((one for one in classes if isinstance(one, type) and issubclass(one, Part)), None)


def _text(raw: bytes, span: Span) -> str:
    """The text of a listed type, which has neither escapes nor more than 31 bytes."""
    value = Reader(raw, offset=span.offset).take(span.size, span.name)
    content = value.strip(b'"') if is_json(raw) else value.lstrip(value[:1])
    return content.decode(errors="replace")
