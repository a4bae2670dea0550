"""Scopes: what the rows of a table depend on, declared beside its columns.

`analyse` computes anew what new frames touch, and nothing else. Which rows these are follows from
the scope: those of the messages that new frames are or refer to, of their contents, or of their
minutes. A table whose rows depend on more is computed from all frames of its protocol and types.
"""

from enum import Enum
from typing import Final, NamedTuple

from wireloom.pipeline.tables import Table

MENTIONS: Final = ("message_id", "reply_to")
"""Columns of a frame that name a message."""


CHANGED: Final = "changed"
"""Counts the slices up to which rows of a table changed."""

REMADE: Final = "remade"
"""Counts the slices up to which any row of a table may have changed, whatever its key."""


class By(Enum):
    """What rows depend on."""

    MESSAGE = "message_id"
    """All frames that are a message or refer to it."""

    CONTENT = "content"
    """All frames of the same content."""

    FRAME = "sighting"
    """One frame alone."""

    MINUTE = "minute"
    """All frames, decoded or refused, of the same minute."""

    NODE = "node"
    """What a node did so far and what it does now can be joined."""

    WHOLE = "whole"
    """All frames of the table's protocol and types."""

    @property
    def key(self) -> str:
        """The column of the table that tells which rows are computed anew."""
        return self.value


class Waits(NamedTuple):
    """Rows that have one value in a column of the table: when their time has come they change."""

    column: str
    value: str
    until: str | None = None
    """The column that says when; without one they may change at any time."""

    @property
    def columns(self) -> list[str]:
        """The columns that tell."""
        return [self.column] if self.until is None else [self.column, self.until]


class Scope(NamedTuple):
    """What the rows of a table depend on."""

    by: By
    looks_at: tuple[str, ...] = ()
    """The columns of sightings that its transform reads, fields of a struct by their path."""

    protocol: str | None = None
    """The only protocol whose frames it reads; None for all."""

    types: tuple[str, ...] = ()
    """The only message types that it reads; none for all."""

    refused: tuple[str, ...] = ()
    """The columns of `quarantine` that it reads."""

    made_of: tuple[Table, ...] = ()
    """The other tables that it reads."""

    mentions: tuple[str, ...] = ()
    """Further columns of a frame that name a message."""

    waits: Waits | None = None
    """Rows that change by themselves as time goes on (by message)."""

    has_horizon: bool = False
    """Whether rows change by themselves as time goes on (whole tables)."""
