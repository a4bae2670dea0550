"""What a client's session and the application on its side say to each other.

The application asks by `Requested(request)`, where a request is one of `Open`, `Withdraw`, `Unsent`
and the protocol's own kinds of `Request`. The session tells by `Deliver(item)`, where an item is
one of `Arrived`, `Answered`, `Failed`, `Changed` and `Ended`. A request is known by the id that
its message has on the wire; the session's `ids` makes one.
"""

from msgspec import Struct

from wireloom.wire.client.errors import ClientError
from wireloom.wire.client.states import State
from wireloom.wire.session import Line


class Open(Struct, frozen=True):
    """A connection is wanted: one attempt is made, and a connection that is lost is replaced.

    `Changed` tells that it is there, and `Ended` that the attempt failed.
    """


class Request(Struct, frozen=True, kw_only=True):
    """A message is to be sent; `Answered` or `Failed` tells how it went.

    It leaves as soon as the client is connected and the server does not hold it back.
    """

    id: str
    """The id of the message; no other has it."""

    seconds: float
    """How long to wait, for permission to send and for the answer together."""

    answer: type | None = None
    """The class of the answer; None where the server does not answer."""


class Withdraw(Struct, frozen=True):
    """Nobody waits for the answer to a request any more."""

    id: str


class Unsent(Struct, frozen=True):
    """A connection did not take the message of this request: it is to leave on the next one."""

    request: Request
    line: Line
    """Which connection."""


class Arrived(Struct, frozen=True):
    """A message of others has come."""

    message: object


class Answered(Struct, frozen=True):
    """The answer to a request has come; if none is expected, its message was sent."""

    id: str
    answer: object = None


class Failed(Struct, frozen=True):
    """Something failed."""

    error: ClientError
    id: str | None = None
    """The request that failed; None for what nobody waits for."""


class Changed(Struct, frozen=True):
    """The client's connection is in another state."""

    state: State


class Ended(Struct, frozen=True):
    """No connection follows, until one is asked for again."""

    error: ClientError
    """Why; a `ClosedError` if the application wanted it."""
