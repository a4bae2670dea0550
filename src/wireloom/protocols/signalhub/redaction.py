"""What lets somebody in, out of a frame's bytes: the frame keeps its length and its form.

A token is replaced by three stars and a hash that is as long as the rest, so that the frame decodes
as before and the same token can still be followed; a short one, which could be guessed, by stars
alone. It is looked for in the bytes and not in the message, so that it is found in damaged
frames too, in objects of the application, and in JSON that stands in a text.

```
"authToken" : "…"        "renewalToken" : "…"        Bearer …
```
"""

import re
from collections.abc import Callable
from hashlib import shake_256
from typing import Final

from wireloom.protocols.signalhub.constants import MAX_ADDRESS_SIZE
from wireloom.protocols.signalhub.spans import is_json

KEYS: Final = ("authToken", "renewalToken")
STARS: Final = "***"
"""What a token begins with that has been hidden; no other does."""

MIN_HASHED: Final = 16
"""Bytes of a token that is beyond guessing."""

_LETTERS: Final = b"abcdefghijklmnopqrstuvwxyz234567"

MARKS: Final = (b"Token", b"earer", b"EARER", rb"\u00")
"""A frame without any of these holds no token; the last one may hide a letter of a key."""


def _spelt(word: str) -> bytes:
    """A pattern of a key in JSON, where each letter may be an escape."""
    letters = ((one.encode(), b"%02x" % ord(one)) for one in word)
    return b"".join(rb"(?:%s|\\u00(?i:%s))" % letter for letter in letters)


_KEY: Final = b"(?:" + b"|".join(map(_spelt, KEYS)) + b")"
_TEXT: Final = re.compile(rb'"%s"\s*:\s*"((?:[^"\\]|\\.)*+)' % _KEY, re.DOTALL)
_TEXT_IN_TEXT: Final = re.compile(
    rb'(?P<slashes>\\+)"%s(?P=slashes)"\s*:\s*(?P=slashes)"((?:(?!(?P=slashes)").)*+)' % _KEY,
    re.DOTALL,
)
_BEARER: Final = re.compile(rb"(?i:bearer)(?: |\t|\\t)+([A-Za-z0-9._~+/=-]+)")
_PACKED: Final = re.compile(
    b"|".join(
        rb"(?:%s|\xd9%s|\xda\0%s|\xdb\0\0\0%s)%s"
        % (bytes([0xA0 + len(key)]), *[bytes([len(key)])] * 3, key.encode())
        for key in KEYS
    )
)
_SIZES: Final = {0xD9: 1, 0xDA: 2, 0xDB: 4, 0xC4: 1, 0xC5: 2, 0xC6: 4}
"""How many bytes say how long a MessagePack text or byte string is, by its first byte."""

_ADDRESS: Final = re.compile(rb'@\(([^)"\x00-\x1f\x7f]{1,%d})\)' % MAX_ADDRESS_SIZE)


def redact(raw: bytes) -> bytes:
    """A frame of the same length without the tokens in it."""
    if not any(mark in raw for mark in MARKS):
        return raw
    shown = bytearray(raw)
    for pattern in (_BEARER, _TEXT_IN_TEXT, _TEXT):
        for found in pattern.finditer(raw):
            _hide(shown, raw, *found.span(pattern.groups))
    if not is_json(raw):
        for found in _PACKED.finditer(raw):
            _hide(shown, raw, *_packed_text(raw, found.end()))
    return bytes(shown)


def is_redacted(token: str) -> bool:
    """Whether a token is one that `redact` has left."""
    return token.startswith(STARS) or (bool(token) and not token.strip("*"))


def rename(raw: bytes, pseudonym: Callable[[bytes], bytes]) -> bytes:
    """A frame with other addresses; a pseudonym is as long as its name."""
    return _ADDRESS.sub(lambda found: b"@(" + pseudonym(found[1]) + b")", raw)


def _packed_text(raw: bytes, start: int) -> tuple[int, int]:
    """Where the MessagePack text lies that begins at `start`; nowhere if it is no text."""
    head = raw[start] if start < len(raw) else 0
    if 0xA0 <= head <= 0xBF:
        return start + 1, start + 1 + head - 0xA0
    if head not in _SIZES:
        return start, start
    begin = start + 1 + _SIZES[head]
    return begin, begin + int.from_bytes(raw[start + 1 : begin])


def _hide(shown: bytearray, raw: bytes, begin: int, end: int) -> None:
    """What was hidden already, as a bearer within a token, is hidden as a part of the whole."""
    shown[begin:end] = _hidden(raw[begin:end])


def _hidden(token: bytes) -> bytes:
    size = len(token)
    if size < MIN_HASHED:
        return b"*" * size
    hashed = shake_256(token).digest(size - len(STARS))
    return STARS.encode() + bytes(_LETTERS[one % len(_LETTERS)] for one in hashed)
