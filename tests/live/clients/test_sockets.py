"""Connections, and what is said when none opens."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.server import serve

from live.certificates import Authority
from live.clients.processes import Process, free_port, run
from live.clients.scripted import scripted
from wireloom.live.clients.errors import (
    AnswerTimeoutError,
    ClientError,
    HandshakeError,
    LostError,
    UnreachableError,
)
from wireloom.live.clients.sockets import Dialling, dial
from wireloom.live.tls import server_context


def to(url: str, **more: Any) -> Dialling:
    return Dialling(url=url, max_size=1_000, **{"open_seconds": 5, "close_seconds": 1, **more})


def test_text_and_bytes_go_both_ways_until_the_end() -> None:
    async def main() -> None:
        async with scripted() as server:
            client = await dial(to(server.url, ping_seconds=100))
            peer = await server.accept()
            await client.send(b"a", text=True)
            await client.send(b"b")
            assert [await peer.connection.recv() for _ in range(2)] == ["a", b"b"]
            await peer.connection.send("c")
            await peer.connection.send(b"d")
            assert [await client.receive() for _ in range(2)] == [(b"c", True), (b"d", False)]
            await peer.connection.close(1013, "slow_consumer")
            with pytest.raises(LostError) as lost:
                await client.receive()
            assert (lost.value.code, lost.value.reason) == (1013, "slow_consumer")
            with pytest.raises(LostError):
                await client.send(b"e")
            await client.close()

    run(main())


def test_a_connection_that_is_cut_has_no_code() -> None:
    async def main() -> None:
        async with scripted() as server:
            client = await dial(to(server.url))
            peer = await server.accept()
            peer.connection.transport.abort()
            with pytest.raises(LostError) as lost:
                await client.receive()
            assert lost.value.code is None

    run(main())


async def _failure(where: Dialling) -> ClientError:
    with pytest.raises(ClientError) as failed:
        await dial(where)
    return failed.value


def test_nobody_listens() -> None:
    url = f"ws://127.0.0.1:{free_port()}/"

    async def main() -> None:
        failed = await _failure(to(url))
        assert isinstance(failed, UnreachableError)
        assert str(failed) == f"nobody listens at {url}: connection refused"

    run(main())


def test_a_host_that_nobody_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async def fail(*_: Any, **__: Any) -> Any:
            raise socket.gaierror(-2, "Name or service not known")

        monkeypatch.setattr(asyncio.get_running_loop().__class__, "create_connection", fail)
        failed = await _failure(to("ws://nowhere.invalid/"))
        assert isinstance(failed, UnreachableError)
        assert str(failed) == "the host of ws://nowhere.invalid/ is not known"

    asyncio.run(main())


@asynccontextmanager
async def answering(answer: bytes | None) -> AsyncIterator[str]:
    """A port that answers every connection with some bytes; None never answers."""
    done = asyncio.Event()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if answer is None:
            await done.wait()
        else:
            await reader.read(1)
            writer.write(answer)
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    async with server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        done.set()


@pytest.mark.parametrize(
    ("answer", "kind", "text"),
    [
        (b"SSH-2.0-x\r\n", HandshakeError, "ws://{} is no WebSocket server"),
        (b"", HandshakeError, "ws://{} is no WebSocket server"),
        (None, AnswerTimeoutError, "ws://{} does not answer within 0.1 s"),
    ],
)
def test_what_is_no_websocket(answer: bytes | None, kind: type[ClientError], text: str) -> None:
    async def main() -> None:
        async with answering(answer) as where:
            failed = await _failure(to(f"ws://{where}", open_seconds=0.1 if answer is None else 5))
            if isinstance(failed, HandshakeError) and "before it is open" in str(failed):
                return  # unread bytes: the system may reset the connection instead
            assert isinstance(failed, kind)
            assert str(failed) == text.format(where)

    run(main())


def test_a_port_that_resets_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async def fail(*_: Any, **__: Any) -> Any:
            raise ConnectionResetError

        monkeypatch.setattr(asyncio.get_running_loop().__class__, "create_connection", fail)
        assert str(await _failure(to("ws://x/"))) == "ws://x/ ends the connection before it is open"

    asyncio.run(main())


@pytest.mark.parametrize("url", ["http://x", "ws:", "nonsense", "ws://h:99999999/"])
def test_what_is_no_address(url: str) -> None:
    async def main() -> None:
        failed = await _failure(to(url))
        assert str(failed) == f"{url} is no address of a WebSocket"

    run(main())


def test_a_refusal_has_its_status(server: Process) -> None:
    async def main() -> None:
        url = server.hub.replace("/hub", "/elsewhere")
        failed = await _failure(to(url))
        assert isinstance(failed, HandshakeError)
        assert (failed.status, str(failed)) == (404, f"{url} refuses the connection: HTTP 404")

    run(main())


def test_certificates_are_checked(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    context = server_context(*authority.issue("server"))

    async def main() -> None:
        async def handle(connection: Any) -> None:
            await connection.wait_closed()

        async with serve(handle, "127.0.0.1", 0, ssl=context) as server:
            port = next(iter(server.sockets)).getsockname()[1]
            url = f"wss://127.0.0.1:{port}/"
            trust = ssl.create_default_context(cafile=authority.path)
            await (await dial(to(url, tls=trust))).close()
            failed = await _failure(to(url))
            assert isinstance(failed, HandshakeError)
            assert str(failed).startswith(f"{url} shows no trusted certificate: ")
        async with answering(b"HTTP/1.1 400 Bad Request\r\n\r\n") as where:
            failed = await _failure(to(f"wss://{where}", tls=trust))
            assert "the port does not speak TLS: use ws://" in str(failed)
        async with answering(b"220 mail.example ESMTP\r\n\r\n") as where:
            failed = await _failure(to(f"wss://{where}", tls=trust))
            assert "does not speak TLS with this client" in str(failed)

    run(main())
