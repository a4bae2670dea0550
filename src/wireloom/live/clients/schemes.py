"""Whether a port speaks TLS, for a person who took the wrong one of `ws` and `wss`."""

import asyncio
import ssl
from typing import Final
from urllib.parse import urlsplit

_SECONDS: Final = 2.0
_PORTS: Final = {"ws": 80, "wss": 443}
_FAILED: Final = (OSError, EOFError, TimeoutError, ValueError)


async def better_scheme(url: str) -> str | None:
    """The scheme that a port speaks, if it is the other one than the URL's.

    Args:
        url: Where no WebSocket could be opened.
    """
    parts = urlsplit(url)
    if parts.hostname is None or parts.scheme not in _PORTS:
        return None
    port = parts.port or _PORTS[parts.scheme]
    if parts.scheme == "ws":
        return "wss" if await _speaks_tls(parts.hostname, port) else None
    return "ws" if await _speaks_http(parts.hostname, port) else None


async def _speaks_tls(host: str, port: int) -> bool:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE  # nothing is said; only whether it is TLS is looked at
    try:
        async with asyncio.timeout(_SECONDS):
            _, writer = await asyncio.open_connection(host, port, ssl=context)
    except _FAILED:
        return False
    writer.transport.abort()
    return True


async def _speaks_http(host: str, port: int) -> bool:
    try:
        async with asyncio.timeout(_SECONDS):
            reader, writer = await asyncio.open_connection(host, port)
            try:
                writer.write(b"GET / HTTP/1.1\r\nHost: " + host.encode() + b"\r\n\r\n")
                return await reader.readexactly(5) == b"HTTP/"
            finally:
                writer.transport.abort()
    except _FAILED:
        return False
