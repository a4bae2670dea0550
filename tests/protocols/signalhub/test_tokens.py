"""JSON Web Tokens: signatures, claims, times."""

import base64
import hmac
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import replace

from support.cases import vectors
from wireloom.protocols.signalhub.tokens import (
    Algorithm,
    Claims,
    bare,
    check_secret,
    create,
    is_signed,
    take_claims,
    take_jws,
    verify,
)
from wireloom.wire.errors import ExpiredError, UnauthenticatedError, WireError
from wireloom.wire.keys import SigningKey

NOW_S = 1_739_731_000
NOW_MS = NOW_S * 1000
DAY_S = 86_400
SECRET = b"s" * 32
KEY = SigningKey(b"\7" * 32)
CLAIMS = Claims(
    sub="user-1",
    actor_id="browser/client-ui",
    capabilities=("send",),
    iss="signal-hub",
    iat=NOW_S,
    exp=NOW_S + 3600,
)
GOOD = {"sub": "a", "actorId": "a", "iat": NOW_S, "iss": "signal-hub"}
JWS = [vector for vector in vectors("signalhub") if vector.get("check") == "jws"]


def part(value: Any) -> str:
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def token(header: Any, claims: Any, signature: bytes = b"") -> str:
    return f"{part(header)}.{part(claims)}.{part(signature)}"


@pytest.mark.parametrize("vector", JWS, ids=lambda vector: vector["name"])
def test_signatures_of_the_standards_hold(vector: dict[str, Any]) -> None:
    text, expect = bytes.fromhex(vector["hex"]).decode(), vector["expect"]
    if not expect["ok"]:
        with pytest.raises(WireError) as caught:
            take_jws(text)
        assert caught.value.reason == expect["reason"]
        return
    jws = take_jws(text)
    secrets = [bytes.fromhex(key)] if (key := expect.get("secret")) else []
    public_keys = [bytes.fromhex(key)] if (key := expect.get("public_key")) else []
    assert jws.algorithm == expect["algorithm"]
    assert is_signed(jws, secrets=secrets, public_keys=public_keys)
    spoilt = jws._replace(signature=jws.signature[:-1] + b"\0")
    assert not is_signed(spoilt, secrets=secrets, public_keys=public_keys)
    assert not is_signed(jws._replace(signed=jws.signed + b"x"), secrets=secrets)


def test_a_token_with_a_secret_is_verified() -> None:
    made = create(CLAIMS, key=SECRET)
    assert take_jws(made).algorithm is Algorithm.HS256
    assert verify(made, now_ms=NOW_MS, secrets=[b"other", SECRET]) == CLAIMS


def test_a_token_with_a_signing_key_is_verified() -> None:
    made = create(CLAIMS, key=KEY)
    assert take_jws(made).algorithm is Algorithm.EDDSA
    assert verify(made, now_ms=NOW_MS, public_keys=[bytes(32), KEY.public]) == CLAIMS


def test_a_token_of_an_unknown_key_is_refused() -> None:
    for made in (create(CLAIMS, key=SECRET), create(CLAIMS, key=KEY)):
        with pytest.raises(UnauthenticatedError, match="no known key"):
            verify(made, now_ms=NOW_MS, secrets=[b"other"], public_keys=[bytes(32)])
        with pytest.raises(UnauthenticatedError, match="no known key"):
            verify(made, now_ms=NOW_MS)


def test_a_public_key_does_not_pass_for_a_secret() -> None:
    forged = create(CLAIMS, key=KEY.public)
    with pytest.raises(UnauthenticatedError, match="no known key"):
        verify(forged, now_ms=NOW_MS, public_keys=[KEY.public])


@pytest.mark.parametrize(
    "secret",
    [
        b"",
        b"s" * 31,
        b"-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA\n-----END PUBLIC KEY-----\n",
        b"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI",
        b'{"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg"}',
    ],
    ids=["empty", "short", "pem", "ssh", "jwk"],
)
def test_what_others_may_know_is_no_secret(secret: bytes) -> None:
    with pytest.raises(ValueError, match="HMAC"):
        check_secret(secret)
    with pytest.raises(ValueError, match="HMAC"):
        create(CLAIMS, key=secret)
    made = create(CLAIMS, key=SECRET)
    assert verify(made, now_ms=NOW_MS, secrets=[secret, SECRET]) == CLAIMS


IDENTITY = b"\1" + bytes(31)
"""The neutral element of the curve: a signature of it and a zero holds for it, over anything."""


@pytest.mark.parametrize("point", [IDENTITY, bytes(32), b"\2" + bytes(31)])
def test_a_key_that_anybody_can_sign_for_is_nobodys(point: bytes) -> None:
    forged = token({"alg": "EdDSA"}, GOOD, IDENTITY + bytes(32))
    with pytest.raises(UnauthenticatedError, match="no known key"):
        verify(forged, now_ms=NOW_MS, public_keys=[point])


