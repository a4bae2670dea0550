"""The envelope that every Signal Hub message has, and the parts that several share.

Absent and null are two things on the wire. A field that may be absent is `UNSET` then, and
has no other default: the codec's check for duplicate keys relies on it (R21).
"""

from typing import Annotated, Any, ClassVar, Final, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from wireloom.protocols.signalhub.constants import (
    ADDRESS_PATTERN,
    MAX_GLOB_SIZE,
    MAX_INTEGER,
    MAX_SEMVER_SIZE,
    SEMVER_PATTERN,
    TOPIC_PATTERN,
    UUID_PATTERN,
)
from wireloom.wire.fields import Millis
from wireloom.wire.message import Message

Uuid = Annotated[
    str,
    Meta(
        pattern=UUID_PATTERN,
        extra={
            "size": "36 characters",
            "looks": "an id is a UUID such as 7c9e6679-7425-40de-944b-e07fc1f90ae7",
        },
    ),
]
Address = Annotated[
    str,
    Meta(
        pattern=ADDRESS_PATTERN,
        extra={"size": "`@(…)`", "looks": "an address looks like @(desk/bob)"},
    ),
]
Topic = Annotated[
    str,
    Meta(
        pattern=TOPIC_PATTERN,
        extra={
            "size": "1 to 256 characters",
            "looks": "a topic has 1 to 256 letters, digits, / _ and -, as in news/today",
        },
    ),
]
Glob = Annotated[
    str, Meta(min_length=1, max_length=MAX_GLOB_SIZE, extra={"size": "1 to 256 characters"})
]
Semver = Annotated[
    str,
    Meta(
        pattern=SEMVER_PATTERN,
        max_length=MAX_SEMVER_SIZE,
        extra={"size": "semver", "looks": "a version looks like 0.1.0"},
    ),
]
Count = Annotated[int, Meta(ge=0, le=MAX_INTEGER, extra={"size": "0 or more"})]
Positive = Annotated[int, Meta(ge=1, le=MAX_INTEGER, extra={"size": "1 or more"})]
TypeName = Annotated[str, Meta(min_length=1, extra={"size": "1 character or more"})]
Names = tuple[str, ...]
SomeNames = Annotated[tuple[str, ...], Meta(min_length=1, extra={"size": "1 or more"})]

M = TypeVar("M", bound="SharedMessage")


class Part(Message, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """An object within a message; it takes no fields but its own (R23)."""


class SharedMessage(Message, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """The envelope. Each type narrows what its specification fixes."""

    empty_metadata: ClassVar[type[object]] = dict
    """Makes the metadata of a message that has none to give."""

    id: Uuid
    """The message's own id."""

    from_: Address
    """Who sends it: a client's own address, or one that it registered (R16)."""

    to: Address
    """For whom it is: the hub, or the receiving actor."""

    pattern: Literal["tell", "ask"]
    """Whether an answer is expected (`ask`) or not (`tell`)."""

    correlation_id: Uuid | None | UnsetType = UNSET
    """The request that this answers, if any."""

    timestamp: Millis
    """When it was made, in ms since 1970."""

    payload: Any = UNSET
    """What it says."""

    metadata: Any = UNSET
    """What is said about it."""

    ttl: Positive | None | UnsetType = UNSET
    """Lifetime in ms from `timestamp` on; null lives for ever."""

    signature: str | None | UnsetType = UNSET
    """Reserved for a signature over the envelope."""


class Tell(SharedMessage, frozen=True, kw_only=True):
    """A message that is not asked for an answer."""

    pattern: Literal["tell"]
    """Always `tell`."""

    metadata: dict[str, Any] | UnsetType = UNSET
    """Free."""


class Ask(SharedMessage, frozen=True, kw_only=True):
    """A message that asks for an answer."""

    pattern: Literal["ask"]
    """Always `ask`."""

    metadata: dict[str, Any] | UnsetType = UNSET
    """Free."""


class Response(Tell, frozen=True, kw_only=True):
    """An answer: told, and linked to the request (R9)."""

    correlation_id: Uuid
    """The request's id."""


class Inner(Part, frozen=True, kw_only=True):
    """The application's message that the hub carries."""

    type: TypeName
    """The application's type; it becomes the type of what the recipient gets (R20)."""

    payload: Any
    """The application's payload, free."""


class ActorRegistration(Part, frozen=True, kw_only=True):
    """One registered actor."""

    actor_address: Address
    """Where messages reach it."""

    capabilities: Names
    """What it can do."""

    metadata: dict[str, Any]
    """What it told of itself, free."""

    connection_id: str
    """The connection it registered on."""

    registered_at: Millis
    """When it registered, in ms since 1970."""

    expires_at: Millis
    """When the registration ends, in ms since 1970."""

    version: Count
    """Counts the registrations of this address; the highest holds."""


_NULLS: Final = ("correlation_id", "payload", "ttl", "signature")


def emitted(message: M) -> M:
    """`message` as a hub or client sends it: null for what it has not got (R17).

    What is absent in a message that came from outside stays absent when it is encoded, so
    that it comes out as it came in. Messages made here go through this first.
    """
    absent: dict[str, Any] = {
        name: None for name in _NULLS if getattr(message, name, None) is UNSET
    }
    if message.metadata is UNSET:
        absent["metadata"] = type(message).empty_metadata()
    return msgspec.structs.replace(message, **absent) if absent else message
