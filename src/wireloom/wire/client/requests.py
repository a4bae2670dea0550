"""The requests of a client: those that wait to leave, and those that wait for an answer."""

from functools import partial
from math import ceil
from typing import Final, Generic, Protocol, TypeVar

from wireloom.wire.client.application import Answered, Failed, Request
from wireloom.wire.client.asks import Asks, Settle
from wireloom.wire.client.errors import (
    AnswerTimeoutError,
    ClientError,
    UnreadableError,
    UnsendableError,
)
from wireloom.wire.session import Deliver, Turn, WakeAt

TIMEOUT: Final = "timeout"
"""Timers that begin with this word limit how long an answer may take; all others are pauses."""

T = TypeVar("T")
R = TypeVar("R", bound=Request)
R_contra = TypeVar("R_contra", bound=Request, contravariant=True)
T_contra = TypeVar("T_contra", contravariant=True)


class Speaker(Protocol[R_contra, T_contra]):
    """What the client of a protocol says about its requests."""

    server: str
    """What the other end is called in errors: `the hub`."""

    @property
    def may_send(self) -> bool:
        """Whether requests may leave now."""

    def prepare(self, request: R_contra, turn: Turn) -> bytes | None:
        """What of a request is written when it is made; None if it is written when it leaves.

        Raises:
            UnsendableError: If it cannot be written.
        """

    def write(self, request: R_contra, turn: Turn) -> bytes:
        """The frame of a request that leaves.

        Raises:
            UnsendableError: If it cannot be written.
        """

    def send(self, raw: bytes, turn: Turn) -> None:
        """Sends a frame on the connection of the moment."""

    def leave(self, request: R_contra) -> None:
        """Takes note that a request leaves on the connection of the moment."""

    def stay(self, request: R_contra) -> None:
        """Takes note that the connection did not take a request after all."""

    def note(self, request: R_contra, answer: T_contra) -> None:
        """Takes note of the answer to a request of the application."""

    def overdue(self, request: R_contra) -> AnswerTimeoutError:
        """What to say of a request that took too long."""


class Requests(Generic[R, T]):
    """All requests that are not settled yet, by the ids of their messages.

    Args:
        speaker: The session whose requests they are.
    """

    def __init__(self, speaker: Speaker[R, T]) -> None:
        self.asks: Asks[T] = Asks()
        """Those that were sent and wait for an answer."""
        self._speaker = speaker
        self._held: dict[str, tuple[R, bytes | None]] = {}
        """Those that wait until they may leave, and what is written of them already."""
        self._limited: dict[str, R] = {}
        """Those whose time-out is set."""

    @property
    def held_count(self) -> int:
        """How many wait until they may leave."""
        return len(self._held)

    def begin(self, request: R, turn: Turn) -> None:
        """Lets a request of the application leave, or holds it until it may."""
        try:
            written = self._speaker.prepare(request, turn)
        except UnsendableError as error:
            self.settle(request, error, turn)
            return
        may_send = self._speaker.may_send
        if request.answer is not None or not may_send:
            self._limit(request, turn)
        if may_send:
            self._dispatch(request, written, turn)
        else:
            self._held[request.id] = (request, written)

    def ask(self, request: R, settle: Settle[T], turn: Turn) -> None:
        """Sends a request of the session's own, whether others may leave or not."""
        self._limit(request, turn)
        self._expect(request, settle)
        self._speaker.send(self._speaker.write(request, turn), turn)

    def release(self, turn: Turn) -> None:
        """Lets all leave that are held."""
        held, self._held = self._held, {}
        for request, written in held.values():
            self._dispatch(request, written, turn)

    def again(self, request: R, turn: Turn) -> None:
        """Holds a request that was sent, but that the connection did not take."""
        self.asks.forget(request.id)
        self._speaker.stay(request)
        self.begin(request, turn)

    def withdraw(self, message_id: str, turn: Turn) -> None:
        """Forgets a request that nobody waits for any more."""
        self._held.pop(message_id, None)
        self.asks.forget(message_id)
        self._unlimit(message_id, turn)

    def time_out(self, message_id: str, turn: Turn) -> bool:
        """Fails a request that took too long; gives whether there is one."""
        request = self._limited.get(message_id)
        if request is None:
            return False
        error = self._speaker.overdue(request)
        if self._held.pop(message_id, None) is not None:
            self.settle(request, error, turn)
        else:
            self.asks.answer(message_id, error, turn)
        return True

    def fail_held(self, error: ClientError, turn: Turn) -> None:
        """Fails all that wait to leave."""
        held, self._held = self._held, {}
        for request, _ in held.values():
            self.settle(request, error, turn)

    def settle(self, request: R, answer: T | ClientError | None, turn: Turn) -> None:
        """Tells the application what became of its request; None is for one that was sent."""
        self._unlimit(request.id, turn)
        if isinstance(answer, ClientError):
            turn.commands.append(Deliver(Failed(answer, request.id)))
            return
        if answer is not None:
            self._speaker.note(request, answer)
        turn.commands.append(Deliver(Answered(request.id, answer)))

    def _dispatch(self, request: R, written: bytes | None, turn: Turn) -> None:
        try:
            raw = self._speaker.write(request, turn) if written is None else written
        except UnsendableError as error:
            self.settle(request, error, turn)
            return
        if request.answer is not None:
            self._expect(request, partial(self.settle, request))
        self._speaker.leave(request)
        self._speaker.send(raw, turn)
        if request.answer is None:
            self.settle(request, None, turn)

    def _expect(self, request: R, settle: Settle[T]) -> None:
        wanted = request.answer
        assert wanted is not None

        def settle_checked(answer: T | ClientError, turn: Turn) -> None:
            self._unlimit(request.id, turn)
            if not isinstance(answer, wanted | ClientError):
                name = type(answer).__name__
                answer = UnreadableError(f"{self._speaker.server} answers with {name}")
            settle(answer, turn)

        self.asks.expect(request.id, wanted, settle_checked)

    def _limit(self, request: R, turn: Turn) -> None:
        if request.id not in self._limited:
            self._limited[request.id] = request
            at_ms = turn.now_ms + ceil(request.seconds * 1_000)
            turn.commands.append(WakeAt((TIMEOUT, request.id), at_ms))

    def _unlimit(self, message_id: str, turn: Turn) -> None:
        if self._limited.pop(message_id, None) is not None:
            turn.commands.append(WakeAt((TIMEOUT, message_id), None))
