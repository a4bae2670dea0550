"""Key agreement and authenticated encryption behind one face.

`seal` and `open` of each cipher take the nonce as an argument; choosing one that was never
used with the key is the caller's duty. Opening what was not sealed with the key, nonce and
associated data at hand raises `DecryptFailedError` and tells no more.
"""

from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from nacl.bindings import (
    crypto_aead_xchacha20poly1305_ietf_decrypt,
    crypto_aead_xchacha20poly1305_ietf_encrypt,
    crypto_scalarmult,
    crypto_scalarmult_base,
    crypto_secretbox,
    crypto_secretbox_open,
)
from nacl.exceptions import CryptoError

from wireloom.wire.errors import DecryptFailedError

X25519_KEY_SIZE: Final = 32


def x25519_public(private_key: bytes) -> bytes:
    """The X25519 public key of `private_key`."""
    return crypto_scalarmult_base(private_key)


def x25519(private_key: bytes, public_key: bytes) -> bytes:
    """The secret that two key owners share.

    Raises:
        DecryptFailedError: If the public key is one that gives no secret.
    """
    if len(private_key) != X25519_KEY_SIZE or len(public_key) != X25519_KEY_SIZE:
        raise DecryptFailedError(f"an X25519 key has {X25519_KEY_SIZE} bytes")
    try:
        return crypto_scalarmult(private_key, public_key)
    except (CryptoError, RuntimeError):
        raise DecryptFailedError("the public key gives no shared secret") from None


def hkdf(secret: bytes, *, info: bytes, salt: bytes = b"", size: int = 32) -> bytes:
    """`size` bytes of key material by HKDF-SHA-256."""
    return HKDF(algorithm=SHA256(), length=size, salt=salt or None, info=info).derive(secret)


def seal_xsalsa(key: bytes, nonce: bytes, plaintext: bytes) -> bytes:
    """XSalsa20-Poly1305 (NaCl's secretbox): tag, then ciphertext."""
    return crypto_secretbox(plaintext, nonce, key)


def open_xsalsa(key: bytes, nonce: bytes, sealed: bytes) -> bytes:
    """The plaintext of `seal_xsalsa`.

    Raises:
        DecryptFailedError: If it does not open.
    """
    try:
        return crypto_secretbox_open(sealed, nonce, key)
    except (CryptoError, ValueError):
        raise DecryptFailedError("the payload does not open with this key") from None


def seal_xchacha(key: bytes, nonce: bytes, plaintext: bytes, *, aad: bytes = b"") -> bytes:
    """XChaCha20-Poly1305: ciphertext, then tag."""
    return crypto_aead_xchacha20poly1305_ietf_encrypt(plaintext, aad or None, nonce, key)


def open_xchacha(key: bytes, nonce: bytes, sealed: bytes, *, aad: bytes = b"") -> bytes:
    """The plaintext of `seal_xchacha`.

    Raises:
        DecryptFailedError: If it does not open.
    """
    try:
        return crypto_aead_xchacha20poly1305_ietf_decrypt(sealed, aad or None, nonce, key)
    except (CryptoError, ValueError):
        raise DecryptFailedError("the payload does not open with this key") from None


def seal_aes(key: bytes, nonce: bytes, plaintext: bytes) -> bytes:
    """AES-256-GCM: ciphertext, then tag."""
    return AESGCM(key).encrypt(nonce, plaintext, None)


def open_aes(key: bytes, nonce: bytes, sealed: bytes) -> bytes:
    """The plaintext of `seal_aes`.

    Raises:
        DecryptFailedError: If it does not open.
    """
    try:
        return AESGCM(key).decrypt(nonce, sealed, None)
    except (InvalidTag, ValueError):
        raise DecryptFailedError("the payload does not open with this key") from None
