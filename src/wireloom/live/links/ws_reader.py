"""Messages from the frames that come in on one WebSocket.

The library reads frames; what it leaves open is done here: fragments, UTF-8, codes of closing,
what a stranger may send, and how often frames may come that say nothing.
"""

from time import monotonic
from typing import Final, Protocol

from picows import WSFrame, WSListener, WSMsgType, WSTransport

from wireloom.live.links.buffers import Buffers
from wireloom.live.links.connection import NO_CODE, Host, LinkLimits, shown
from wireloom.live.links.door import Address
from wireloom.live.links.frames import (
    CLOSE,
    CONTINUATION,
    TEXT,
    Assembly,
    BreachError,
    Header,
    check_text,
    take_close,
    unmask,
)
from wireloom.live.links.pace import LARGE, Paces
from wireloom.live.links.reading import Deaf, Reading, Shown
from wireloom.live.links.ws_connection import NORMAL, WebSocketConnection
from wireloom.live.tls import common_name
from wireloom.wire.rates import Bucket
from wireloom.wire.session import FrameReceived, FrameRefused
from wireloom.wire.shares import network

_TEXT: Final = WSMsgType.TEXT
_BINARY: Final = WSMsgType.BINARY
_PROTOCOL_ERROR: Final = 1002
_TOO_LARGE: Final = 1009
_POLICY: Final = 1008
_TRY_AGAIN_LATER: Final = 1013
_HEAD_SIZE: Final = 1024
"""Bytes of a refused frame that the session sees."""


class Link(Protocol):
    """The link that a reader belongs to."""

    host: Host
    name: str
    limits: LinkLimits
    paces: Paces
    buffers: Buffers
    readers: "set[Reader]"

    def came(self, reader: "Reader", address: Address) -> None:
        """A connection came up."""
        ...

    def know(self, address: Address) -> None:
        """The session knows who is there."""
        ...


