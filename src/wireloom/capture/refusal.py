"""What an import does not take, and why."""

from typing import NamedTuple


class Refusal(NamedTuple):
    """Something in a file that is no frame of ours."""

    place: str
    """Where: `line 3`, `packet 12`."""

    reason: str
    """Why, in words that can be counted."""

    detail: str = ""
    """What exactly, for a person."""

    is_foreign: bool = False
    """It is traffic of others: no fault of the file."""


class ForeignError(ValueError):
    """Traffic of no protocol that is spoken here; its text says why."""


class UnreadableError(ValueError):
    """Traffic that is damaged or was not captured whole; its text says why."""
