"""What a token proves, and when a message is too old."""

from typing import Any

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from protocols.signalhub.samples import NOW, SAMPLES
from wireloom.protocols.signalhub import codec
from wireloom.protocols.signalhub.integrity import authenticate, check_fresh, expires_ms
from wireloom.protocols.signalhub.messages import Connect, Heartbeat
from wireloom.protocols.signalhub.tokens import Claims, create
from wireloom.wire.errors import ExpiredError, StaleError
from wireloom.wire.keys import SigningKey
from wireloom.wire.message import Unknown
from wireloom.wire.outcome import Auth

KEY = SigningKey(b"\7" * 32)
OTHER = SigningKey(b"\x08" * 32)
CLAIMS = Claims(sub="user-1", actor_id="browser/client-ui", iss="signal-hub", iat=1)


def connect(token: Any) -> Connect:
    sample = SAMPLES["hub:connect"]
    assert isinstance(sample, Connect)
    return replace(sample, metadata=replace(sample.metadata, auth_token=token))


def heartbeat(**changes: Any) -> Heartbeat:
    sample = SAMPLES["hub:heartbeat"]
    assert isinstance(sample, Heartbeat)
    return replace(sample, **changes)


@pytest.mark.parametrize(
    ("token", "keys", "auth"),
    [
        (create(CLAIMS, key=KEY), [KEY.public], Auth.VALID),
        ("Bearer " + create(CLAIMS, key=KEY), [OTHER.public, KEY.public], Auth.VALID),
        (create(CLAIMS, key=KEY), [OTHER.public], Auth.INVALID),
        (create(CLAIMS, key=KEY), [b"short"], Auth.INVALID),
        (create(CLAIMS, key=KEY), [], Auth.UNKNOWN_KEY),
        (create(CLAIMS, key=b"s" * 32), [KEY.public], Auth.UNCHECKED),
        ("no token", [KEY.public], Auth.INVALID),
        ("", [], Auth.INVALID),
        ("*" * 40, [KEY.public], Auth.UNCHECKED),
        (UNSET, [KEY.public], Auth.UNSIGNED),
    ],
)
def test_the_token_of_a_connect_is_checked(token: Any, keys: list[bytes], auth: Auth) -> None:
    message = connect(token)
    assert authenticate(message, codec.encode(message), keys) is auth


@pytest.mark.parametrize(
    ("signature", "auth"), [("c2ln", Auth.UNCHECKED), (None, Auth.UNSIGNED), (UNSET, Auth.UNSIGNED)]
)
def test_an_envelope_signature_is_not_checked(signature: Any, auth: Auth) -> None:
    assert authenticate(heartbeat(signature=signature), b"", [KEY.public]) is auth


def test_an_unknown_message_is_unsigned() -> None:
    assert authenticate(Unknown(type="hub:teleport", raw=b"{}"), b"{}", []) is Auth.UNSIGNED


@pytest.mark.parametrize(("ttl", "end"), [(5000, NOW + 5000), (1, NOW + 1), (None, None)])
def test_a_lifetime_ends_ttl_after_the_timestamp(ttl: int | None, end: int | None) -> None:
    assert expires_ms(heartbeat(ttl=ttl)) == end


def test_an_absent_ttl_lives_for_ever() -> None:
    assert expires_ms(heartbeat(ttl=UNSET)) is None


def test_a_message_is_fresh_up_to_its_last_millisecond() -> None:
    check_fresh(heartbeat(ttl=5000), now_ms=NOW + 5000)
    with pytest.raises(ExpiredError, match="expired 1 ms ago"):
        check_fresh(heartbeat(ttl=5000), now_ms=NOW + 5001)


def test_a_message_is_stale_after_five_minutes() -> None:
    for ttl in (None, 10**9):
        check_fresh(heartbeat(ttl=ttl), now_ms=NOW + 300_000)
        with pytest.raises(StaleError, match="300001 ms old"):
            check_fresh(heartbeat(ttl=ttl), now_ms=NOW + 300_001)


def test_an_expired_message_is_called_so_even_if_it_is_stale() -> None:
    with pytest.raises(ExpiredError):
        check_fresh(heartbeat(ttl=1), now_ms=NOW + 10**9)
