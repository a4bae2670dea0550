"""TLS for clients: whom they trust, and the certificate that says who they are."""

import ssl
from pathlib import Path

from cryptography import x509
from cryptography.x509.oid import NameOID

from wireloom.live.tls import TlsError


def client_context(
    authority: Path | None = None, certificate: Path | None = None, key: Path | None = None
) -> ssl.SSLContext:
    """What a client secures its connections with.

    Args:
        authority: Who vouches for servers, PEM; those that the system trusts if None.
        certificate: The client's own, PEM, and those between it and the root.
        key: The certificate's private key, PEM, not encrypted; may stand in the same file.

    Raises:
        TlsError: If a file cannot be read or is not what it should be.
    """
    try:
        context = ssl.create_default_context(cafile=authority)
    except (OSError, ValueError) as error:
        raise TlsError(f"{authority} is no certificate of an authority: {_words(error)}") from None
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if certificate is not None:
        try:
            context.load_cert_chain(certificate, key, password=_no_password)
        except (OSError, ValueError) as error:
            shown = f"{certificate} and {key}" if key else f"{certificate}"
            raise TlsError(f"{shown}: no certificate and its key: {_words(error)}") from None
    return context


def bearer(certificate: Path) -> str:
    """The common name in a certificate: what the broker knows its bearer by.

    Raises:
        TlsError: If the file cannot be read, or there is not exactly one.
    """
    try:
        loaded = x509.load_pem_x509_certificate(certificate.read_bytes())
    except (OSError, ValueError) as error:
        raise TlsError(f"{certificate} is no certificate: {_words(error)}") from None
    names = loaded.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    if len(names) != 1:
        raise TlsError(f"{certificate} has {len(names)} common names, not one")
    return str(names[0].value)


def _words(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _no_password() -> str:
    raise ValueError("the key is encrypted")
