"""The records of a peer: each message of a flow, and who brought it.

A record is written once and forgotten when its message has expired. What cannot be read is set
aside under a kind of its own, where it is counted.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

import msgspec
from msgspec import Struct

from wireloom.protocols.uep12.codec import decode
from wireloom.protocols.uep12.constants import MESSAGE_KIND, UNREADABLE_KIND
from wireloom.protocols.uep12.messages import Content
from wireloom.wire.errors import MalformedError, WireError
from wireloom.wire.session import Command, Forget, Store

_encode: Final = msgspec.msgpack.Encoder().encode


class Kept(Struct, array_like=True):
    """What is stored of a message."""

    owner: str
    """Whose share of the room it takes."""

    raw: bytes


class Found(NamedTuple):
    """What an earlier life stored."""

    messages: dict[str, list[tuple[Content, Kept]]]
    """By the name of the swarm, oldest first."""

    commands: list[Command]
    """Set aside what cannot be read."""

    unreadable_count: int
    """How much of that there is, what was set aside before included."""


def stored(swarm: str, msg_hash: bytes, owner: str, raw: bytes) -> Store:
    """The record of a message."""
    return Store(MESSAGE_KIND, _key(swarm, msg_hash), _encode(Kept(owner, raw)))


def forgotten(swarm: str, msg_hash: bytes) -> Forget:
    """The end of that record."""
    return Forget(MESSAGE_KIND, _key(swarm, msg_hash))


def found(records: Iterable[Store]) -> Found:
    """What there is in the records of an earlier life; those of other kinds are not looked at."""
    messages: dict[str, list[tuple[Content, Kept]]] = {}
    aside: list[Command] = []
    count = 0
    for record in records:
        count += record.kind == UNREADABLE_KIND
        if record.kind != MESSAGE_KIND:
            continue
        try:
            one = _read(record)
        except (msgspec.MsgspecError, WireError):
            count += 1
            aside.append(Store(UNREADABLE_KIND, f"{record.kind} {record.key}", record.value))
            aside.append(Forget(record.kind, record.key))
        else:
            messages.setdefault(record.key.rpartition(" ")[0], []).append(one)
    for kept in messages.values():
        kept.sort(key=lambda one: one[0].timestamp)
    return Found(messages, aside, count)


def _read(record: Store) -> tuple[Content, Kept]:
    kept = msgspec.msgpack.decode(record.value, type=Kept)
    message = decode(kept.raw)
    if not isinstance(message, Content):
        raise MalformedError("no CONTENT is stored here")
    return message, kept


def _key(swarm: str, msg_hash: bytes) -> str:
    return f"{swarm} {msg_hash.hex()}"