class Reader(WSListener):
    """Makes messages of frames.

    Args:
        link: Whose connection it is.
        token: The bearer token that came with the request.
    """

    def __init__(self, link: Link, token: str | None) -> None:
        self._link = link
        self._host = link.host
        self._token = token
        self._assembly: Assembly | None = None
        self._is_old = False
        self._frames = 0
        self._is_paid = False
        burst = link.limits.control_burst
        self._idle_frames = Bucket(burst, burst / link.limits.control_rate)
        self.last: Shown | None = None
        """The last whole frame of a read."""

    def on_ws_connected(self, transport: WSTransport) -> None:
        """A connection came up."""
        under, link = transport.underlying_transport, self._link
        address = under.get_extra_info("peername")
        connection = WebSocketConnection(
            self._host, link.name, shown(address), link.limits, transport
        )
        connection.on_admitted = lambda: link.know(address)
        connection.identity = common_name(under.get_extra_info("peercert"))
        connection.token = self._token
        self.connection = connection
        self.network = network(connection.peer)
        self._pace = link.paces.of(self.network)
        inner = under.get_protocol()

        def deafen(left: int) -> None:
            under.set_protocol(Deaf(inner, left, connection.leave))

        under.set_protocol(Reading(inner, self, deafen))
        under.set_write_buffer_limits(link.limits.high_bytes, link.limits.low_bytes)
        link.came(self, address)
        self._host.opened(connection)

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        """A frame came in."""
        connection = self.connection
        connection.is_heard = True
        self.last = frame
        try:
            if frame.rsv1 or frame.rsv2 or frame.rsv3:
                raise BreachError(_PROTOCOL_ERROR, "reserved bits are set")
            kind = frame.msg_type
            is_text = kind is _TEXT
            if (is_text or kind is _BINARY) and frame.fin and self._assembly is None:
                if not connection.is_closing:
                    raw = frame.get_payload_as_bytes()
                    if len(raw) > connection.trusted_size and not self._is_granted(raw, is_text):
                        return
                    if is_text and not raw.isascii():
                        check_text(raw)
                    self._host.received(FrameReceived(connection.line, raw, is_text))
            else:
                self._take_other(transport, frame, kind)
        except BreachError as breach:
            self._assembly = None
            connection.close(breach.code, breach.reason)

    def on_ws_disconnected(self, transport: WSTransport) -> None:
        """A connection went away."""
        del transport
        self._link.readers.discard(self)
        self._link.buffers.forget(self)
        self._host.closed(self.connection, self.connection.end())

    def pause_writing(self) -> None:
        """Much waits to leave."""
        self._host.congested(self.connection)

    def resume_writing(self) -> None:
        """Little waits to leave."""
        self._host.congested(self.connection)

    def check(self) -> None:
        """Looks after a connection: silence, and messages that do not end."""
        if self._is_old and self._assembly is not None:
            self.connection.close(_POLICY, "the message did not end")
            return
        self._is_old = self._assembly is not None
        self.connection.check()

    def may_come(self, header: Header, begun: bytes) -> bool:
        """Whether a frame may be read that begins so."""
        if header.opcode >= CLOSE:
            return True
        message = self._assembly if header.opcode == CONTINUATION else None
        size = header.size + (message.size if message else 0)
        if size <= self.connection.trusted_size:
            return True
        part = unmask(begun[header.length : header.length + _HEAD_SIZE], header.mask)
        head = (message.head(_HEAD_SIZE) if message else b"") or part
        is_text = message.is_text if message else header.opcode == TEXT
        if not self._fits(size, head, is_text=is_text):
            return False
        if header.size > LARGE:
            self._link.buffers.grow(self, header.size)
            self._slow_down(header.size)
            self._is_paid = True
        return True

    def cut(self) -> None:
        """Ends the connection at once: it keeps memory that others need."""
        self.connection.code = _TRY_AGAIN_LATER
        self.connection.abort()

    def out_of_step(self) -> None:
        """The bytes are not the frames that they should be; a handshake was not waited for."""
        self.connection.close(_PROTOCOL_ERROR, "frames that do not begin where they should")

    def _is_granted(self, raw: bytes, is_text: bool) -> bool:  # noqa: FBT001
        """Whether a whole message may be taken that is large, or a stranger's."""
        if not self._fits(len(raw), raw[:_HEAD_SIZE], is_text=is_text):
            return False
        if len(raw) > LARGE and not self._is_paid:
            self._slow_down(len(raw))
        self._is_paid = False
        if not self.connection.is_admitted:
            self._frames += 1
            if self._frames > self._link.limits.stranger_frames:
                raise BreachError(_POLICY, "too many messages from a stranger")
        return True

    def _slow_down(self, size: int) -> None:
        """Leaves a connection alone for a while if too much comes in large frames."""
        seconds = self._pace.spend(monotonic(), size)
        if seconds:
            self.connection.rest(seconds)

    def _fits(self, size: int, head: bytes, *, is_text: bool) -> bool:
        """Whether a message is small enough; the session hears of one that is not."""
        connection = self.connection
        if not connection.is_admitted:
            self._host.catch_up()  # what came before may say who is there
        limit = connection.max_frame_size
        if size <= limit:
            return True
        if not connection.is_over:
            self._assembly = None
            self._host.refused(FrameRefused(connection.line, size, head, is_text, limit))
            connection.close(_TOO_LARGE, "the message is too large")
        return False

    def _take_other(self, transport: WSTransport, frame: WSFrame, kind: WSMsgType) -> None:
        body = frame.get_payload_as_bytes()
        if kind is WSMsgType.CLOSE:
            self._take_close(body)
        elif self.connection.is_closing:
            return
        elif kind is WSMsgType.PING:
            self._count_idle()
            self._host.catch_up()
            self.connection.flush()
            transport.send_pong(body)
            self._host.alive(self.connection)
        elif kind is WSMsgType.PONG:
            self._count_idle()
            self._host.alive(self.connection)
        else:
            if not body:
                self._count_idle()
            self._take_part(body, kind, is_last=bool(frame.fin))

    def _count_idle(self) -> None:
        """Ends a connection on which too many frames come that say nothing."""
        if self._idle_frames.take(monotonic()):
            # What still comes is not read: the close frame leaves, and then the time is over.
            self.connection.pause()
            raise BreachError(_POLICY, "too many control frames or empty parts")

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
            connection.close(NORMAL if code is None else code, "")
        connection.leave()

    def _take_part(self, body: bytes, kind: WSMsgType, *, is_last: bool) -> None:
        assembly, is_text = self._assembly, kind is _TEXT
        if kind is WSMsgType.CONTINUATION:
            if assembly is None:
                raise BreachError(_PROTOCOL_ERROR, "nothing to continue")
            if not self._fits_with(assembly, body):
                return
            assembly.add(body, is_last=is_last)
        else:
            if assembly is not None:
                raise BreachError(_PROTOCOL_ERROR, "the message before is not finished")
            if not self._fits(len(body), body[:_HEAD_SIZE], is_text=is_text):
                return
            self._is_old = False
            assembly = self._assembly = Assembly(body, is_text=is_text)
        if is_last:
            whole, is_text = assembly.whole(), assembly.is_text
            self._assembly = None
            if len(whole) <= self.connection.trusted_size or self._is_granted(whole, is_text):
                self._host.received(FrameReceived(self.connection.line, whole, is_text))

    def _fits_with(self, assembly: Assembly, part: bytes) -> bool:
        size = assembly.size + len(part)
        if size <= self.connection.trusted_size:
            return True
        head = assembly.head(_HEAD_SIZE) or part[:_HEAD_SIZE]
        return self._fits(size, head, is_text=assembly.is_text)
