"""What an application can set of its client."""

from wireloom.protocols.cthun.client.settings import ClientSettings
from wireloom.wire.client.backoff import Backoff


def test_the_defaults_are_the_specifications() -> None:
    assert ClientSettings(url="ws://x", uri="cth://a/b").backoff == Backoff()
