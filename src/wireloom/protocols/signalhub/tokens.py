"""The JSON Web Tokens that a client authenticates with (R29).

```
base64url({"alg": "HS256" or "EdDSA", …}) . base64url({claims}) . base64url(signature)
```

The signature is over the first two parts as they stand. HS256 takes a shared secret, EdDSA
an Ed25519 key; which keys are tried follows from the algorithm, never the other way round,
so that a public key cannot pass for a secret.
"""

import hmac
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Collection
from enum import StrEnum
from typing import Annotated, Any, Final, NamedTuple

import msgspec
from msgspec import UNSET, Meta, UnsetType

from wireloom.protocols.signalhub.constants import (
    BEARER,
    HUB_ADDRESS,
    LAST_SECOND,
    MAX_TOKEN_SIZE,
    TOKEN_AUDIENCE,
    TOKEN_ISSUER,
    TOKEN_MAX_AGE_S,
)
from wireloom.wire import jsontext, keys
from wireloom.wire.errors import ExpiredError, MalformedError, UnauthenticatedError
from wireloom.wire.message import Message

_BASE64URL: Final = re.compile(r"\A[A-Za-z0-9_-]*\Z")
_PARTS: Final = 3
_MS: Final = 1000

Name = Annotated[str, Meta(min_length=1)]
Seconds = Annotated[int, Meta(ge=0, le=LAST_SECOND)] | Annotated[float, Meta(ge=0, le=LAST_SECOND)]
"""A time that a calendar has."""


class Algorithm(StrEnum):
    """How a token may be signed. `none` is not among them."""

    HS256 = "HS256"
    EDDSA = "EdDSA"


class Claims(Message, frozen=True, kw_only=True, rename="camel"):
    """What a token says. Claims that are not listed here are passed over."""

    sub: Name
    """The user."""

    actor_id: Name
    """The path of the user's address: `browser/client-ui`."""

    capabilities: tuple[str, ...] = ()
    """What the actor may do."""

    iss: str
    """Who made the token."""

    aud: str | tuple[str, ...] | UnsetType = UNSET
    """Whom it is for."""

    iat: Seconds
    """When it was made, in seconds since 1970."""

    nbf: Seconds | UnsetType = UNSET
    """From when on it holds, in seconds since 1970."""

    exp: Seconds | UnsetType = UNSET
    """When it ends, in seconds since 1970."""


class Jws(NamedTuple):
    """A signed token, taken apart."""

    algorithm: Algorithm
    signed: bytes
    payload: bytes
    signature: bytes


def verify(
    token: str,
    *,
    now_ms: int,
    secrets: Collection[bytes] = (),
    public_keys: Collection[bytes] = (),
    hub: str = HUB_ADDRESS,
) -> Claims:
    """The claims of a token that is signed with one of the keys and holds now.

    Args:
        token: As in `authToken`, `bearer ` before it or not.
        now_ms: The time.
        secrets: What HS256 tokens may be signed with.
        public_keys: Whose EdDSA tokens are taken.
        hub: The address of the hub that is asked; a token may be for another one.

    Raises:
        ExpiredError: If it held once.
        UnauthenticatedError: If it does not hold for another reason.
    """
    jws = take_jws(token)
    if not is_signed(jws, secrets=secrets, public_keys=public_keys):
        raise UnauthenticatedError("no known key signed the token")
    claims = take_claims(jws)
    check_claims(claims, now_ms=now_ms, hub=hub)
    return claims


def create(claims: Claims, *, key: keys.SigningKey | bytes) -> str:
    """A token with these claims: EdDSA for a signing key, HS256 for a secret."""
    algorithm = Algorithm.HS256 if isinstance(key, bytes) else Algorithm.EDDSA
    header = msgspec.json.encode({"alg": algorithm, "typ": "JWT"})
    signed = f"{_put_base64(header)}.{_put_base64(msgspec.json.encode(claims))}"
    raw = signed.encode()
    signature = _mac(key, raw) if isinstance(key, bytes) else key.sign(raw)
    return f"{signed}.{_put_base64(signature)}"


