"""WebSockets: the server's side of RFC 6455.

The library reads frames; what it leaves open is done here: fragments, UTF-8, codes of closing,
signs of life, and an orderly end. See `frames` for the rules and `handshake` for who gets in.
"""

import asyncio
import logging
import socket
from http import HTTPStatus
from ssl import SSLContext
from typing import Final

from picows import (
    WSCloseCode,
    WSFrame,
    WSListener,
    WSMsgType,
    WSTransport,
    WSUpgradeRequest,
    WSUpgradeResponse,
    WSUpgradeResponseWithListener,
    ws_create_server,
)

from wireloom.live.links.connection import (
    ABNORMAL,
    NO_CODE,
    Connection,
    Host,
    LinkLimits,
    shown,
)
from wireloom.live.links.frames import (
    BINARY,
    TEXT,
    Assembly,
    BreachError,
    Headers,
    check_text,
    is_sendable,
    put_close,
    take_close,
)
from wireloom.live.links.handshake import Gatekeeper, Refusal, bearer
from wireloom.live.links.reading import CloseFirst
from wireloom.live.tls import common_name
from wireloom.wire.session import FrameReceived

_TEXT: Final = WSMsgType.TEXT
_BINARY: Final = WSMsgType.BINARY
_PROTOCOL_ERROR: Final = 1002
_TIMED_OUT: Final = 1008
_NORMAL: Final = 1000
_FIRST_BUFFER_SIZE: Final = 4_096
"""Idle connections keep this much; busy ones grow theirs."""

_SLICES: Final = 64
"""Connections are looked after in so many parts of a round."""

_TEXT_HEADERS: Final = Headers(TEXT)
_BINARY_HEADERS: Final = Headers(BINARY)

_log: Final = logging.getLogger("wireloom.live.websocket")
_log.setLevel(logging.CRITICAL)
"""What peers do wrong is counted, not logged: whoever floods must not fill the disk."""


class WebSocketConnection(Connection):
    """One WebSocket."""

    __slots__ = (
        "_is_asked",
        "_size",
        "_timer",
        "_transport",
        "_write",
        "code",
        "is_closing",
        "is_heard",
    )

    def __init__(
        self, host: Host, link: str, peer: str, limits: LinkLimits, transport: WSTransport
    ) -> None:
        super().__init__(host, link, peer, limits)
        self._transport = transport
        self._write = transport.underlying_transport.write
        self._size = transport.underlying_transport.get_write_buffer_size
        self._timer: asyncio.TimerHandle | None = None
        self.is_closing = False
        self.is_heard = True
        self._is_asked = False
        self.code: int | None = None
        """What ended it, once something did."""

    def put(self, raw: bytes, text: bool) -> None:  # noqa: FBT001
        """Takes a frame that leaves with the next `flush`."""
        out = self._out
        if not out:
            self.turn.append(self)
        out.append((_TEXT_HEADERS if text else _BINARY_HEADERS)[len(raw)])
        out.append(raw)

    def flush(self) -> None:
        """Writes all that was put; after a close frame nothing leaves any more."""
        out = self._out
        if not out:
            return
        data, frames = b"".join(out), len(out) >> 1
        out.clear()
        if self._transport.is_close_frame_sent or self._transport.is_disconnected:
            return
        self._write(data)
        if self._size():
            self._wrote(len(data), frames)

    def close(self, code: int, reason: str) -> None:
        """Says goodbye and waits a while for the peer to do the same."""
        self.host.catch_up()
        if self.is_closing:
            return
        self.flush()
        self.is_closing = True
        self.code = self.code or code
        self.host.ending(self, self.code)
        if not self._transport.is_close_frame_sent:
            sent = code if is_sendable(code) else _NORMAL
            self._transport.send_close(_close_code(sent), put_close(sent, reason)[2:])
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self.limits.close_seconds, self.abort)

    def leave(self) -> None:
        """Lets go of the socket once all has left it."""
        self._transport.disconnect()

    def abort(self) -> None:
        """Ends the connection at once."""
        self.host.ending(self, self.code or ABNORMAL)
        self._transport.disconnect(graceful=False)

    def pause(self) -> None:
        """Stops reading."""
        self._transport.underlying_transport.pause_reading()

    def resume(self) -> None:
        """Reads on."""
        self._transport.underlying_transport.resume_reading()

    def buffered(self) -> int:
        """Bytes that the system has not taken yet."""
        return self._size()

    def check(self) -> None:
        """Asks a silent peer for a sign of life, or cuts one that gave none."""
        if self.is_heard:
            self.is_heard = self._is_asked = False
        elif self._is_asked:
            self.abort()
        else:
            self._is_asked = True
            self._transport.send_ping()

    def end(self) -> int:
        """Forgets what was pending, and tells the code that the connection ended with."""
        if self._timer is not None:
            self._timer.cancel()
        self._out.clear()
        handshake = self._transport.close_handshake
        if self.code is None and handshake is not None and handshake.sent is not None:
            self.code = int(handshake.sent.code.value)
        return ABNORMAL if self.code is None else self.code


