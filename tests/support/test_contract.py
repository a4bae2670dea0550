"""A session that breaks the contract does not get through the harness."""

from collections.abc import Sequence

import pytest

from support.contract import Contract
from wireloom.wire.outcome import Outcome, Reason
from wireloom.wire.session import (
    Admit,
    Alive,
    Close,
    Closed,
    Command,
    Conclude,
    Event,
    Forget,
    FrameReceived,
    Opened,
    Send,
    Spread,
    Store,
)

FRAME = FrameReceived(1, b"x")
TAKEN = Conclude(Outcome.ACCEPTED)


def check(event: Event | None, commands: Sequence[Command]) -> None:
    contract = Contract([Store("kind", "old", b"")])
    contract.check(Opened(1, "peer"), [Admit(1)])
    contract.check(event, commands)


@pytest.mark.parametrize(
    ("event", "commands"),
    [
        (FRAME, [Send(1, b"y"), TAKEN]),
        (FRAME, [Store("kind", "new", b""), Forget("kind", "old"), Forget("kind", "new"), TAKEN]),
        (FRAME, [Spread([1], [b"y"], False, None), Close(1, 1000, "bye"), TAKEN]),
        (FRAME, [Conclude(Outcome.REJECTED, Reason.MALFORMED)]),
        (Closed(1, 1000), []),
        (Opened(2, "peer"), [Send(2, b"y"), Send(1, b"y")]),
    ],
)
def test_what_a_session_may_want(event: Event, commands: Sequence[Command]) -> None:
    check(event, commands)


@pytest.mark.parametrize(
    ("event", "commands"),
    [
        (FRAME, []),
        (FRAME, [TAKEN, TAKEN]),
        (FRAME, [TAKEN, Send(1, b"y")]),
        (FRAME, [Conclude(Outcome.REJECTED)]),
        (FRAME, [Conclude(Outcome.ACCEPTED, Reason.MALFORMED)]),
        (Alive(1), [TAKEN]),
        (None, [TAKEN]),
        (Alive(1), [Send(2, b"y")]),
        (Alive(1), [Admit(2)]),
        (Alive(1), [Close(1, 1000, ""), Send(1, b"y")]),
        (Alive(1), [Close(1, 1000, ""), Close(1, 1000, "")]),
        (Alive(1), [Spread([1, 2], [b"y", b"y"], False, None)]),
        (Alive(1), [Spread([1], [b"y", b"y"], False, None)]),
        (Closed(1, 1000), [Send(1, b"y")]),
        (Opened(1, "peer"), []),
        (Alive(1), [Forget("kind", "none")]),
        (Alive(1), [Forget("kind", "old"), Forget("kind", "old")]),
    ],
)
def test_what_a_session_may_not_want(event: Event | None, commands: Sequence[Command]) -> None:
    with pytest.raises(AssertionError):
        check(event, commands)