def take_jws(token: str) -> Jws:
    """The parts of a token; its signature is not checked yet.

    Raises:
        UnauthenticatedError: If it is no JSON Web Token that can be checked here.
    """
    if len(token) > MAX_TOKEN_SIZE:
        raise UnauthenticatedError(f"a token of {len(token)} characters")
    parts = bare(token).split(".")
    if len(parts) != _PARTS:
        raise UnauthenticatedError(f"a token has {_PARTS} parts, not {len(parts)}")
    header, payload, signature = map(_take_base64, parts)
    return Jws(_algorithm(header), ".".join(parts[:2]).encode(), payload, signature)


def is_signed(
    jws: Jws, *, secrets: Collection[bytes] = (), public_keys: Collection[bytes] = ()
) -> bool:
    """Whether one of the keys that go with the token's algorithm made its signature."""
    if jws.algorithm is Algorithm.HS256:
        return any(hmac.compare_digest(_mac(one, jws.signed), jws.signature) for one in secrets)
    return any(keys.verify(one, jws.signed, jws.signature) for one in public_keys)


def take_claims(jws: Jws) -> Claims:
    """What the token says, whether it is true or not.

    Raises:
        UnauthenticatedError: If a claim is missing or of a wrong type.
    """
    try:
        return msgspec.convert(_object(jws.payload), Claims)
    except msgspec.ValidationError as error:
        raise UnauthenticatedError(f"claims: {error}") from None


def check_claims(claims: Claims, *, now_ms: int, hub: str = HUB_ADDRESS) -> None:
    """Refuses claims of another issuer or for another hub, and those that do not hold now.

    Raises:
        ExpiredError: If they held once.
        UnauthenticatedError: If they do not hold for another reason.
    """
    if claims.iss != TOKEN_ISSUER:
        raise UnauthenticatedError(f"issued by {claims.iss!r:.60}, not by {TOKEN_ISSUER}")
    if claims.aud is not UNSET:
        meant = (claims.aud,) if isinstance(claims.aud, str) else claims.aud
        if hub not in meant and TOKEN_AUDIENCE not in meant:
            raise UnauthenticatedError(f"the token is for {claims.aud!r:.60}, not for {hub}")
    if claims.iat * _MS > now_ms:
        raise UnauthenticatedError("the token was made in the future")
    if claims.nbf is not UNSET and claims.nbf * _MS > now_ms:
        raise UnauthenticatedError("the token does not hold yet")
    if claims.exp is not UNSET and claims.exp * _MS <= now_ms:
        raise ExpiredError("the token has expired")
    if now_ms - claims.iat * _MS > TOKEN_MAX_AGE_S * _MS:
        raise ExpiredError(f"the token is older than {TOKEN_MAX_AGE_S} s")


def bare(token: str) -> str:
    """The token without the word `bearer` before it, which may stand in any case."""
    if token[: len(BEARER)].lower() == BEARER:
        return token[len(BEARER) :].lstrip(" ")
    return token


def _algorithm(header: bytes) -> Algorithm:
    fields = _object(header)
    if "crit" in fields:
        raise UnauthenticatedError("the token demands extensions that are not known")
    try:
        return Algorithm(str(fields.get("alg")))
    except ValueError:
        raise UnauthenticatedError(f"algorithm {fields.get('alg')!r:.60} is not taken") from None


def _object(raw: bytes) -> dict[str, Any]:
    try:
        loaded = jsontext.load(raw)
    except MalformedError as error:
        raise UnauthenticatedError(f"in the token: {error.detail}") from None
    if not isinstance(loaded, dict):
        raise UnauthenticatedError("a part of the token is no JSON object")
    return loaded


def _take_base64(text: str) -> bytes:
    """Strictly: no padding, no other characters, no bits left over."""
    if not _BASE64URL.search(text) or len(text) % 4 == 1:
        raise UnauthenticatedError("a part of the token is not base64url")
    raw = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if _put_base64(raw) != text:
        raise UnauthenticatedError("a part of the token is not base64url in its only form")
    return raw


def _put_base64(raw: bytes) -> str:
    return urlsafe_b64encode(raw).rstrip(b"=").decode()


def _mac(secret: bytes, signed: bytes) -> bytes:
    return hmac.digest(secret, signed, "sha256")
