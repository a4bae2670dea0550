"""Certificates for tests: one authority, and those it vouches for."""

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.ec import generate_private_key as generate
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID


class Authority:
    """Makes certificates in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._key = generate(SECP256R1())
        self._name = _name("authority")
        own = _builder(self._name, self._name, self._key)
        own = own.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        self.path = folder / "ca.pem"
        self.path.write_bytes(own.sign(self._key, SHA256()).public_bytes(Encoding.PEM))

    def issue(self, *names: str) -> tuple[Path, Path]:
        """A certificate with these common names, and its key."""
        key = generate(SECP256R1())
        made = _builder(_name(*names), self._name, key)
        local = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
        signed = made.add_extension(local, critical=False).sign(self._key, SHA256())
        stem = "-".join(names).replace("/", "_") or "nameless"
        certificate, secret = self.folder / f"{stem}.pem", self.folder / f"{stem}.key"
        certificate.write_bytes(signed.public_bytes(Encoding.PEM))
        secret.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        return certificate, secret


def _name(*names: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name) for name in names])


def _builder(
    subject: x509.Name, issuer: x509.Name, key: EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
    )