@pytest.mark.parametrize("header", [{"kid": 5}, {"b64": False}], ids=str)
def test_a_header_against_the_standards_is_not_signed_by_anybody(header: dict[str, Any]) -> None:
    body = f"{part({'alg': 'HS256', **header})}.{part(GOOD)}"
    made = f"{body}.{part(hmac.digest(SECRET, body.encode(), 'sha256'))}"
    with pytest.raises(UnauthenticatedError, match="no known key"):
        verify(made, now_ms=NOW_MS, secrets=[SECRET])


@given(text=st.text(max_size=60) | st.from_regex(r"[A-Za-z0-9_=.-]{0,80}", fullmatch=True))
def test_any_text_gives_claims_or_a_refusal(text: str) -> None:
    with pytest.raises(UnauthenticatedError):
        verify(text, now_ms=NOW_MS, secrets=[SECRET], public_keys=[KEY.public])


@given(header=st.binary(max_size=60), claims=st.binary(max_size=60), signature=st.binary())
def test_any_parts_give_claims_or_a_refusal(header: bytes, claims: bytes, signature: bytes) -> None:
    for one in (header, b'{"alg":"HS256"}', b'{"alg":"EdDSA"}'):
        made = token(one, claims, signature)
        with pytest.raises(UnauthenticatedError):
            verify(made, now_ms=NOW_MS, secrets=[SECRET], public_keys=[KEY.public])


def test_changed_claims_are_refused() -> None:
    header, _, signature = create(CLAIMS, key=SECRET).split(".")
    claims = part({"sub": "root", "actorId": "a/b", "iss": "signal-hub", "iat": NOW_S})
    with pytest.raises(UnauthenticatedError, match="no known key"):
        verify(f"{header}.{claims}.{signature}", now_ms=NOW_MS, secrets=[SECRET])


@pytest.mark.parametrize("prefix", ["bearer ", "Bearer ", "BEARER   ", ""])
def test_the_word_bearer_may_stand_before_it(prefix: str) -> None:
    made = create(CLAIMS, key=SECRET)
    assert bare(prefix + made) == made
    assert verify(prefix + made, now_ms=NOW_MS, secrets=[SECRET]) == CLAIMS


@pytest.mark.parametrize("algorithm", ["none", "None", "RS256", "HS512", "hs256", "", None, 5, []])
def test_other_algorithms_are_refused(algorithm: object) -> None:
    with pytest.raises(UnauthenticatedError, match="is not taken"):
        take_jws(token({"alg": algorithm}, {}))


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("", "3 parts, not 1"),
        ("bearer ", "3 parts"),
        ("a.b", "3 parts, not 2"),
        ("a.b.c.d", "3 parts, not 4"),
        ("a.a.a", "not base64url"),
        ("e30=.e30.e30", "not base64url"),
        ("e3+0.e30.e30", "not base64url"),
        ("é.e30.e30", "not base64url"),
        ("e30\n.e30.e30", "not base64url"),
        ("e31.e30.e30", "only form"),
        ("e30.e30.e30", "algorithm None"),
        (token([], {}), "no JSON object"),
        (token(b"{", {}), "in the token"),
        (token(b"\xff", {}), "not UTF-8"),
        (token(b'{"alg":"HS256","alg":"none"}', {}), "stands twice"),
        (token({"alg": "HS256", "crit": ["b64"], "b64": False}, {}), "extensions"),
        ("x" * 8193, "8193 characters"),
    ],
)
def test_what_is_no_token_is_refused(text: str, detail: str) -> None:
    with pytest.raises(UnauthenticatedError, match=detail):
        take_jws(text)


def test_a_token_has_up_to_8192_characters() -> None:
    with pytest.raises(UnauthenticatedError, match="3 parts"):
        take_jws("x" * 8192)


@pytest.mark.parametrize(
    "claims",
    [
        {},
        [],
        {"sub": "", "actorId": "a", "iat": 1, "iss": "signal-hub"},
        {"sub": "a", "actorId": "", "iat": 1, "iss": "signal-hub"},
        {"sub": "a", "iat": 1, "iss": "signal-hub"},
        {"sub": "a", "actorId": "a", "iss": "signal-hub"},
        {"sub": "a", "actorId": "a", "iat": "1", "iss": "signal-hub"},
        {"sub": "a", "actorId": "a", "iat": True, "iss": "signal-hub"},
        {"sub": "a", "actorId": "a", "iat": 1, "iss": "signal-hub", "capabilities": "send"},
        {"sub": "a", "actorId": "a", "iat": 1, "iss": "signal-hub", "exp": None},
    ],
)
def test_claims_that_are_missing_or_wrong_are_refused(claims: object) -> None:
    with pytest.raises(UnauthenticatedError):
        take_claims(take_jws(token({"alg": "HS256"}, claims)))


