"""Blocking conversations, for what is said on a connection before the load."""

import socket
import struct
from typing import Final, Self

HOST: Final = "127.0.0.1"
TEXT: Final = 0x81
BINARY: Final = 0x82
_SECONDS: Final = 30.0
_NO_MASK: Final = bytes(4)
"""Clients mask what they send; with this it stays readable."""


class Talk:
    """A TCP connection with what was read of it and not yet taken.

    Args:
        port: Where the server listens.
        source: This end's address: everyone on 127.0.0.0/8 is this machine.
    """

    def __init__(self, port: int, source: str = HOST) -> None:
        self.socket = socket.create_connection(
            (HOST, port), timeout=_SECONDS, source_address=(source, 0)
        )
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._read = bytearray()

    def say(self, raw: bytes) -> None:
        """Sends bytes."""
        self.socket.sendall(raw)

    def line(self, end: bytes = b"\r\n") -> bytes:
        """All up to an end, which is taken too."""
        while (at := self._read.find(end)) < 0:
            self._more()
        return self.take(at + len(end))[: -len(end)]

    def take(self, size: int) -> bytes:
        """So many bytes."""
        while len(self._read) < size:
            self._more()
        taken = bytes(self._read[:size])
        del self._read[:size]
        return taken

    def _more(self) -> None:
        got = self.socket.recv(65_536)
        if not got:
            raise ConnectionError(f"the server ended the connection after {bytes(self._read)!r}")
        self._read += got


class WebSocket(Talk):
    """A WebSocket as a client has it."""

    def __init__(
        self, port: int, path: str, subprotocol: str | None = None, source: str = HOST
    ) -> None:
        super().__init__(port, source)
        wish = f"Sec-WebSocket-Protocol: {subprotocol}\r\n" if subprotocol else ""
        self.say(
            (
                f"GET {path} HTTP/1.1\r\nHost: {HOST}:{port}\r\nUpgrade: websocket\r\n"
                "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                f"Sec-WebSocket-Key: d2lyZWxvb20gYmVuY2hlcw==\r\n{wish}\r\n"
            ).encode()
        )
        answer = self.line(b"\r\n\r\n")
        if b" 101 " not in answer:
            raise ConnectionError(answer.decode())

    def tell(self, payload: bytes, kind: int = TEXT) -> Self:
        """Sends a message."""
        self.say(framed(payload, kind))
        return self

    def hear(self) -> bytes:
        """The next message."""
        _, size = self.take(2)
        if size == 126:
            size = int.from_bytes(self.take(2), "big")
        elif size == 127:
            size = int.from_bytes(self.take(8), "big")
        return self.take(size)


def framed(payload: bytes, kind: int = TEXT) -> bytes:
    """A client's frame."""
    size = len(payload)
    if size < 126:
        head = struct.pack("!BB", kind, 0x80 | size)
    elif size < 1 << 16:
        head = struct.pack("!BBH", kind, 0x80 | 126, size)
    else:
        head = struct.pack("!BBQ", kind, 0x80 | 127, size)
    return head + _NO_MASK + payload
