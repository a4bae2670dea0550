"""Addresses of actors, and the patterns that discovery finds them by."""

import re
from typing import Final, NamedTuple

import msgspec

from wireloom.protocols.signalhub.constants import (
    ADDRESS_PATTERN,
    MAX_ADDRESS_SIZE,
    MAX_GLOB_SIZE,
)
from wireloom.wire.errors import MalformedError

_ADDRESS: Final = re.compile(ADDRESS_PATTERN)
_WILDCARD: Final = "*"


def is_address(text: str) -> bool:
    """Whether `text` is an address: `@(…)` without control characters (R24)."""
    return _ADDRESS.search(text) is not None


def is_kept(text: str) -> bool:
    """Whether `text` is an address that a hub keeps, or puts into a frame (R43)."""
    return is_address(text) and len(msgspec.json.encode(text)) <= MAX_ADDRESS_SIZE


def path(address: str) -> str:
    """What stands within the brackets: `browser/widget-1` of `@(browser/widget-1)`.

    Raises:
        MalformedError: If it is no address.
    """
    if not is_address(address):
        raise MalformedError(f"{address!r:.60} is not an address like @(runtime/actor)")
    return address.removeprefix("@(").removesuffix(")")


def address(path: str) -> str:
    """The address of a path; an address is taken as it is.

    Raises:
        MalformedError: If it gives no address.
    """
    made = path if is_address(path) else f"@({path})"
    if not is_address(made):
        raise MalformedError(f"{path!r:.60} is not the path of an address")
    return made


class Glob(NamedTuple):
    """A pattern, taken apart at its stars.

    The pieces between the stars are looked for from left to right, each once and as far
    left as it goes, so that time does not explode with the number of stars.
    """

    first: str
    """What an address begins with; all of it, if `last` is None."""

    middle: tuple[str, ...]
    last: str | None
    """What an address ends with."""

    @property
    def cost(self) -> int:
        """How many pieces are looked for, at most, in one address."""
        return len(self.middle) + 2

    def matches(self, address: str) -> bool:
        """Whether an address has all pieces."""
        if self.last is None:
            return address == self.first
        at = len(self.first)
        if not address.startswith(self.first):
            return False
        for piece in self.middle:
            found = address.find(piece, at)
            if found < 0:
                return False
            at = found + len(piece)
        return len(address) - len(self.last) >= at and address.endswith(self.last)


def glob(pattern: str) -> Glob:
    """The pattern in which `*` stands for any characters (R27).

    Raises:
        MalformedError: If it is empty or too long.
    """
    if not 1 <= len(pattern) <= MAX_GLOB_SIZE:
        raise MalformedError(f"a pattern has 1 to {MAX_GLOB_SIZE} characters, not {len(pattern)}")
    first, *rest = pattern.split(_WILDCARD)
    if not rest:
        return Glob(first, (), None)
    *middle, last = rest
    return Glob(first, tuple(filter(None, middle)), last)
