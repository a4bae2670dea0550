"""The errors of all clients, together."""

from wireloom.live.clients import errors


def test_every_error_is_one_of_a_client() -> None:
    for name in errors.__all__:
        assert issubclass(getattr(errors, name), errors.ClientError)


def test_a_handshake_that_fails_may_have_a_status() -> None:
    assert errors.HandshakeError("no", 403).status == 403
    assert errors.HandshakeError("no").status is None
