"""A client's session in a test that says what happens to it, step by step.

script = Script(session)
script.opens()            # the application opens it, and the server is reached
script.hears(b"welcome")  # a frame comes in
script.passes(1_000)      # time passes, timers fire
script.sent               # frames that left, newest last
"""

from collections import deque
from collections.abc import Hashable
from typing import Any

from support.contract import Contract
from wireloom.wire.client.application import Ended, Failed, Open
from wireloom.wire.client.session import ClientSession
from wireloom.wire.session import (
    Abandon,
    Close,
    Closed,
    Command,
    Conclude,
    Deliver,
    Dial,
    DialFailed,
    Event,
    FrameReceived,
    Opened,
    Requested,
    Send,
    TimerFired,
    Turn,
    WakeAt,
)

START_MS = 1_700_000_000_000


class Script:
    """Runs a client's session, without sockets and clocks.

    Args:
        session: The session.
    """

    def __init__(self, session: ClientSession[Any, Any]) -> None:
        self.session = session
        self.now_ms = START_MS
        self.line = 0
        self.sent: deque[bytes] = deque()
        self.items: deque[object] = deque()
        """What the application is told, without changes of state."""
        self.closes: list[Close] = []
        self.dials: list[Dial] = []
        """Attempts to connect that are under way."""
        self.timers: dict[Hashable, int] = {}
        self.conclusions: list[Conclude] = []
        self._contract = Contract()
        self._turn = Turn(session.ids)

    def happens(self, event: Event) -> None:
        """Something happens, and what the session wants is done."""
        commands = self._turn.begin(self.now_ms)
        self.session.handle(event, self._turn)
        self._contract.check(event, commands)
        for command in commands:
            self._perform(command)

    def _perform(self, command: Command) -> None:
        match command:
            case Send(line, raw, _, _):
                assert line == self.line
                self.sent.append(raw)
            case Close():
                self.closes.append(command)
            case Dial():
                self.dials.append(command)
            case Abandon(link, address):
                self.dials.remove(Dial(link, address))
            case WakeAt(timer, None):
                self.timers.pop(timer, None)
            case WakeAt(timer, int(at_ms)):
                self.timers[timer] = at_ms
            case Deliver(Ended() | Failed() as item):
                self.items.append(item)
            case Deliver(item) if type(item).__name__ != "Changed":
                self.items.append(item)
            case Conclude():
                self.conclusions.append(command)

    def asks(self, request: object) -> None:
        """The application wants something."""
        self.happens(Requested(request))

    def opens(self) -> None:
        """The application opens the client, and the server is reached."""
        self.asks(Open())
        self.reaches()

    def reaches(self) -> None:
        """The server is reached."""
        dial = self.dials.pop()
        self.line += 1
        self.happens(Opened(self.line, dial.address, dial=dial))

    def misses(self, reason: str = "refused") -> None:
        """The server is not reached."""
        self.happens(DialFailed(self.dials.pop(), reason))

    def hears(self, raw: bytes, *, text: bool = False) -> Conclude:
        """A frame comes in on the connection of the moment."""
        self.happens(FrameReceived(self.line, raw, text))
        return self.conclusions[-1]

    def loses(self, code: int = 1006, reason: str = "") -> None:
        """The connection of the moment is lost."""
        self.happens(Closed(self.line, code, reason))

    def passes(self, ms: int) -> None:
        """Time passes; timers fire when they are due."""
        end_ms = self.now_ms + ms
        while self.timers:
            timer, at_ms = min(self.timers.items(), key=lambda entry: entry[1])
            if at_ms > end_ms:
                break
            self.now_ms = max(self.now_ms, at_ms)
            del self.timers[timer]
            self.happens(TimerFired(timer))
        self.now_ms = end_ms

    def pause_ms(self) -> int:
        """How long it is to the next attempt to connect."""
        return self.timers["retry",] - self.now_ms

    def told(self) -> Any:
        """The oldest thing that the application was told and that was not spoken of."""
        return self.items.popleft()