class _Reader(WSListener):
    """Makes messages of the frames that come in on one connection."""

    def __init__(self, link: "WebSocketLink", token: str | None) -> None:
        self._link = link
        self._host = link.host
        self._token = token
        self._assembly: Assembly | None = None
        self._is_old = False

    def on_ws_connected(self, transport: WSTransport) -> None:
        under = transport.underlying_transport
        under.set_protocol(CloseFirst(under.get_protocol()))
        link = self._link
        under.set_write_buffer_limits(link.limits.high_bytes, link.limits.low_bytes)
        peer = shown(under.get_extra_info("peername"))
        connection = WebSocketConnection(self._host, link.name, peer, link.limits, transport)
        connection.identity = common_name(under.get_extra_info("peercert"))
        connection.token = self._token
        self.connection = connection
        link.readers.add(self)
        self._host.opened(connection)

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        connection = self.connection
        connection.is_heard = True
        try:
            if frame.rsv1 or frame.rsv2 or frame.rsv3:
                raise BreachError(_PROTOCOL_ERROR, "reserved bits are set")
            kind = frame.msg_type
            is_text = kind is _TEXT
            if (is_text or kind is _BINARY) and frame.fin and self._assembly is None:
                if not connection.is_closing:
                    raw = frame.get_payload_as_bytes()
                    if is_text and not raw.isascii():
                        check_text(raw)
                    self._host.received(FrameReceived(connection.line, raw, is_text))
            else:
                self._take_other(transport, frame, kind)
        except BreachError as breach:
            self._assembly = None
            connection.close(breach.code, breach.reason)

    def on_ws_disconnected(self, transport: WSTransport) -> None:
        del transport
        self._link.readers.discard(self)
        self._host.closed(self.connection, self.connection.end())

    def pause_writing(self) -> None:
        self._host.congested(self.connection)

    def resume_writing(self) -> None:
        self._host.congested(self.connection)

    def check(self) -> None:
        """Looks after a connection: silence, and messages that do not end."""
        if self._is_old and self._assembly is not None:
            self.connection.close(_TIMED_OUT, "the message did not end")
            return
        self._is_old = self._assembly is not None
        self.connection.check()

    def _take_other(self, transport: WSTransport, frame: WSFrame, kind: WSMsgType) -> None:
        body = frame.get_payload_as_bytes()
        if kind is WSMsgType.PING:
            self._host.catch_up()
            self.connection.flush()
            transport.send_pong(body)
            self._host.alive(self.connection)
        elif kind is WSMsgType.PONG:
            self._host.alive(self.connection)
        elif kind is WSMsgType.CLOSE:
            self._take_close(body)
        elif not self.connection.is_closing:
            self._take_part(body, kind, is_last=bool(frame.fin))

    def _take_close(self, body: bytes) -> None:
        connection = self.connection
        try:
            code = take_close(body)
        except BreachError as breach:  # it is a close all the same: no other will come
            connection.close(breach.code, breach.reason)
            connection.leave()
            return
        if not connection.is_closing:
            connection.code = NO_CODE if code is None else code
            connection.close(_NORMAL if code is None else code, "")
        connection.leave()

    def _take_part(self, body: bytes, kind: WSMsgType, *, is_last: bool) -> None:
        if kind is WSMsgType.CONTINUATION:
            if self._assembly is None:
                raise BreachError(_PROTOCOL_ERROR, "nothing to continue")
            self._assembly.add(body, is_last=is_last)
        else:
            if self._assembly is not None:
                raise BreachError(_PROTOCOL_ERROR, "the message before is not finished")
            self._is_old = False
            limit = self._link.limits.max_frame_size
            self._assembly = Assembly(body, is_text=kind is _TEXT, max_size=limit)
        if is_last:
            whole, is_text = self._assembly.whole(), self._assembly.is_text
            self._assembly = None
            self._host.received(FrameReceived(self.connection.line, whole, is_text))


