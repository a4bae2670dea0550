"""Keys and signatures behind one face: Ed25519 from libsodium.

Randomness is the caller's: a signing key is made from a seed that the caller gives.
"""

from hashlib import sha256
from typing import Final

from nacl.bindings import (
    crypto_core_ed25519_is_valid_point,
    crypto_sign,
    crypto_sign_BYTES,
    crypto_sign_ed25519_pk_to_curve25519,
    crypto_sign_ed25519_sk_to_curve25519,
    crypto_sign_open,
    crypto_sign_seed_keypair,
)
from nacl.exceptions import CryptoError

SEED_SIZE: Final = 32
PUBLIC_KEY_SIZE: Final = 32
SIGNATURE_SIZE: Final = crypto_sign_BYTES


class SigningKey:
    """A private Ed25519 key and the public one that goes with it."""

    __slots__ = ("_secret", "public", "seed")

    def __init__(self, seed: bytes) -> None:
        self.seed = seed
        self.public, self._secret = crypto_sign_seed_keypair(seed)

    def sign(self, data: bytes) -> bytes:
        """The 64-byte signature over `data`."""
        return crypto_sign(data, self._secret)[:SIGNATURE_SIZE]

    def exchange_key(self) -> bytes:
        """The X25519 private key that belongs to this identity."""
        return crypto_sign_ed25519_sk_to_curve25519(self._secret)

    def __repr__(self) -> str:
        return f"SigningKey(public={self.public.hex()})"


def verify(public_key: bytes, data: bytes, signature: bytes) -> bool:
    """Whether `signature` over `data` is by the owner of `public_key`."""
    if len(public_key) != PUBLIC_KEY_SIZE or len(signature) != SIGNATURE_SIZE:
        return False  # libsodium would read past their end
    try:
        crypto_sign_open(signature + data, public_key)
    except CryptoError:
        return False
    return True


def is_valid(public_key: bytes) -> bool:
    """Whether it may be somebody's: anybody can sign for a point of small order."""
    return len(public_key) == PUBLIC_KEY_SIZE and crypto_core_ed25519_is_valid_point(public_key)


def exchange_public_key(public_key: bytes) -> bytes:
    """The X25519 public key that belongs to an Ed25519 identity.

    Raises:
        CryptoError: If it is no point of the curve.
    """
    return crypto_sign_ed25519_pk_to_curve25519(public_key)


def uid(public_key: bytes) -> bytes:
    """The SHA-256 of a public key: what DTN calls a user's UID."""
    return sha256(public_key).digest()
