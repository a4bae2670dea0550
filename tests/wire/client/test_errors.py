"""Errors are one sentence for a person."""

import pytest

from wireloom.live.clients import errors
from wireloom.live.clients.errors import DeadError, FaultError, LostError, RateLimitedError
from wireloom.protocols.signalhub.constants import ErrorCode


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (LostError(None), "the connection was lost"),
        (LostError(1001), "the connection was lost: code 1001"),
        (LostError(None, "bye"), "the connection was lost: bye"),
        (LostError(1001, "bye"), "the connection was lost: bye, code 1001"),
        (DeadError(), "the connection was lost: heartbeats stay without answer"),
        (errors.ClosedError(), "the client is not open"),
    ],
)
def test_the_text_says_what_happened(error: errors.ClientError, text: str) -> None:
    assert str(error) == text


def test_a_time_out_is_one_for_everyone() -> None:
    assert issubclass(errors.AnswerTimeoutError, TimeoutError)


def test_whether_to_try_again_follows_from_the_code_if_nothing_is_said() -> None:
    assert RateLimitedError("x", ErrorCode.RATE_LIMITED).retryable
    assert not FaultError("x", ErrorCode.MESSAGE_EXPIRED).retryable
    assert not FaultError("x", ErrorCode.INTERNAL_ERROR, retryable=False).retryable
