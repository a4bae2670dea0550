"""CBOR: what is read, and the one form that is written.

Reading is tolerant: `items` has the rules. Writing is deterministic (RFC 8949, 4.2.1):
shortest forms, definite lengths, keys sorted.

Both take short cuts through libipld, which speaks strict DAG-CBOR. Whatever it refuses,
the tolerant reader or the full encoder decides; what both accept is the same. With cbor2 in
its place, and the same rules, decoding takes twice as long: that is what its two special cases
below, content ids and half-precision floats, are kept for.
"""

import struct
import types
from contextlib import suppress
from typing import Any, Final

import cbor2
from libipld import decode_dag_cbor, encode_dag_cbor

from wireloom.protocols.dtn.constants import CancelReason, Priority, SubAction
from wireloom.protocols.dtn.items import kind, read
from wireloom.wire.errors import MalformedError
from wireloom.wire.fields import MAX_NESTING

_HALF_FLOAT: Final = struct.Struct(">e")
_SINGLE: Final = struct.Struct(">f")

_CID_TAG: Final = b"\xd8\x2a"
_WIDE_CID_TAG: Final = b"\x00\x2a"
"""Tag 42 in its short form, and the end of its longer ones. To libipld, a byte string with
that tag is one that holds a content id, with and without the tag."""

_HALF: Final = 0xF9
_HALF_SIZE: Final = 3
_SINGLE_HEAD: Final = b"\xfa"

_SCALARS: Final = frozenset(
    {bool, bytes, int, str, types.NoneType, CancelReason, Priority, SubAction}
)
"""What libipld writes as deterministic CBOR has it, but for content ids."""


def load(raw: bytes) -> dict[str, Any]:
    """The map in `raw`, whose keys are text at every depth (R21).

    Raises:
        MalformedError: If it holds anything else.
    """
    document = load_quickly(raw)
    if document is not None and nesting(document) <= MAX_NESTING:
        return document
    item = read(raw, text_keys=True)
    if not isinstance(item, dict):
        raise MalformedError(f"a CBOR {kind(item)}, not a map", offset=0)
    return item


def load_quickly(raw: bytes) -> dict[str, Any] | None:
    """The map in `raw` if libipld can read it; its nesting is not checked yet."""
    if 42 in raw and (raw.find(_CID_TAG) >= 0 or raw.find(_WIDE_CID_TAG) >= 0):
        return None
    try:
        document = _load_half(raw) if raw[-_HALF_SIZE] == _HALF else decode_dag_cbor(raw)
    except Exception:  # any refusal of the short cut, whatever its kind: `read` decides
        return None
    return document if type(document) is dict else None


def _load_half(raw: bytes) -> Any:
    """A map that seems to end in a half-precision float, as a score of 0.75 is written.

    libipld reads none, so it is given the same number in single precision. Had the last
    bytes been part of another value, the last value would not be that number.
    """
    (number,) = _HALF_FLOAT.unpack_from(raw, len(raw) - 2)
    document = decode_dag_cbor(raw[:-_HALF_SIZE] + _SINGLE_HEAD + _SINGLE.pack(number))
    last = next(reversed(document.values()))
    return document if type(last) is float and last == number else None


def dump(document: dict[str, Any]) -> bytes:
    """`document` in deterministic CBOR.

    Raises:
        MalformedError: If it cannot be written. What can be written is not always readable:
            the caller reads it back.
    """
    values = document.values()
    if _SCALARS.issuperset(map(type, values)) or all(map(_is_quick, values)):
        with suppress(ValueError):  # any refusal of the short cut: the encoder below decides
            raw: bytes = encode_dag_cbor(document)
            if raw.find(_CID_TAG) < 0:
                return raw
    if nesting(document) > MAX_NESTING:  # before the encoder, which would exhaust the stack
        raise MalformedError(f"nested deeper than {MAX_NESTING} levels")
    try:
        return cbor2.dumps(document, canonical=True)
    except (cbor2.CBORError, ValueError, TypeError, OverflowError) as error:
        raise MalformedError(f"cannot be written as CBOR: {error}") from None


def _is_quick(value: object) -> bool:
    """Whether libipld writes a value as deterministic CBOR has it; lists may hold maps."""
    if type(value) is list:
        return all(_is_quick_item(one) for one in value)
    return type(value) in _SCALARS


def _is_quick_item(item: object) -> bool:
    if type(item) is dict:
        return all(type(key) is str and type(one) in _SCALARS for key, one in item.items())
    return type(item) in _SCALARS


def single(value: float) -> float:
    """`value` in single precision; zero has no sign (R26).

    Raises:
        MalformedError: If it is out of range.
    """
    try:
        (rounded,) = _SINGLE.unpack(_SINGLE.pack(value))
    except (OverflowError, struct.error):
        raise MalformedError(f"{value!r:.60} is no number of single precision") from None
    return float(rounded) + 0.0


def nesting(value: object) -> int:
    """How deep lists and maps stand in each other, counted up to one more than allowed."""
    depth = 0
    level = [value]
    while depth <= MAX_NESTING:
        containers = [one for one in level if isinstance(one, dict | list | tuple)]
        if not containers:
            break
        depth += 1
        level = []
        for one in containers:
            level.extend(one.values() if isinstance(one, dict) else one)
    return depth
