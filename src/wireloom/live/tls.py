"""TLS for servers, and who a certificate proves its bearer to be."""

import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wireloom.live.secret_files import SecretFileError, check_guarded


class TlsError(Exception):
    """A certificate or key cannot be used; the text says which and why."""


def server_context(
    certificate: Path, key: Path, client_authority: Path | None = None
) -> ssl.SSLContext:
    """What a server secures its connections with.

    Args:
        certificate: Its certificate and those between it and the root, PEM.
        key: The certificate's private key, PEM.
        client_authority: Who vouches for clients, PEM. A client may then show a certificate; one
            that is not vouched for ends the handshake. What a client without one may do is for
            the session to decide.

    Raises:
        TlsError: If a file cannot be read, is not what it should be, or can be written by others.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    _check_readable(certificate)
    for path in (key, *([client_authority] if client_authority else [])):
        _check_readable(path)
        _check_guarded(path)
    try:
        context.load_cert_chain(certificate, key, password=_no_password)
    except (OSError, ValueError) as error:
        raise TlsError(f"{certificate} and {key} are no certificate and its key: {error}") from None
    if client_authority is not None:
        try:
            context.load_verify_locations(client_authority)
        except (OSError, ValueError) as error:
            raise TlsError(f"{client_authority} is no certificate: {error}") from None
        context.verify_mode = ssl.CERT_OPTIONAL
    return context


def common_name(certificate: Mapping[str, Any] | None) -> str | None:
    """The one common name in a certificate that was verified, if there is exactly one."""
    if not certificate:
        return None
    names = [
        value
        for group in certificate.get("subject", ())
        for key, value in group
        if key == "commonName"
    ]
    return names[0] if len(names) == 1 and names[0] else None


def _check_readable(path: Path) -> None:
    try:
        with path.open("rb"):
            pass
    except OSError as error:
        raise TlsError(f"{path} cannot be read: {error.strerror}") from None


def _check_guarded(path: Path) -> None:
    """Who can write the key or the authority's certificate, can be the server or any client."""
    try:
        check_guarded(path)
    except SecretFileError as error:
        raise TlsError(f"{error}") from None


def _no_password() -> str:
    raise ValueError("the key is encrypted; a server needs one that is not")