def test_other_claims_are_passed_over() -> None:
    claims = {"sub": "a", "actorId": "b", "iat": 1.5, "iss": "signal-hub", "jti": ["x"]}
    found = take_claims(take_jws(token({"alg": "HS256"}, claims)))
    assert found == Claims(sub="a", actor_id="b", iss="signal-hub", iat=1.5)


@pytest.mark.parametrize(
    ("changes", "now_s"),
    [
        ({"exp": NOW_S + 1}, NOW_S),
        ({"exp": UNSET}, NOW_S + DAY_S),
        ({"exp": NOW_S + 2 * DAY_S}, NOW_S + DAY_S),
        ({"nbf": NOW_S + 5}, NOW_S + 5),
        ({"iat": NOW_S + 0.5, "exp": NOW_S + 1.5}, NOW_S + 1),
    ],
)
def test_a_token_holds_in_its_time(changes: dict[str, Any], now_s: int) -> None:
    made = create(replace(CLAIMS, **changes), key=SECRET)
    assert verify(made, now_ms=now_s * 1000, secrets=[SECRET]).sub == "user-1"


@pytest.mark.parametrize(
    ("changes", "now_ms"),
    [
        ({"exp": NOW_S + 1}, NOW_MS + 1000),
        ({"exp": UNSET}, NOW_MS + DAY_S * 1000 + 1),
        ({"exp": 253_402_300_799}, NOW_MS + DAY_S * 1000 + 1),
        ({"iat": 0}, NOW_MS),
    ],
)
def test_a_token_expires_with_exp_or_after_a_day(changes: dict[str, Any], now_ms: int) -> None:
    made = create(replace(CLAIMS, **changes), key=SECRET)
    with pytest.raises(ExpiredError):
        verify(made, now_ms=now_ms, secrets=[SECRET])


@pytest.mark.parametrize(
    ("changes", "detail"),
    [
        ({"iat": NOW_S + 1}, "in the future"),
        ({"nbf": NOW_S + 1}, "not hold yet"),
        ({"iss": "someone"}, "issued by 'someone'"),
    ],
)
def test_a_token_before_its_time_or_of_another_issuer_is_refused(
    changes: dict[str, Any], detail: str
) -> None:
    made = create(replace(CLAIMS, **changes), key=SECRET)
    with pytest.raises(UnauthenticatedError, match=detail):
        verify(made, now_ms=NOW_MS, secrets=[SECRET])


def signed(claims: str | dict[str, Any]) -> str:
    """A token that the secret signed, whatever it says."""
    text = claims if isinstance(claims, str) else json.dumps(claims)
    body = f"{part({'alg': 'HS256'})}.{part(text.encode())}"
    return f"{body}.{part(hmac.digest(SECRET, body.encode(), 'sha256'))}"


@pytest.mark.parametrize("claim", ["iat", "exp", "nbf"])
@pytest.mark.parametrize(
    "value",
    [
        *("1e400", "-1e400", "NaN", "Infinity", "1e308", "-1", "-0.5", "253402300800", "2.6e11"),
        *("9" * 400, "9" * 5_000, "true", "false", "null", '"1"', "[1]", "{}"),
    ],
)
def test_a_time_that_no_calendar_has_is_refused(claim: str, value: str) -> None:
    fields = {**{name: json.dumps(one) for name, one in GOOD.items()}, claim: value}
    text = "{" + ",".join(f'"{name}":{one}' for name, one in fields.items()) + "}"
    with pytest.raises(UnauthenticatedError):
        verify(signed(text), now_ms=NOW_MS, secrets=[SECRET])


def test_the_last_second_of_the_calendar_is_a_time() -> None:
    verify(signed({**GOOD, "exp": 253_402_300_799}), now_ms=NOW_MS, secrets=[SECRET])


@pytest.mark.parametrize("issuer", [None, "", 1, "Signal-Hub", ["signal-hub"]])
def test_a_token_says_who_made_it(issuer: object) -> None:
    claims = {**GOOD, "iss": issuer}
    for one in (claims, {name: value for name, value in claims.items() if name != "iss"}):
        with pytest.raises(UnauthenticatedError, match="iss"):
            verify(signed(one), now_ms=NOW_MS, secrets=[SECRET])


EAST = "@(east/hub)"


@pytest.mark.parametrize("audience", ["signal-hub", EAST, ["x", EAST], ["signal-hub"]])
def test_a_token_may_be_for_this_hub(audience: object) -> None:
    verify(signed({**GOOD, "aud": audience}), now_ms=NOW_MS, secrets=[SECRET], hub=EAST)


@pytest.mark.parametrize(
    "audience", ["", [], "@(west/hub)", ["x", "y"], None, 1, [1], {"a": 1}, "@(east/hub) "]
)
def test_a_token_for_another_is_refused(audience: object) -> None:
    with pytest.raises(UnauthenticatedError):
        verify(signed({**GOOD, "aud": audience}), now_ms=NOW_MS, secrets=[SECRET], hub=EAST)
