"""Files that a client proves itself with."""

from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)

from live.certificates import Authority
from wireloom.live.clients.tls import bearer, client_context
from wireloom.live.tls import TlsError


def test_trust_and_proof(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    certificate, key = authority.issue("one.example.com")
    context = client_context(authority.path, certificate, key)
    assert len(context.get_ca_certs()) == 1
    assert client_context().check_hostname
    assert bearer(certificate) == "one.example.com"


def test_files_that_are_no_use_are_named(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    certificate, key = authority.issue("one")
    other_key = authority.issue("two")[1]
    missing, empty = tmp_path / "missing.pem", tmp_path / "empty.pem"
    empty.write_text("")
    with pytest.raises(TlsError, match=r"missing\.pem is no certificate of an authority: No such"):
        client_context(missing)
    with pytest.raises(TlsError, match=r"one\.pem and .*two\.key: no certificate and its key"):
        client_context(authority.path, certificate, other_key)
    with pytest.raises(TlsError, match=r"one\.pem: no certificate and its key"):
        client_context(authority.path, certificate)
    secret = load_pem_private_key(key.read_bytes(), None)
    sealed = BestAvailableEncryption(b"x")
    key.write_bytes(secret.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, sealed))
    with pytest.raises(TlsError, match="encrypted"):
        client_context(authority.path, certificate, key)
    for path in (missing, empty):
        with pytest.raises(TlsError, match="is no certificate"):
            bearer(path)
    with pytest.raises(TlsError, match="has 2 common names, not one"):
        bearer(authority.issue("a", "b")[0])
