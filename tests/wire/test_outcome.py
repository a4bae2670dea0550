"""The closed lists: values that stored tables hold."""

from wireloom.wire.outcome import Auth, Fate, Outcome, Reason


def test_outcomes() -> None:
    assert " ".join(Outcome) == (
        "accepted delivered forwarded queued acked duplicate expired rejected cancelled"
    )


def test_reasons() -> None:
    assert " ".join(Reason) == (
        "malformed unsupported_version unknown_type too_large bad_signature bad_pow unknown_key "
        "unauthenticated unauthorized stale future ttl_exceeded expired duplicate rate_limited "
        "queue_full no_route unknown_destination decrypt_failed cancelled internal"
    )


def test_auth() -> None:
    assert " ".join(Auth) == "valid invalid unsigned unknown_key unchecked"


def test_fates_strongest_first() -> None:
    assert " ".join(Fate) == "delivered cancelled rejected expired in_flight lost"
