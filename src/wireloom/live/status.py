"""The pages that machines look at: `/metrics` and `/healthz`, over HTTP."""

import asyncio
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Final, NamedTuple

MAX_REQUEST_SIZE: Final = 8_192
MAX_READERS: Final = 32
TIMEOUT_SECONDS: Final = 5.0
_METHODS: Final = (b"GET", b"HEAD")


class Page(NamedTuple):
    """One answer."""

    status: HTTPStatus
    body: bytes
    content_type: str = "text/plain; charset=utf-8"


class StatusServer:
    """Serves pages by their path.

    Args:
        pages: What makes each page when it is asked for.
    """

    def __init__(self, pages: Mapping[str, Callable[[], Page]]) -> None:
        self._pages = pages
        self._readers = 0
        self._server: asyncio.Server | None = None

    async def listen(self, listening: socket.socket) -> None:
        """Answers from now on."""
        self._server = await asyncio.start_server(
            self._serve, sock=listening, limit=MAX_REQUEST_SIZE
        )

    def stop(self) -> None:
        """Answers no more."""
        if self._server is not None:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._readers += 1
        try:
            if self._readers <= MAX_READERS:
                async with asyncio.timeout(TIMEOUT_SECONDS):
                    writer.write(await self._answer(reader))
                    await writer.drain()
        except (OSError, TimeoutError):
            pass  # whoever asked went away, or takes too long
        finally:
            self._readers -= 1
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _answer(self, reader: asyncio.StreamReader) -> bytes:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.LimitOverrunError:
            return _written(Page(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, b"too large\n"))
        except asyncio.IncompleteReadError:
            return b""
        words = head.split(b"\r\n", 1)[0].split(b" ")
        if len(words) != 3 or not words[2].startswith(b"HTTP/1."):
            return _written(Page(HTTPStatus.BAD_REQUEST, b"no request\n"))
        if words[0] not in _METHODS:
            return _written(Page(HTTPStatus.METHOD_NOT_ALLOWED, b"only GET\n"))
        make = self._pages.get(words[1].partition(b"?")[0].decode("latin-1"))
        page = make() if make else Page(HTTPStatus.NOT_FOUND, b"no such page\n")
        return _written(page, has_body=words[0] == b"GET")


def _written(page: Page, *, has_body: bool = True) -> bytes:
    head = (
        f"HTTP/1.1 {page.status.value} {page.status.phrase}\r\n"
        f"Content-Type: {page.content_type}\r\n"
        f"Content-Length: {len(page.body)}\r\n"
        "Connection: close\r\n\r\n"
    )
    return head.encode() + (page.body if has_body else b"")
