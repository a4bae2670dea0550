"""The pages that machines look at: `/metrics` and `/healthz`, over HTTP.

Whoever asks and does not read makes way for whoever comes next. Pages of this machine are for those
who call it by a name of its own: a web page elsewhere whose name leads here gets nothing.
"""

import asyncio
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Final, NamedTuple

from wireloom.live.links.handshake import hostname, is_loopback

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
        is_local: Whether only this machine reaches it.
    """

    def __init__(self, pages: Mapping[str, Callable[[], Page]], *, is_local: bool = True) -> None:
        self._pages = pages
        self._is_local = is_local
        self._readers: dict[asyncio.StreamWriter, None] = {}
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
        if len(self._readers) >= MAX_READERS:
            self._drop(next(iter(self._readers)))
        self._readers[writer] = None
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                writer.write(await self._answer(reader))
                await writer.drain()
        except (OSError, TimeoutError):
            writer.transport.abort()  # whoever asked went away, or takes too long
        finally:
            self._readers.pop(writer, None)
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    def _drop(self, writer: asyncio.StreamWriter) -> None:
        """Ends the connection of whoever has waited or has been waited for longest."""
        del self._readers[writer]
        writer.transport.abort()

    async def _answer(self, reader: asyncio.StreamReader) -> bytes:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.LimitOverrunError:
            return _written(Page(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, b"too large\n"))
        except asyncio.IncompleteReadError:
            return b""
        first, *fields = head.split(b"\r\n")
        words = first.split(b" ")
        if len(words) != 3 or not words[2].startswith(b"HTTP/1."):
            return _written(Page(HTTPStatus.BAD_REQUEST, b"no request\n"))
        if words[0] not in _METHODS:
            return _written(Page(HTTPStatus.METHOD_NOT_ALLOWED, b"only GET\n"))
        if self._is_local and not all(map(is_loopback, _hosts(fields))):
            return _written(Page(HTTPStatus.MISDIRECTED_REQUEST, b"no name of this machine\n"))
        make = self._pages.get(words[1].partition(b"?")[0].decode("latin-1"))
        page = make() if make else Page(HTTPStatus.NOT_FOUND, b"no such page\n")
        return _written(page, has_body=words[0] == b"GET")


def _hosts(fields: list[bytes]) -> list[str]:
    """The hosts that a request names: one, as browsers always do, or none."""
    pairs = (field.partition(b":")[::2] for field in fields)
    named = (value for name, value in pairs if name.strip().lower() == b"host")
    return [hostname(f"//{value.strip().decode('latin-1')}") for value in named]


def _written(page: Page, *, has_body: bool = True) -> bytes:
    head = (
        f"HTTP/1.1 {page.status.value} {page.status.phrase}\r\n"
        f"Content-Type: {page.content_type}\r\n"
        f"Content-Length: {len(page.body)}\r\n"
        "Connection: close\r\n\r\n"
    )
    return head.encode() + (page.body if has_body else b"")
