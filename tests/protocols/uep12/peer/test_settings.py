"""Settings that can work."""

import pytest
from msgspec.structs import replace

from wireloom.protocols.uep12.peer.settings import Membership, PeerSettings


def test_the_defaults_work() -> None:
    assert PeerSettings().memberships == (Membership(),)


def test_a_message_lives_one_epoch_at_least() -> None:
    assert Membership(epoch_ms=10, max_ttl=0).max_lifetime_ms == 10
    assert Membership(epoch_ms=10, max_ttl=7).max_lifetime_ms == 70


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"memberships": (Membership(), Membership(link="x"))}, "the same name"),
        ({"memberships": (Membership(), Membership(name="x"))}, "the same link"),
        ({"answer_size": 100}, "answer_size must be 11264 at least"),
        ({"max_message_size": 20_000}, "max_message_size must be 11264 at most"),
        ({"pull_count": 0}, "pull_count must be 1 at least"),
    ],
)
def test_what_cannot_work_is_refused(changes: dict[str, object], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        replace(PeerSettings(), **changes)
