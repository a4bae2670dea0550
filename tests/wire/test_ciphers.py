"""Sealing and opening."""

from collections.abc import Callable

import pytest

from wireloom.wire.ciphers import (
    hkdf,
    open_aes,
    open_xchacha,
    open_xsalsa,
    seal_aes,
    seal_xchacha,
    seal_xsalsa,
    x25519,
)
from wireloom.wire.errors import DecryptFailedError

KEY = bytes(range(32))
CIPHERS: list[tuple[Callable[..., bytes], Callable[..., bytes], int]] = [
    (seal_xsalsa, open_xsalsa, 24),
    (seal_xchacha, open_xchacha, 24),
    (seal_aes, open_aes, 12),
]
ciphers = pytest.mark.parametrize(("seal", "open_", "nonce_size"), CIPHERS)


@ciphers
@pytest.mark.parametrize("plaintext", [b"", b"x", bytes(1000)])
def test_what_was_sealed_opens(
    seal: Callable[..., bytes], open_: Callable[..., bytes], nonce_size: int, plaintext: bytes
) -> None:
    sealed = seal(KEY, bytes(nonce_size), plaintext)
    assert len(sealed) == len(plaintext) + 16
    assert open_(KEY, bytes(nonce_size), sealed) == plaintext


@ciphers
def test_nothing_else_opens(
    seal: Callable[..., bytes], open_: Callable[..., bytes], nonce_size: int
) -> None:
    sealed = seal(KEY, bytes(nonce_size), b"secret")
    attempts = [
        (bytes(32), bytes(nonce_size), sealed),
        (KEY, b"\1" * nonce_size, sealed),
        (KEY, bytes(nonce_size), sealed[:-1]),
        (KEY, bytes(nonce_size), sealed[:-1] + bytes([sealed[-1] ^ 1])),
        (KEY, bytes(nonce_size), b""),
        (KEY[:-1], bytes(nonce_size), sealed),
        (KEY, b"", sealed),
    ]
    for key, nonce, attempt in attempts:
        with pytest.raises(DecryptFailedError):
            open_(key, nonce, attempt)


def test_associated_data_is_part_of_the_seal() -> None:
    sealed = seal_xchacha(KEY, bytes(24), b"secret", aad=b"header")
    assert open_xchacha(KEY, bytes(24), sealed, aad=b"header") == b"secret"
    with pytest.raises(DecryptFailedError):
        open_xchacha(KEY, bytes(24), sealed, aad=b"heater")


@pytest.mark.parametrize("public", [bytes(32), b"short"])
def test_a_public_key_that_gives_no_secret_is_refused(public: bytes) -> None:
    with pytest.raises(DecryptFailedError):
        x25519(KEY, public)


def test_hkdf_as_in_rfc_5869() -> None:
    derived = hkdf(
        b"\x0b" * 22,
        salt=bytes(range(13)),
        info=bytes(range(0xF0, 0xFA)),
        size=42,
    )
    assert derived.hex() == (
        "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"
    )
    assert hkdf(b"\x0b" * 22, info=b"", size=42).hex() == (
        "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"
    )
