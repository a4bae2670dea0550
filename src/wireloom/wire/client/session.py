"""The lifecycle of every client session: one connection after the other, and requests on them.

```
CLOSED → DIALLING → GREETING → RESTORING → UP
            ↑           any of these → RESTING → DIALLING …
```

A protocol's client extends `ClientSession` and says how it greets a server, what it makes of
frames, and how a request is written. Here stands what all clients do alike: the first attempt to
connect is the only one, a connection that was lost is replaced after longer and longer pauses,
requests wait for a connection as long as their time-outs let them, and requests whose answer was
under way fail when the connection is lost.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar, Final, Generic, TypeVar, cast

from wireloom.wire.client.application import (
    Answered,
    Arrived,
    Changed,
    Ended,
    Failed,
    Open,
    Request,
    Unsent,
    Withdraw,
)
from wireloom.wire.client.asks import Settle
from wireloom.wire.client.backoff import Backoff
from wireloom.wire.client.errors import (
    AnswerTimeoutError,
    ClientError,
    ClosedError,
    LostError,
    UnreachableError,
)
from wireloom.wire.client.requests import TIMEOUT, Requests
from wireloom.wire.client.states import TRANSITIONS, State, Step
from wireloom.wire.ids import Ids
from wireloom.wire.outcome import Outcome, Reason
from wireloom.wire.session import (
    Abandon,
    Close,
    Closed,
    Conclude,
    Deliver,
    Dial,
    DialFailed,
    Event,
    FrameReceived,
    FrameRefused,
    Line,
    Opened,
    Requested,
    Send,
    Stopping,
    Store,
    TimerFired,
    Turn,
    WakeAt,
)
from wireloom.wire.states import advance

RETRY_TIMER: Final = ("retry",)
GREETING_TIMER: Final = (TIMEOUT, "greeting")
NORMAL_CLOSURE: Final = 1000
_ABNORMAL_CLOSURE: Final = 1006
"""No close frame came."""

_CONNECTED: Final = frozenset({State.RESTORING, State.UP})
T = TypeVar("T")
R = TypeVar("R", bound=Request)
Timer = tuple[str, ...]
Item = Arrived | Answered | Failed | Changed | Ended


class ClientSession(ABC, Generic[R, T]):
    """One client and its connection; `R` are its requests, `T` the answers to them.

    Args:
        dial: Where the server is.
        ids: What makes the ids of its messages.
        backoff: How long to wait before attempts to reconnect.
        random: Gives a number from 0 to 1.
    """

    server = "the server"
    """What the other end is called in errors."""

    greeting = "the greeting"
    """What the greeting is called in errors."""

    greeting_ms: ClassVar[int]
    """How long the server may take to answer the greeting."""

    text = False
    """Whether its frames are text."""

    def __init__(self, dial: Dial, ids: Ids, backoff: Backoff, random: Callable[[], float]) -> None:
        self.ids = ids
        self.slow: Mapping[str, int] = {}
        self.state = State.CLOSED
        self.line: Line | None = None
        """The connection of the moment."""
        self._requests: Requests[R, T] = Requests(self)
        self.asks = self._requests.asks
        """Requests that wait for an answer."""
        self._dial = dial
        self._backoff = backoff
        self._random = random
        self._timers: set[Timer] = set()
        """Timers that end with the connection."""
        self._failed_count = 0
        """Attempts that failed since the connection was lost."""
        self._is_kept = False
        """Whether a lost connection is replaced: the first attempt has succeeded."""
        self._is_failing = False
        """Whether the connection refuses frames, and its end has not been told yet."""
        self._why: ClientError = ClosedError()
        """Why there is no connection, in state CLOSED."""

    @abstractmethod
    def greet(self, turn: Turn) -> None:
        """Tells the server who the client is; called on every new connection."""

    @abstractmethod
    def hear_greeting(self, event: FrameReceived, turn: Turn) -> Conclude:
        """Takes the answer to the greeting; calls `accept` or `lose`."""

    @abstractmethod
    def hear(self, event: FrameReceived, turn: Turn) -> Conclude:
        """Takes any later frame."""

    @abstractmethod
    def write(self, request: R, turn: Turn) -> bytes:
        """The frame of a request.

        Raises:
            UnsendableError: If it cannot be written.
        """

    @abstractmethod
    def is_final(self, error: ClientError) -> bool:
        """Whether there is no use in connecting again."""

    def prepare(self, request: R, turn: Turn) -> bytes | None:
        """What of a request is written when it is made; None if it is written when it leaves.

        Raises:
            UnsendableError: If it cannot be written.
        """
        del request, turn
        return None

    def leave(self, request: R) -> None:
        """Takes note that a request leaves on the connection of the moment."""

    def stay(self, request: R) -> None:
        """Takes note that the connection did not take a request after all."""

    def note(self, request: R, answer: T) -> None:
        """Takes note of the answer to a request of the application."""

    def restart(self, turn: Turn) -> None:
        """Makes again what the last connection had; calls `restored` when all is done."""
        self.restored(turn)

    def forget_connection(self) -> None:
        """Forgets what belonged to the connection that is gone."""

    def say_goodbye(self, turn: Turn) -> None:
        """Tells the server that the client goes."""

    def overdue(self, request: R) -> AnswerTimeoutError:
        """What to say of a request that took too long."""
        text = "no answer came within" if request.answer else "nothing could be sent for"
        return AnswerTimeoutError(f"{text} {request.seconds:g} s")

    def fire(self, timer: Timer, turn: Turn) -> None:
        """Does what a timer of the protocol's own was set for."""

    @property
    def may_send(self) -> bool:
        """Whether requests may leave now."""
        return self.state is State.UP and not self._is_failing

    @property
    def is_waiting(self) -> bool:
        """Whether an answer is awaited: the client goes on reading then."""
        return len(self.asks) > 0

    @property
    def is_connected(self) -> bool:
        """Whether the server has taken the client."""
        return self.state in _CONNECTED

    def gauges(self) -> dict[str, int]:
        """How much of everything there is now."""
        return {
            "connections": int(self.line is not None),
            "held": self._requests.held_count,
            "asks": len(self.asks),
        }

    def restore(self, records: Iterable[Store], turn: Turn) -> None:
        """Takes up nothing: a client keeps nothing across a crash."""

    def handle(self, event: Event, turn: Turn) -> None:
        """Appends what is to be done about an event."""
        match event:
            case FrameReceived():
                turn.commands.append(self._receive(event, turn))
            case FrameRefused():
                turn.commands.append(Conclude(Outcome.REJECTED, Reason.TOO_LARGE))
            case Requested():
                self._take(event.request, turn)
            case TimerFired():
                self._wake(cast("Timer", event.timer), turn)
            case Opened(line=line):
                self._connect(line, turn)
            case DialFailed(reason=reason) if self.state is State.DIALLING:
                self.lose(UnreachableError(reason), turn)
            case Closed(line=line) if line == self.line:
                self.line = None
                code = None if event.code == _ABNORMAL_CLOSURE else event.code
                self.lose(LostError(code, event.reason), turn)
            case Stopping() if self.state is not State.CLOSED:
                self._stop(turn)

    def accept(self, turn: Turn) -> None:
        """The server has taken the client."""
        self._failed_count = 0
        self._is_kept = True
        self.take_back(GREETING_TIMER, turn)
        self._step(Step.ACCEPTED, turn)
        self.restart(turn)

    def restored(self, turn: Turn) -> None:
        """All is as it was on the last connection: requests may leave."""
        self._step(Step.RESTORED, turn)
        self.release(turn)

    def release(self, turn: Turn) -> None:
        """Lets requests leave that were held, if they may."""
        if self.may_send:
            self._requests.release(turn)

    def lose(self, error: ClientError, turn: Turn) -> None:
        """Gives the connection up, or an attempt to make one; what is asked for waits.

        Another attempt follows, if that makes sense.
        """
        if not self._is_kept or self.is_final(error) or self._failed_count >= self._backoff.tries:
            self._end(error, turn)
            return
        line = self._part(Step.LOST, error, turn)
        pause = self._backoff.seconds(self._failed_count, self._random())
        self._failed_count += 1
        turn.commands.append(WakeAt(RETRY_TIMER, turn.now_ms + round(pause * 1_000)))
        self._hang_up(line, turn)

    def send(self, raw: bytes, turn: Turn) -> None:
        """Sends a frame on the connection of the moment."""
        assert self.line is not None
        turn.commands.append(Send(self.line, raw, self.text))

    def ask_now(self, request: R, settle: Settle[T], turn: Turn) -> None:
        """Asks something of the session's own; a connection that is lost settles nothing."""

        def settle_connected(answer: T | ClientError, turn: Turn) -> None:
            if self.is_connected:
                settle(answer, turn)

        self._requests.ask(request, settle_connected, turn)

    def wake(self, timer: Timer, at_ms: int, turn: Turn) -> None:
        """Sets a timer that ends with the connection."""
        self._timers.add(timer)
        turn.commands.append(WakeAt(timer, at_ms))

    def take_back(self, timer: Timer, turn: Turn) -> None:
        """Ends such a timer."""
        if timer in self._timers:
            self._timers.remove(timer)
            turn.commands.append(WakeAt(timer, None))

    def tell(self, item: Item, turn: Turn) -> None:
        """Tells the application something."""
        turn.commands.append(Deliver(item))

    def _step(self, step: Step, turn: Turn) -> None:
        self.state = advance(TRANSITIONS, self.state, step)
        self.tell(Changed(self.state), turn)

    def _connect(self, line: Line, turn: Turn) -> None:
        if self.state is not State.DIALLING:  # nobody waits for it any more
            turn.commands.append(Close(line, NORMAL_CLOSURE))
            return
        self.line = line
        self._step(Step.CONNECTED, turn)
        self.wake(GREETING_TIMER, turn.now_ms + self.greeting_ms, turn)
        self.greet(turn)

    def _receive(self, event: FrameReceived, turn: Turn) -> Conclude:
        if event.line != self.line:  # it was under way when the client hung up
            return Conclude(Outcome.REJECTED, Reason.UNAUTHENTICATED)
        if self.state is State.GREETING:
            return self.hear_greeting(event, turn)
        return self.hear(event, turn)

    def _wake(self, timer: Timer, turn: Turn) -> None:
        self._timers.discard(timer)
        if timer == RETRY_TIMER:
            self._step(Step.RETRY, turn)
            turn.commands.append(self._dial)
        elif timer == GREETING_TIMER:
            text = f"no answer to {self.greeting} within {self.greeting_ms / 1_000:g} s"
            self.lose(AnswerTimeoutError(text), turn)
        elif not (timer[0] == TIMEOUT and self._requests.time_out(timer[1], turn)):
            self.fire(timer, turn)

    def _take(self, request: object, turn: Turn) -> None:
        match request:
            case Open() if self.state is State.CLOSED:
                self._failed_count = 0
                self._step(Step.OPEN, turn)
                turn.commands.append(self._dial)
            case Withdraw():
                self._requests.withdraw(request.id, turn)
            case Unsent() if self._is_kept:
                self._is_failing = self._is_failing or request.line == self.line
                self._requests.again(cast("R", request.request), turn)
            case Request() if self._is_kept:
                self._requests.begin(cast("R", request), turn)
            case Request(id=message_id) | Unsent(request=Request(id=message_id)):
                self.tell(Failed(self._why, message_id), turn)

    def _part(self, step: Step, error: ClientError, turn: Turn) -> Line | None:
        """Forgets the connection; gives what is left to be closed."""
        self._step(step, turn)
        self.asks.fail_all(error, turn)
        turn.commands += [WakeAt(timer, None) for timer in self._timers]
        self._timers.clear()
        self._is_failing = False
        self.forget_connection()
        line, self.line = self.line, None
        return line

    def _end(self, error: ClientError, turn: Turn) -> None:
        """Connects no more."""
        self._why = error if self._is_kept else ClosedError()
        if self.state is State.RESTING:
            turn.commands.append(WakeAt(RETRY_TIMER, None))
        line = self._part(Step.ENDED, error, turn)
        self._is_kept = False
        self._requests.fail_held(error, turn)
        self.tell(Ended(error), turn)
        self._hang_up(line, turn)

    def _stop(self, turn: Turn) -> None:
        if self.is_connected:
            self.say_goodbye(turn)
        elif self.state is State.DIALLING:
            turn.commands.append(Abandon(self._dial.link, self._dial.address))
        self._end(ClosedError(), turn)

    def _hang_up(self, line: Line | None, turn: Turn) -> None:
        if line is not None:
            turn.commands.append(Close(line, NORMAL_CLOSURE))
