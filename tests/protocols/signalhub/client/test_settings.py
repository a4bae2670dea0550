"""What an application can set of its client."""

import pytest

from wireloom.protocols.signalhub.client.settings import ClientSettings
from wireloom.wire.client.backoff import Backoff


def test_the_defaults_are_the_specifications() -> None:
    assert ClientSettings(url="ws://x", address="@(a)").backoff == Backoff()


def test_numbers_have_bounds() -> None:
    with pytest.raises(ValueError, match="dead_after_ms must be 1 at least"):
        ClientSettings(url="ws://x", address="@(a)", dead_after_ms=0)
