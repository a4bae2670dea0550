"""MessagePack, as far as JSON has the same values (R25).

One byte says what a value is and, where it is small, its size or the value itself.

```
00…7f int   80…8f map   90…9f list   a0…bf text   c0 null   c2 false   c3 true   e0…ff int
ca cb float   cc cd ce cf unsigned   d0 d1 d2 d3 signed
d9 da db text   dc dd list   de df map          c4 c5 c6 bytes, c7…d8 extensions: refused
```

The reader is this project's own: it refuses a frame at the first byte that is wrong, it
builds nothing that the frame does not hold, and it tells where each value lies.
"""

import math
from struct import Struct
from typing import Any, Final

from wireloom.wire.cursor import Reader, Span
from wireloom.wire.errors import MalformedError
from wireloom.wire.fields import MAX_NESTING

_U8, _U16, _U32 = Struct(">B"), Struct(">H"), Struct(">I")

_CONSTANTS: Final = {0xC0: None, 0xC2: False, 0xC3: True}
_FLOATS: Final = {0xCA: Struct(">f"), 0xCB: Struct(">d")}
_INTEGERS: Final = {
    0xCC: _U8,
    0xCD: _U16,
    0xCE: _U32,
    0xCF: Struct(">Q"),
    0xD0: Struct(">b"),
    0xD1: Struct(">h"),
    0xD2: Struct(">i"),
    0xD3: Struct(">q"),
}
_TEXTS: Final = {0xD9: _U8, 0xDA: _U16, 0xDB: _U32}
_LISTS: Final = {0xDC: _U16, 0xDD: _U32}
_MAPS: Final = {0xDE: _U16, 0xDF: _U32}

_FIRST_SMALL_MAP: Final = 0x80
_FIRST_SMALL_LIST: Final = 0x90
_FIRST_SMALL_TEXT: Final = 0xA0
_FIRST_LONG: Final = 0xC0
_FIRST_NEGATIVE: Final = 0xE0

_MAX_NAME: Final = 60
"""Characters of a key in a span's name: a long key must not be copied for all below it."""

_WHOLE_FROM: Final = 2.0**31
_WHOLE_BELOW: Final = 2.0**63


def is_map(head: int) -> bool:
    """Whether a value that begins with the byte `head` is a map."""
    return _FIRST_SMALL_MAP <= head < _FIRST_SMALL_LIST or head in _MAPS


def is_whole(number: float) -> bool:
    """Whether a float stands for an integer of 33 bits or more, as JavaScript writes those."""
    return _WHOLE_FROM <= abs(number) < _WHOLE_BELOW and number.is_integer()


class Unpacker:
    """Takes one MessagePack document apart and notes where its values lie."""

    def __init__(self, raw: bytes) -> None:
        self.spans: list[Span] = []
        """The values of the maps, in the order of the bytes; a list is one value."""
        self._reader = Reader(raw)
        self._in_list = 0

    def document(self) -> Any:
        """The one value that the bytes hold.

        Raises:
            MalformedError: If they hold none, more than one, or one that JSON has not got.
        """
        value = self._value("the document", 0)
        self._reader.finish()
        return value

    def _value(self, name: str, depth: int) -> Any:
        return self._rest(self._reader.u8(name), name, depth)

    def _rest(self, head: int, name: str, depth: int) -> Any:
        """The value that begins with the byte `head`."""
        if head < _FIRST_SMALL_MAP:
            return head
        if head >= _FIRST_NEGATIVE:
            return head - 0x100
        if head < _FIRST_LONG:
            return self._small(head, name, depth)
        return self._long(head, name, depth)

    def _small(self, head: int, name: str, depth: int) -> Any:
        if head >= _FIRST_SMALL_TEXT:
            return self._reader.text(head - _FIRST_SMALL_TEXT, name)
        if head >= _FIRST_SMALL_LIST:
            return self._list(head - _FIRST_SMALL_LIST, name, depth)
        return self._map(head - _FIRST_SMALL_MAP, name, depth)

    def _long(self, head: int, name: str, depth: int) -> Any:
        if head in _CONSTANTS:
            return _CONSTANTS[head]
        if head in _INTEGERS:
            return self._number(_INTEGERS[head], name)
        if head in _FLOATS:
            return self._float(_FLOATS[head], name)
        if head in _TEXTS:
            return self._reader.text(self._number(_TEXTS[head], name), name)
        if head in _LISTS:
            return self._list(self._number(_LISTS[head], name), name, depth)
        if head in _MAPS:
            return self._map(self._number(_MAPS[head], name), name, depth)
        raise self._fault(f"{name} begins with 0x{head:02x}: bytes and extensions are not taken")

    def _number(self, layout: Struct, name: str) -> Any:
        (number,) = self._reader.unpack(layout, (name,))
        return number

    def _float(self, layout: Struct, name: str) -> float | int:
        number: float = self._number(layout, name)
        if not math.isfinite(number):
            raise self._fault(f"{name} is {number}, which is not a number that JSON has")
        if is_whole(number):
            return int(number)
        return number

    def _list(self, count: int, name: str, depth: int) -> list[Any]:
        """A list; the values in it that take one byte, and lists of a few, are taken right here."""
        self._check_depth(depth)
        self._in_list += 1
        items: list[Any] = []
        u8, add = self._reader.u8, items.append
        for _ in range(count):
            head = u8(name)
            if head < _FIRST_SMALL_MAP:
                add(head)
            elif _FIRST_SMALL_LIST <= head < _FIRST_SMALL_TEXT:
                add(self._list(head - _FIRST_SMALL_LIST, name, depth + 1))
            else:
                add(self._rest(head, name, depth + 1))
        self._in_list -= 1
        return items

    def _map(self, count: int, name: str, depth: int) -> dict[str, Any]:
        self._check_depth(depth)
        prefix = f"{name}." if depth else ""
        members: dict[str, Any] = {}
        for _ in range(count):
            key = self._key(members, name)
            start = self._reader.offset
            member = prefix + key[:_MAX_NAME]
            value = members[key] = self._value(member, depth + 1)
            if not self._in_list and not (isinstance(value, dict) and value):
                self.spans.append(Span(member, start, self._reader.offset - start))
        return members

    def _key(self, members: dict[str, Any], name: str) -> str:
        start = self._reader.offset
        key = self._value(f"a key of {name}", MAX_NESTING)
        if not isinstance(key, str):
            raise MalformedError(f"a key of {name} is not text", offset=start)
        if key in members:
            raise MalformedError(f"key {key!r:.60} stands twice", offset=start)
        return key

    def _check_depth(self, depth: int) -> None:
        if depth >= MAX_NESTING:
            raise self._fault(f"nested deeper than {MAX_NESTING} levels")

    def _fault(self, detail: str) -> MalformedError:
        return MalformedError(detail, offset=self._reader.offset - 1)
