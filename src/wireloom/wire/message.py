"""The base of every message, and what all messages have in common.

A message is declared once: frozen, keyword-only, fields in wire order, each with a string
under it that says unit, range and meaning. Codec, plain form, test data and field tables
derive from that declaration.
"""

from enum import StrEnum
from typing import ClassVar, Final

import msgspec

_PRIORITY_RANKS: Final = {0: 0, 1: 2, 2: 4}


class Message(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One decoded message, or a part of one.

    `derived` names the properties that stand on the wire but follow from the fields
    (lengths, counts). They show in the plain form and are checked there, not stored.
    """

    derived: ClassVar[tuple[str, ...]] = ()


class Unknown(Message, frozen=True, kw_only=True):
    """A well-framed message of a type that this version does not know.

    Only lenient decoding gives one, so that a relay can carry what it cannot read. It is
    passed on as the bytes it came in and is never encoded anew.
    """

    type: str
    """The type as the frame gives it."""

    raw: bytes
    """The whole frame."""


class Cast(StrEnum):
    """How many receivers a message is meant for."""

    UNICAST = "unicast"
    MULTI = "multi"
    WILDCARD = "wildcard"
    TOPIC = "topic"
    CLUSTER = "cluster"
    BROADCAST = "broadcast"


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """What every protocol can say of a message: the columns that all five share."""

    type: str
    """The message type by the name that its own specification uses."""

    id: str | None = None
    """The message's identity: lower-case hex for bytes, otherwise as written."""

    source: str | None = None
    """Who sent it: lower-case hex for bytes, otherwise as written."""

    destination: str | tuple[str, ...] | None = None
    """For whom it is. A tuple where the protocol addresses a list of targets."""

    created_ms: int | None = None
    """When it was made by its sender's clock, in ms since 1970."""

    expires_ms: int | None = None
    """When its lifetime ends, in ms since 1970."""

    priority_rank: int | None = None
    """0 (most urgent) to 4 (least), on one scale for all protocols."""

    cast: Cast | None = None
    """How many it is meant for."""

    hops: int | None = None
    """How many nodes carried it so far, as far as the frame tells."""

    reply_to: str | None = None
    """The id of the message that this one answers, acknowledges or reports on."""

    payload_size: int | None = None
    """Bytes of the frame that are the application's, or the body behind the header."""


def rank_of_three(priority: int | None) -> int | None:
    """The rank of a priority that goes from 0 (urgent) to 2 (bulk)."""
    return None if priority is None else _PRIORITY_RANKS[priority]