class WebSocketLink:
    """Takes WebSockets on a listening socket.

    Args:
        host: Who is told what happens on them.
        gatekeeper: Who may connect.
        limits: What connections are granted.
        tls: What they are secured with, if they are.
    """

    def __init__(
        self,
        host: Host,
        gatekeeper: Gatekeeper,
        *,
        limits: LinkLimits | None = None,
        tls: SSLContext | None = None,
    ) -> None:
        self.host = host
        self.name = "ws" if tls is None else "wss"
        self.limits = limits or LinkLimits()
        self.readers: set[_Reader] = set()
        self._gatekeeper = gatekeeper
        self._tls = tls
        self._server: asyncio.Server | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._unchecked: list[_Reader] = []
        self._tick = 0

    async def listen(self, listening: socket.socket) -> None:
        """Takes connections from now on."""
        limits = self.limits
        secured = {"ssl": self._tls, "ssl_handshake_timeout": limits.handshake_seconds}
        self._server = await ws_create_server(
            self._admit,
            sock=listening,
            websocket_handshake_timeout=limits.handshake_seconds,
            logger_name=logging.LoggerAdapter(_log),
            enable_auto_pong=False,
            max_frame_size=limits.max_frame_size,
            read_buffer_init_size=_FIRST_BUFFER_SIZE,
            **({} if self._tls is None else secured),  # type: ignore[arg-type]
        )
        self._check_later()

    def stop(self) -> None:
        """Takes no further connections; those that are there stay."""
        if self._server is not None:
            self._server.close()
        if self._timer is not None:
            self._timer.cancel()

    def _admit(self, request: WSUpgradeRequest) -> WSListener | WSUpgradeResponseWithListener:
        headers = request.headers

        def fields(name: str) -> list[str]:
            return headers.getall(name, [])

        refusal = self._gatekeeper.refusal(request.path.decode("latin-1"), fields)
        if refusal is None and len(self.readers) >= self.limits.max_connections:
            busy = HTTPStatus.SERVICE_UNAVAILABLE
            refusal = Refusal(busy, "too many are connected", {"Retry-After": "5"})
        if refusal is not None:
            return _refused(refusal)
        # The library takes these words alone; browsers send them within lists.
        headers["Connection"], headers["Upgrade"] = "Upgrade", "websocket"
        return _Reader(self, bearer(fields))

    def _check_later(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self.limits.ping_seconds / _SLICES, self._check)

    def _check(self) -> None:
        """Looks after a slice of the connections: all at once would hold up everyone."""
        if self._tick == 0:
            self._unchecked = list(self.readers)
        for reader in self._unchecked[self._tick :: _SLICES]:
            if reader in self.readers:
                reader.check()
        self._tick = (self._tick + 1) % _SLICES
        self._check_later()


def _refused(refusal: Refusal) -> WSUpgradeResponseWithListener:
    response = WSUpgradeResponse.create_error_response(
        refusal.status, f"{refusal.reason}\n".encode(), dict(refusal.headers)
    )
    return WSUpgradeResponseWithListener(response, None)


def _close_code(code: int) -> WSCloseCode:
    """A code as the library's type has it: it passes any number on."""
    return code  # type: ignore[return-value]
