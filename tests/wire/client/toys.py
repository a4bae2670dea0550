"""A protocol of a few words, for the client of no protocol in particular.

The server says `welcome`, `answer <id> <word>`, `end`; the client says `hello`, its requests by
their id, and `goodbye`.
"""

from wireloom.wire.client.application import Arrived, Request
from wireloom.wire.client.backoff import Backoff
from wireloom.wire.client.errors import ClientError, LostError, UnreadableError, UnsendableError
from wireloom.wire.client.session import ClientSession
from wireloom.wire.ids import Ids
from wireloom.wire.outcome import Outcome
from wireloom.wire.session import Conclude, Dial, FrameReceived, Turn


class ToyClient(ClientSession[Request, str]):
    """A client of a server that speaks in words."""

    greeting_ms = 5_000

    def __init__(self) -> None:
        super().__init__(Dial("tcp", "server:1"), Ids("toy"), Backoff(), lambda: 0.5)
        self.left: list[str] = []

    def greet(self, turn: Turn) -> None:
        self.send(b"hello", turn)

    def hear_greeting(self, event: FrameReceived, turn: Turn) -> Conclude:
        if event.raw == b"welcome":
            self.accept(turn)
        else:
            self.lose(UnreadableError(event.raw.decode()), turn)
        return Conclude(Outcome.ACCEPTED)

    def hear(self, event: FrameReceived, turn: Turn) -> Conclude:
        match event.raw.decode().split():
            case ["answer", about, word]:
                self.asks.answer(about, word, turn)
            case ["end"]:
                self.lose(LostError(None, "end"), turn)
            case _:
                self.tell(Arrived(event.raw), turn)
        return Conclude(Outcome.ACCEPTED)

    def write(self, request: Request, turn: Turn) -> bytes:
        if request.id == "bad":
            raise UnsendableError("it is bad")
        return request.id.encode()

    def leave(self, request: Request) -> None:
        self.left.append(request.id)

    def stay(self, request: Request) -> None:
        self.left.remove(request.id)

    def is_final(self, error: ClientError) -> bool:
        return isinstance(error, LostError) and error.code == 4000

    def say_goodbye(self, turn: Turn) -> None:
        self.send(b"goodbye", turn)


def ask(message_id: str, seconds: float = 5) -> Request:
    """A request with an answer."""
    return Request(id=message_id, seconds=seconds, answer=str)


def tell(message_id: str, seconds: float = 5) -> Request:
    """A request without one."""
    return Request(id=message_id, seconds=seconds)
