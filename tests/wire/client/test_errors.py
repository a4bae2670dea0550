"""Errors are one sentence for a person."""

import pytest

from wireloom.wire.client import errors
from wireloom.wire.client.errors import DeadError, LostError


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
