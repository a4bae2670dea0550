"""What an operator can set of a session: every limit and every time, with its default."""

from typing import ClassVar, Final

from msgspec import Struct
from msgspec.structs import fields

MAX_NUMBER: Final = 1 << 40
"""More bytes or things than any machine has: a limit that is none by accident."""

MAX_MS: Final = 366 * 24 * 3_600_000
"""Longer times are in no calendar that anybody plans with."""


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of one session.

    Settings whose default is a whole number are checked when they are made.

    Raises:
        ValueError: If a number is out of its bounds, or two cannot work together.
    """

    LEAST: ClassVar[dict[str, int]] = {}
    """Settings that must be more than 1, and what they are at least."""

    MOST: ClassVar[dict[str, int]] = {}
    """Settings that must be less than what any number may be, and what they are at most."""

    RISING: ClassVar[tuple[tuple[str, str], ...]] = ()
    """Pairs of settings of which the first must be less than the second."""

    def __post_init__(self) -> None:
        """Refuses what cannot work; msgspec passes a ValueError on as its own."""
        for field in fields(self):
            if type(field.default) is int:
                self._check(field.name, getattr(self, field.name))
        for lower, higher in self.RISING:
            if getattr(self, lower) >= getattr(self, higher):
                raise ValueError(f"{lower} must be less than {higher}")

    def _check(self, name: str, value: object) -> None:
        if type(value) is not int:
            raise ValueError(f"{name} must be a whole number")
        least = self.LEAST.get(name, 1)
        most = self.MOST.get(name, MAX_MS if name.endswith("_ms") else MAX_NUMBER)
        if value < least:
            raise ValueError(f"{name} must be {least} at least")
        if value > most:
            raise ValueError(f"{name} must be {most} at most")
