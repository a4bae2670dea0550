"""What a hub refuses, as exceptions."""

from wireloom.protocols.signalhub.client.errors import FaultError, RateLimitedError
from wireloom.protocols.signalhub.constants import ErrorCode


def test_whether_to_try_again_follows_from_the_code_if_nothing_is_said() -> None:
    assert RateLimitedError("x", ErrorCode.RATE_LIMITED).retryable
    assert not FaultError("x", ErrorCode.MESSAGE_EXPIRED).retryable
    assert not FaultError("x", ErrorCode.INTERNAL_ERROR, retryable=False).retryable
