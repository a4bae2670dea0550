"""The pages for machines."""

import asyncio
import socket
from http import HTTPStatus

import uvloop

from live.parts import listening, port_of
from wireloom.live import status as module
from wireloom.live.status import Page, StatusServer

PAGES = {
    "/healthz": lambda: Page(HTTPStatus.OK, b"ok\n"),
    "/ill": lambda: Page(HTTPStatus.SERVICE_UNAVAILABLE, b"ill\n", "text/html"),
}


def ask(*requests: bytes) -> list[bytes]:
    async def main() -> list[bytes]:
        server = StatusServer(PAGES)
        server.stop()
        bound = listening()
        await server.listen(bound)
        answers = []
        for request in requests:
            reader, writer = await asyncio.open_connection("127.0.0.1", port_of(bound))
            writer.write(request)
            if not request.endswith(b"\r\n\r\n"):
                writer.write_eof()
            answers.append(await reader.read())
            writer.close()
            await writer.wait_closed()
        server.stop()
        return answers

    return uvloop.run(main())


def test_pages_by_their_path() -> None:
    good, ill, missing, head = ask(
        b"GET /healthz?full HTTP/1.1\r\nHost: localhost:9464\r\n\r\n",
        b"GET /ill HTTP/1.0\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"HEAD /healthz HTTP/1.1\r\n\r\n",
    )
    assert good.startswith(b"HTTP/1.1 200 OK\r\n")
    assert good.endswith(b"Connection: close\r\n\r\nok\n")
    assert ill.startswith(b"HTTP/1.1 503 ")
    assert b"Content-Type: text/html\r\n" in ill
    assert missing.startswith(b"HTTP/1.1 404 ")
    assert head.endswith(b"Content-Length: 3\r\nConnection: close\r\n\r\n")


def test_what_is_no_request() -> None:
    post, rubbish, version, half, giant = ask(
        b"POST /healthz HTTP/1.1\r\n\r\n",
        b"rubbish\r\n\r\n",
        b"GET / SPDY/9\r\n\r\n",
        b"GET /healthz HT",
        b"GET / HTTP/1.1\r\nX: " + b"x" * 20_000 + b"\r\n\r\n",
    )
    assert post.startswith(b"HTTP/1.1 405 ")
    assert rubbish.startswith(b"HTTP/1.1 400 ")
    assert version.startswith(b"HTTP/1.1 400 ")
    assert half == b""
    assert giant.startswith((b"HTTP/1.1 431 ", b""))


def test_those_who_say_nothing_are_cut_and_are_never_too_many() -> None:
    async def main() -> None:
        server = StatusServer(PAGES)
        bound = listening()
        await server.listen(bound)
        silent = [await asyncio.open_connection("127.0.0.1", port_of(bound)) for _ in range(3)]
        async with asyncio.timeout(5):
            answers = [await reader.read() for reader, _ in silent]
        assert answers == [b"", b"", b""]
        for _, writer in silent:
            writer.close()
        server.stop()

    old = module.TIMEOUT_SECONDS, module.MAX_READERS
    module.TIMEOUT_SECONDS, module.MAX_READERS = 0.1, 2  # type: ignore[misc]
    try:
        uvloop.run(main())
    finally:
        module.TIMEOUT_SECONDS, module.MAX_READERS = old  # type: ignore[misc]


def test_pages_of_this_machine_are_for_those_who_call_it_by_its_name() -> None:
    foreign, twice, named = ask(
        b"GET /healthz HTTP/1.1\r\nhost: evil.example:9464\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: [::1]:9464\r\n\r\n",
    )
    assert foreign.startswith(b"HTTP/1.1 421 ")
    assert twice.startswith(b"HTTP/1.1 421 ")
    assert named.startswith(b"HTTP/1.1 200 ")


def test_pages_for_others_are_for_everyone() -> None:
    async def main() -> None:
        server = StatusServer(PAGES, is_local=False)
        bound = listening()
        await server.listen(bound)
        reader, writer = await asyncio.open_connection("127.0.0.1", port_of(bound))
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: node.example\r\n\r\n")
        assert (await reader.read()).startswith(b"HTTP/1.1 200 ")
        writer.close()
        server.stop()

    uvloop.run(main())


def test_those_who_ask_and_do_not_read_make_way_for_others() -> None:
    """More of them than there may be, each with a page that no buffer of a socket holds."""

    async def main() -> None:
        large = {**PAGES, "/large": lambda: Page(HTTPStatus.OK, b"x" * 8_000_000)}
        server = StatusServer(large)
        bound = listening()
        await server.listen(bound)
        slow = []
        for number in range(module.MAX_READERS + 8):
            made = socket.create_connection(("127.0.0.1", port_of(bound)))
            made.sendall(b"GET /large HTTP/1.1\r\n\r\n" if number % 2 else b"GET ")
            slow.append(made)
            await asyncio.sleep(0)
        async with asyncio.timeout(module.TIMEOUT_SECONDS / 2):
            reader, writer = await asyncio.open_connection("127.0.0.1", port_of(bound))
            writer.write(b"GET /healthz HTTP/1.1\r\n\r\n")
            assert (await reader.read()).endswith(b"ok\n")
        writer.close()
        for made in slow:
            made.close()
        server.stop()

    uvloop.run(main())
