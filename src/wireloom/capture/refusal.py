"""What an import refuses, and why."""

from typing import NamedTuple


class Refusal(NamedTuple):
    """Something in a file that is no frame of a known protocol."""

    place: str
    """Where: `line 3`, `packet 12`."""

    reason: str
    """Why, in words that can be counted."""

    detail: str = ""
    """What exactly, for a person."""

    is_foreign: bool = False
    """Whether it is traffic of another protocol, which is no fault of the file."""


class ForeignError(ValueError):
    """Traffic of no known protocol; the text says why."""


class UnreadableError(ValueError):
    """Traffic that is damaged or incomplete; the text says why."""
