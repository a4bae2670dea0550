"""A WebSocket as clients use it: frames in, frames out, and errors that say what happened."""

import socket
import ssl
from dataclasses import dataclass
from typing import Final

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import (
    ConnectionClosed,
    InvalidStatus,
    InvalidURI,
    WebSocketException,
)

from wireloom.live.clients.errors import (
    AnswerTimeoutError,
    ClientError,
    HandshakeError,
    LostError,
    UnreachableError,
)
from wireloom.live.clients.schemes import better_scheme

_UNREADABLE: Final = frozenset({1002, 1007, 1009})
"""Why a client ends a connection by itself: no WebSocket frame, no UTF-8, too large."""


_CLEAR: Final = (
    *(InvalidStatus, InvalidURI, ValueError, ssl.SSLCertVerificationError),
    *(ConnectionRefusedError, socket.gaierror),
)
"""Failures to connect that have nothing to do with TLS or its lack."""


@dataclass(frozen=True, kw_only=True)
class Dialling:
    """Where a server is and how a connection to it is opened and kept."""

    url: str
    tls: ssl.SSLContext | None = None
    """For `wss`: whom to trust, and the client's certificate; the system's trust if None."""

    max_size: int
    """Bytes of the largest frame that is taken."""

    open_seconds: float
    close_seconds: float
    ping_seconds: float | None = None
    """Time between pings; None sends none."""

    missed_pings: int = 2
    """So many without answer, and the connection is dead."""


class Socket:
    """An open connection."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection

    async def send(self, raw: bytes, *, text: bool = False) -> None:
        """Sends one frame.

        Raises:
            LostError: If the connection has ended.
        """
        try:
            await self._connection.send(raw, text=text)
        except ConnectionClosed as error:
            raise _lost(error) from None

    async def receive(self) -> tuple[bytes, bool]:
        """The next frame, and whether it is text.

        Raises:
            LostError: If the connection has ended.
        """
        try:
            frame = await self._connection.recv()
        except ConnectionClosed as error:
            raise _lost(error) from None
        return (frame.encode(), True) if isinstance(frame, str) else (frame, False)

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Ends the connection; does nothing if it has ended."""
        await self._connection.close(code, reason)

    def abort(self) -> None:
        """Ends the connection at once, if it has not ended."""
        self._connection.transport.abort()


async def dial(where: Dialling) -> Socket:
    """Opens a connection.

    Raises:
        UnreachableError: If nobody listens there.
        AnswerTimeoutError: If who listens does not answer.
        HandshakeError: If who answers opens no WebSocket, or TLS fails.
    """
    ping, missed = where.ping_seconds, where.missed_pings
    try:
        connection = await connect(
            where.url,
            ssl=(where.tls or True) if where.url.startswith("wss:") else None,
            compression=None,
            open_timeout=where.open_seconds,
            close_timeout=where.close_seconds,
            ping_interval=ping,
            ping_timeout=None if ping is None else ping * missed,
            max_size=where.max_size,
        )
    except (OSError, WebSocketException, EOFError, ValueError) as error:
        raise await _mixed_up(where, error) or _explained(where, error) from None
    return Socket(connection)


async def _mixed_up(where: Dialling, error: Exception) -> HandshakeError | None:
    """What to say if the port speaks TLS and the client does not, or the other way round."""
    if isinstance(error, _CLEAR):
        return None
    match await better_scheme(where.url):
        case "wss":
            return HandshakeError(f"{where.url}: the port speaks TLS: use wss://")
        case "ws":
            return HandshakeError(f"{where.url}: the port does not speak TLS: use ws://")
    return None


def _lost(error: ConnectionClosed) -> LostError:
    closed, ended = error.rcvd, error.sent
    if ended is not None and ended.code in _UNREADABLE and not error.rcvd_then_sent:
        return LostError(None, f"the server sent what this client does not take: {ended.reason}")
    return LostError(None) if closed is None else LostError(closed.code, closed.reason)


def _explained(where: Dialling, error: Exception) -> ClientError:
    if isinstance(error, OSError):
        return _unreached(where, error)
    url = where.url
    match error:
        case InvalidStatus():
            status = error.response.status_code
            return HandshakeError(f"{url} refuses the connection: HTTP {status}", status)
        case InvalidURI() | ValueError():
            return HandshakeError(f"{url} is no address of a WebSocket")
    return HandshakeError(f"{url} is no WebSocket server")


def _unreached(where: Dialling, error: OSError) -> ClientError:
    url = where.url
    match error:
        case TimeoutError():
            return AnswerTimeoutError(f"{url} does not answer within {where.open_seconds:g} s")
        case ssl.SSLCertVerificationError():
            return HandshakeError(f"{url} shows no trusted certificate: {error.verify_message}")
        case ssl.SSLError():
            return HandshakeError(f"{url} does not speak TLS with this client: {error.reason}")
        case ConnectionResetError() | BrokenPipeError():
            return HandshakeError(f"{url} ends the connection before it is open")
        case socket.gaierror():
            return UnreachableError(f"the host of {url} is not known")
    return UnreachableError(f"nobody listens at {url}: {_words(error)}")


def _words(error: OSError) -> str:
    """What the system says; several addresses of one host fail with several texts."""
    return (error.strerror or str(error) or type(error).__name__).lower()
