"""The JSON Web Tokens that a client authenticates with (R29).

```
base64url({"alg": "HS256" or "EdDSA", …}) . base64url({claims}) . base64url(signature)
```

The signature is over the first two parts as they stand. PyJWT signs and verifies it, with HS256
for a shared secret and EdDSA for an Ed25519 key. Each key is tried with its own algorithm alone,
so that a public key cannot pass for a secret. The form of a token, which is stricter here than in
the library, and its claims and times are checked in this module: the library reads a clock.
"""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Collection
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

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

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from jwt import PyJWS

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
    """A token with these claims: EdDSA for a signing key, HS256 for a secret.

    Raises:
        ValueError: If it is no secret (`check_secret`).
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415

    payload = msgspec.json.encode(claims)
    if isinstance(key, bytes):
        check_secret(key)
        return _library().encode(payload, key, Algorithm.HS256)
    return _library().encode(
        payload, Ed25519PrivateKey.from_private_bytes(key.seed), Algorithm.EDDSA
    )


def check_secret(secret: bytes) -> None:
    """Refuses what must not be the secret of HS256.

    Raises:
        ValueError: If it is shorter than a digest (RFC 7518, 3.2), or is a public key, a
            certificate or a JSON Web Key, which others may know.
    """
    from jwt.exceptions import InvalidKeyError  # noqa: PLC0415

    try:
        _library().encode(b"", secret, Algorithm.HS256)
    except InvalidKeyError as error:
        raise ValueError(str(error)) from None


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
        return any(_is_signed_with(jws, one) for one in secrets)
    return any(_is_signed_with(jws, _public_key(one)) for one in public_keys if keys.is_valid(one))


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
    if _put_base64(raw).decode() != text:
        raise UnauthenticatedError("a part of the token is not base64url in its only form")
    return raw


def _put_base64(raw: bytes) -> bytes:
    return urlsafe_b64encode(raw).rstrip(b"=")


def _is_signed_with(jws: Jws, key: "bytes | Ed25519PublicKey") -> bool:
    """Whether a key made the signature, with the one algorithm that is meant for such keys."""
    from jwt.exceptions import PyJWTError  # noqa: PLC0415

    algorithm = Algorithm.HS256 if isinstance(key, bytes) else Algorithm.EDDSA
    token = b".".join((jws.signed, _put_base64(jws.signature)))
    try:
        _library().decode(token, key, [algorithm])
    except PyJWTError:
        return False
    return True


def _public_key(raw: bytes) -> "Ed25519PublicKey":
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415

    return Ed25519PublicKey.from_public_bytes(raw)


@cache
def _library() -> "PyJWS":
    """PyJWT with the algorithms that are taken. It is imported late: that takes 80 ms."""
    from jwt import PyJWS  # noqa: PLC0415

    return PyJWS(list(Algorithm), {"verify_signature": True, "enforce_minimum_key_length": True})
