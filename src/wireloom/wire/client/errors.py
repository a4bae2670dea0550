"""What can go wrong for the client of any protocol.

    ClientError
      UnreachableError      the server could not be reached
      LostError             the connection ended; has the server's code and reason
        DeadError           heartbeats stay without answer
      AnswerTimeoutError    no answer came in time; a TimeoutError, too
      ClosedError           the client itself was closed
      UnsendableError       a message cannot be written, or is not for the wire
      UnreadableError       an answer came, or something else, that nobody understands

A session hands these to its application, which raises them. The text of each is one sentence for
a person.
"""


class ClientError(Exception):
    """Something went wrong; the text says what."""


class UnreachableError(ClientError):
    """Nobody listens at the address."""


class LostError(ClientError):
    """The connection ended.

    Args:
        code: The WebSocket close code, if one came.
        reason: Why, in the server's words, if it said.
    """

    def __init__(self, code: int | None, reason: str = "") -> None:
        known = [f"{reason}"] if reason else []
        known += [f"code {code}"] if code is not None else []
        super().__init__("the connection was lost" + (f": {', '.join(known)}" if known else ""))
        self.code = code
        self.reason = reason


class DeadError(LostError):
    """The other side does not answer heartbeats any more."""

    def __init__(self) -> None:
        super().__init__(None, "heartbeats stay without answer")


class AnswerTimeoutError(ClientError, TimeoutError):
    """No answer came in time. Whether the request was done is not known."""


class ClosedError(ClientError):
    """The client was closed, or was never opened."""

    def __init__(self) -> None:
        super().__init__("the client is not open")


class UnsendableError(ClientError):
    """A message cannot be sent as it is."""


class UnreadableError(ClientError):
    """The server said what nobody understands."""
