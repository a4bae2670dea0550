"""JSON, strictly: no duplicate keys, no NaN, no deep nesting, UTF-8 only.

The fast typed decoders skip some of that. `load` is the slow and exact check behind them;
`members` tells where the parts of a document lie, for `inspect`.
"""

import json
import math
import re
from array import array
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate
from typing import Any, NoReturn

from wireloom.wire.cursor import Span
from wireloom.wire.errors import MalformedError
from wireloom.wire.fields import MAX_NESTING

_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
"""Possessive, and the closing quote optional: a string that never ends is passed over once."""

_STRING_OR_BRACKET = re.compile(_STRING.pattern + rb"|[\[\]{}]", re.DOTALL)
_STEP_OF = {b"[": 1, b"{": 1, b"]": -1, b"}": -1}
_STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
_NO_BRACKETS = bytes(set(range(256)) - set(b"[{]}"))
_SHORT = 4_096
"""Bytes of a document in which a place is looked for."""

_MAX_KEY = 60
"""Characters of a key that show in a name."""

_BLANK = re.compile(r"[ \t\r\n]*")


def load(raw: bytes) -> Any:
    """The document in `raw`.

    Raises:
        MalformedError: If it is not strict JSON.
    """
    check_nesting(raw)
    try:
        return json.loads(
            raw.decode(),
            object_pairs_hook=_unique,
            parse_constant=_no_constant,
            parse_float=_finite,
        )
    except MalformedError:
        raise
    except UnicodeDecodeError as error:
        raise MalformedError(f"not UTF-8: {error.reason}", offset=error.start) from None
    except json.JSONDecodeError as error:
        offset = len(error.doc[: error.pos].encode())
        raise MalformedError(f"not JSON: {error.msg}", offset=offset) from None
    except ValueError as error:
        raise MalformedError(f"not JSON: {error}") from None


def check_nesting(raw: bytes) -> None:
    """Refuses a document that is nested deeper than `MAX_NESTING`, without building it.

    Raises:
        MalformedError: If it is. Of a long document it is not said where: to find that out takes
            as long as all the rest.
    """
    if raw.count(b"[") + raw.count(b"{") <= MAX_NESTING:
        return
    steps = array("b", _STRING.sub(b"", raw).translate(_STEPS, _NO_BRACKETS))
    if max(accumulate(steps), default=0) <= MAX_NESTING:
        return
    offset = _too_deep_at(raw) if len(raw) <= _SHORT else None
    raise MalformedError(f"nested deeper than {MAX_NESTING} levels", offset=offset)


def _too_deep_at(raw: bytes) -> int:
    depth = 0
    for match in _STRING_OR_BRACKET.finditer(raw):
        depth += _STEP_OF.get(match[0], 0)
        if depth > MAX_NESTING:
            return match.start()
    return 0


def members(raw: bytes, *, base: int = 0, prefix: str = "") -> Iterator[Span]:
    """Where the values of the object in `raw` lie, objects within it included.

    Args:
        raw: The document. Where it stops being JSON, the spans stop; one that is nested too
            deep has none.
        base: The document's own offset in its frame.
        prefix: What the names begin with.
    """
    try:
        check_nesting(raw)
        text = raw.decode()
    except MalformedError:
        return
    except UnicodeDecodeError as error:
        text = raw[: error.start].decode()
    yield from _members(_Text(text, base), 0, prefix)


class _Text:
    """A text and the byte offsets of its characters, which are asked for in rising order."""

    def __init__(self, text: str, base: int) -> None:
        self.text = text
        self._index = 0
        self._offset = base

    def offset(self, index: int) -> int:
        self._offset += len(self.text[self._index : index].encode())
        self._index = index
        return self._offset


def _members(document: _Text, index: int, prefix: str) -> Iterator[Span]:
    decoder = json.JSONDecoder()
    text = document.text
    index = _blank(text, index) + 1
    while True:
        try:
            key, index = decoder.raw_decode(text, _blank(text, index))
            start = _blank(text, _blank(text, index) + 1)
            value, index = decoder.raw_decode(text, start)
        except ValueError:  # not JSON, or an integer of too many digits
            return
        name = f"{prefix}{str(key)[:_MAX_KEY]}"
        if isinstance(value, dict) and value:
            yield from _members(document, start, f"{name}.")
        else:
            offset = document.offset(start)
            yield Span(name, offset, document.offset(index) - offset)
        index = _blank(text, index)
        if text[index : index + 1] != ",":
            return
        index += 1


def _blank(text: str, index: int) -> int:
    match = _BLANK.match(text, index)
    return match.end() if match else index


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    loaded = dict(pairs)
    if len(loaded) != len(pairs):
        twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise MalformedError(f"key {twice!r:.60} stands twice")
    return loaded


def _finite(literal: str) -> float:
    number = float(literal)
    if not math.isfinite(number):
        raise MalformedError(f"{literal:.60} is out of range")
    return number


def _no_constant(name: str) -> NoReturn:
    raise MalformedError(f"{name} is not a JSON number")
