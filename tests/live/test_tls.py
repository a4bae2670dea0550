"""TLS: who a certificate proves its bearer to be, on real sockets; and files that are no use."""

import asyncio
import ssl
from pathlib import Path

import pytest
import uvloop
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from live.certificates import Authority
from live.links.wires import serving
from live.parts import until
from wireloom.live.tls import TlsError, common_name, server_context
from wireloom.wire.session import Opened


def client_context(authority: Authority, *names: str) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=authority.path)
    if names:
        context.load_cert_chain(*authority.issue(*names))
    return context


@pytest.mark.parametrize(
    ("names", "identity"),
    [(["agent.example"], "agent.example"), ([], None), (["one", "two"], None)],
)
def test_the_common_name_is_who_connects(
    tmp_path: Path, names: list[str], identity: str | None
) -> None:
    authority = Authority(tmp_path / "tls")
    context = server_context(*authority.issue("server"), authority.path)

    async def main() -> None:
        async with serving(tmp_path, tls=context) as server:
            shown = client_context(authority, *names)
            async with connect(f"wss://127.0.0.1:{server.port}/ws", ssl=shown) as client:
                await client.send("x" * 100_000)
                assert await client.recv() == "x" * 100_000
            (opened,) = server.session.seen(Opened)
            assert opened.identity == identity

    uvloop.run(main())


def test_a_certificate_that_nobody_vouches_for_does_not_get_in(tmp_path: Path) -> None:
    authority, stranger = Authority(tmp_path / "a"), Authority(tmp_path / "b")
    context = server_context(*authority.issue("server"), authority.path)

    async def main() -> None:
        async with serving(tmp_path, tls=context) as server:
            shown = client_context(authority)
            shown.load_cert_chain(*stranger.issue("agent"))
            with pytest.raises((OSError, WebSocketException, EOFError)):
                await connect(f"wss://127.0.0.1:{server.port}/ws", ssl=shown)
            assert server.session.seen(Opened) == []

    uvloop.run(main())


def test_a_handshake_that_does_not_end_is_cut(tmp_path: Path) -> None:
    authority = Authority(tmp_path / "tls")
    context = server_context(*authority.issue("server"))

    async def main() -> None:
        async with serving(tmp_path, tls=context, handshake_seconds=0.1) as server:
            wire = await server.open()
            async with asyncio.timeout(5):
                assert await wire.reader.read() == b""
            await until(lambda: not server.link.readers)

    uvloop.run(main())


def test_files_that_are_no_use_are_named(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    certificate, key = authority.issue("server")
    _, other = authority.issue("other")
    rubbish = tmp_path / "rubbish.pem"
    rubbish.write_text("rubbish")
    with pytest.raises(TlsError, match=r"missing.pem cannot be read: No such file"):
        server_context(tmp_path / "missing.pem", key)
    with pytest.raises(TlsError, match="no certificate and its key"):
        server_context(certificate, other)
    with pytest.raises(TlsError, match=r"rubbish.pem is no certificate"):
        server_context(certificate, key, rubbish)


def test_files_that_others_can_write_are_refused(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    certificate, key = authority.issue("server")
    for path in (key, authority.path):
        path.chmod(0o664)
        with pytest.raises(TlsError, match=f"{path} can be written by others"):
            server_context(certificate, key, authority.path)
        path.chmod(0o600)
    server_context(certificate, key, authority.path)


def test_an_encrypted_key_is_refused_and_nobody_is_asked_for_a_password(tmp_path: Path) -> None:
    certificate, key = Authority(tmp_path).issue("server")
    loaded = load_pem_private_key(key.read_bytes(), None)
    lock = BestAvailableEncryption(b"secret")
    key.write_bytes(loaded.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, lock))
    with pytest.raises(TlsError, match="encrypted"):
        server_context(certificate, key)


def test_names_in_certificates() -> None:
    assert common_name(None) is None
    assert common_name({}) is None
    assert common_name({"subject": ((("commonName", "a"),),)}) == "a"
    assert common_name({"subject": ((("organizationName", "a"),),)}) is None
    assert common_name({"subject": ((("commonName", ""),),)}) is None
