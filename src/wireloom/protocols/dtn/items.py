"""CBOR items, read tolerantly: the exact word on what is accepted (R20).

Definite and indefinite lengths, any width of integers and floats, keys in any order.
Refused are duplicate keys, tags, undefined and unassigned simple values, NaN and infinity,
nesting deeper than `MAX_NESTING`, and bytes after the item.
"""

import math
import struct
from typing import Any, Final, NamedTuple

from wireloom.wire.cursor import Reader
from wireloom.wire.errors import MalformedError, TruncatedError, WireError
from wireloom.wire.fields import MAX_NESTING

_UINT, _NINT, _BYTES, _TEXT, _LIST, _MAP, _TAG, _SIMPLE = range(8)
"""Major types, the high three bits of a head."""

_WIDTHS: Final = {24: 1, 25: 2, 26: 4, 27: 8}
"""Bytes of the number that follows a head, by the head's low five bits."""

_INDEFINITE: Final = 31
_BREAK: Final = 0xFF

_CONSTANTS: Final = {20: False, 21: True, 22: None}
_FLOATS: Final = {25: struct.Struct(">e"), 26: struct.Struct(">f"), 27: struct.Struct(">d")}


class Place(NamedTuple):
    """Where the value of one key of a map lies."""

    key: str
    value: object
    offset: int
    size: int


def read(raw: bytes, *, text_keys: bool = False) -> object:
    """The item in `raw`.

    Args:
        raw: Any bytes.
        text_keys: Refuse map keys that are not text.

    Raises:
        MalformedError: If it is not one acceptable CBOR item.
    """
    reader = Reader(raw)
    item = _Items(reader, text_keys=text_keys).take("the item", 0)
    reader.finish()
    return item


def places(raw: bytes) -> list[Place]:
    """Where the values of the map in `raw` lie, as far as it can be read."""
    reader = Reader(raw)
    items = _Items(reader, text_keys=True)
    found: list[Place] = []
    try:
        for key in items.keys_of_map():
            offset = reader.offset
            value = items.take(key, 1)
            found.append(Place(key, value, offset, reader.offset - offset))
    except WireError:
        pass
    return found


class _Items:
    """Takes items off a reader, one after the other."""

    def __init__(self, reader: Reader, *, text_keys: bool) -> None:
        self._reader = reader
        self._text_keys = text_keys

    def take(self, name: str, depth: int) -> Any:
        """The next item, which stands in `depth` others."""
        head = self._head(name)
        major, info = head >> 5, head & 31
        if major <= _NINT:
            number = info if info < 24 else self._argument(info, name)
            return number if major == _UINT else -1 - number
        if major <= _TEXT:
            return self._string(major, info, name)
        if major <= _MAP:
            return self._container(major, info, name, depth + 1)
        if major == _SIMPLE:
            return self._simple(info, name)
        raise MalformedError(
            f"{name} has a tag, which no message uses", offset=self._reader.offset - 1
        )

    def _head(self, name: str) -> int:
        """The next byte: `Reader.u8` for what is read most often."""
        reader = self._reader
        if reader.offset == reader.end:
            reader.u8(name)
        head = reader.raw[reader.offset]
        reader.offset += 1
        return head

    def keys_of_map(self) -> "_Keys":
        """The keys of the map that comes next; each time, its value is the caller's to take."""
        start = self._reader.offset
        head = self._head("the map")
        if head >> 5 != _MAP:
            raise MalformedError("not a map", offset=start)
        return _Keys(self, self._count(head & 31, "the map", 2), 1)

    def _argument(self, info: int, name: str) -> int:
        if info < 24:
            return info
        width = _WIDTHS.get(info)
        if width is None:
            raise MalformedError(f"{name} has no valid CBOR head", offset=self._reader.offset - 1)
        return int.from_bytes(self._reader.take(width, name))

    def _count(self, info: int, name: str, each: int) -> int | None:
        """How many items follow, none of them shorter than a byte; None if a break ends them."""
        if info == _INDEFINITE:
            return None
        start = self._reader.offset
        count = self._argument(info, name)
        if count * each > self._reader.remaining:
            raise TruncatedError(
                f"{name} has {count} entries, {self._reader.remaining} bytes are left",
                offset=start,
            )
        return count

    def _container(self, major: int, info: int, name: str, depth: int) -> object:
        start = self._reader.offset - 1
        if depth > MAX_NESTING:
            raise MalformedError(f"nested deeper than {MAX_NESTING} levels", offset=start)
        if major == _MAP:
            keys = _Keys(self, self._count(info, name, 2), depth)
            return {key: self.take(f"{key!s:.60}", depth) for key in keys}
        count = self._count(info, name, 1)
        if count is not None:
            return [self.take(name, depth) for _ in range(count)]
        items = []
        while not self.at_break():
            items.append(self.take(name, depth))
        return items

    def at_break(self) -> bool:
        """Whether a break comes next, which is then taken."""
        if self._head("a break") == _BREAK:
            return True
        self._reader.offset -= 1
        return False

    def _string(self, major: int, info: int, name: str) -> Any:
        if info != _INDEFINITE:
            return self._chunk(major, info, name)
        chunks = []
        while not self.at_break():
            start = self._reader.offset
            head = self._head(name)
            if head >> 5 != major or head & 31 == _INDEFINITE:
                raise MalformedError(f"{name} has a part of another kind", offset=start)
            chunks.append(self._chunk(major, head & 31, name))
        return b"".join(chunks) if major == _BYTES else "".join(chunks)

    def _chunk(self, major: int, info: int, name: str) -> Any:
        size = self._argument(info, name)
        reader = self._reader
        return reader.take(size, name) if major == _BYTES else reader.text(size, name)

    def _simple(self, info: int, name: str) -> object:
        start = self._reader.offset - 1
        if info in _CONSTANTS:
            return _CONSTANTS[info]
        layout = _FLOATS.get(info)
        if layout is None:
            raise MalformedError(f"{name} has no value that CBOR defines", offset=start)
        (number,) = self._reader.unpack(layout, (name,))
        if not math.isfinite(number):
            raise MalformedError(f"{name} is {number}, which is no number", offset=start)
        return number

    def key(self, depth: int) -> Any:
        """The next key of a map: text, or another scalar where that is allowed."""
        start = self._reader.offset
        key = self.take("a key", depth)
        if self._text_keys and type(key) is not str:
            raise MalformedError(f"a key is a CBOR {kind(key)}, not text", offset=start)
        if isinstance(key, dict | list):
            raise MalformedError(f"a key is a CBOR {kind(key)}", offset=start)
        return key

    @property
    def offset(self) -> int:
        """Where the next item begins."""
        return self._reader.offset


class _Keys:
    """The keys of one map, each once; whoever asks takes the value before the next."""

    def __init__(self, items: _Items, count: int | None, depth: int) -> None:
        self._items = items
        self._left = count
        self._depth = depth
        self._seen: set[object] = set()

    def __iter__(self) -> "_Keys":
        return self

    def __next__(self) -> Any:
        if self._left is None:
            if self._items.at_break():
                raise StopIteration
        elif self._left == 0:
            raise StopIteration
        else:
            self._left -= 1
        start = self._items.offset
        key = self._items.key(self._depth)
        if key in self._seen:
            raise MalformedError(f"key {key!r:.60} stands twice", offset=start)
        self._seen.add(key)
        return key


def kind(item: object) -> str:
    """What an item is, for people."""
    kinds = {str: "text", bytes: "byte string", list: "list", dict: "map", int: "integer"}
    return kinds.get(type(item), "simple value")
