"""What a peer and the application on its side say to each other.

The application asks by `Requested(Post)`, `Requested(Withdraw)` and `Requested(Confirm)`. The
session tells by `Deliver` of `Met`, `Received`, `Posted`, `Refused`, `Confirmed` and `Synced`.
"""

from msgspec import Struct

from wireloom.protocols.uep12.messages import Content


class Post(Struct, frozen=True, kw_only=True):
    """A message is to be composed and told to a swarm."""

    id: str
    """What `Posted` or `Refused` will call it."""

    payload: bytes
    ttl_epoch: int
    swarm: str = ""
    """The swarm's name; the first one, if empty."""


class Withdraw(Struct, frozen=True):
    """A message is not to be told any more, if its work is still being searched."""

    id: str


class Confirm(Struct, frozen=True, kw_only=True):
    """Some other peer is to show that it has a message of this flow: `Confirmed` tells of it.

    The message is pushed again and pulled back, until a copy of it comes.
    """

    msg_hash: bytes
    swarm: str = ""


class Met(Struct, frozen=True):
    """A peer has proven that it hears what is sent to it."""

    swarm: str
    address: str


class Received(Struct, frozen=True):
    """A message is new in a flow, whoever wrote it."""

    swarm: str
    msg_hash: bytes
    content: Content


class Posted(Struct, frozen=True):
    """A message was stored and told to the peers."""

    id: str
    msg_hash: bytes


class Refused(Struct, frozen=True):
    """A message cannot be posted."""

    id: str
    why: str


class Confirmed(Struct, frozen=True):
    """Another peer has shown that it has a message."""

    msg_hash: bytes


class Synced(Struct, frozen=True):
    """A peer has been asked for the whole flow, and there is nothing more that it has."""

    swarm: str
