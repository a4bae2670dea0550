"""WebSockets: the server's side of RFC 6455.

See `door` for who is accepted, `handshake` for who gets in, `reading` and `ws_reader` for what
comes in, and `ws_connection` for what leaves.
"""

import asyncio
import logging
import socket
from http import HTTPStatus
from ssl import SSLContext
from typing import Final

from picows import (
    WSListener,
    WSUpgradeRequest,
    WSUpgradeResponse,
    WSUpgradeResponseWithListener,
    ws_create_server,
)

from wireloom.live.links.buffers import Buffers
from wireloom.live.links.connection import Host, LinkLimits
from wireloom.live.links.door import ACCEPTS_A_TURN, Address, Door, Room
from wireloom.live.links.handshake import Gatekeeper, Refusal, bearer
from wireloom.live.links.pace import Paces
from wireloom.live.links.ws_reader import Reader
from wireloom.wire.visible import visible

_FIRST_BUFFER_SIZE: Final = 4_096
"""Idle connections keep this much; busy ones grow theirs."""

_UNLIMITED: Final = 1 << 62
"""The library's own limit of frames, which has no words for the session: see `reading`."""

_SLICES: Final = 64
"""Connections are looked after in so many parts of a round."""

_log: Final = logging.getLogger("wireloom.live.websocket")
_log.setLevel(logging.CRITICAL)
"""What peers do wrong is counted, not logged: whoever floods must not fill the disk."""


class WebSocketLink:
    """Takes WebSockets on a listening socket.

    Args:
        host: Who is told what happens on them.
        gatekeeper: Who may connect.
        limits: What connections are granted.
        tls: What they are secured with, if they are.
        room: How many sockets the process may have.
    """

    def __init__(
        self,
        host: Host,
        gatekeeper: Gatekeeper,
        *,
        limits: LinkLimits | None = None,
        tls: SSLContext | None = None,
        room: Room | None = None,
    ) -> None:
        self.host = host
        self.name = "ws" if tls is None else "wss"
        self.limits = limits or LinkLimits()
        self.paces = Paces(self.limits.large_bytes_per_second)
        self.buffers = Buffers(self.limits.max_buffer_bytes)
        self.readers: set[Reader] = set()
        self._gatekeeper = gatekeeper
        self._tls = tls
        self._room = room or Room(self.limits.max_connections + 2 * self.limits.max_strangers)
        self._door: Door | None = None
        self._server: asyncio.Server | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._unchecked: list[Reader] = []
        self._tick = 0

    async def listen(self, listening: socket.socket) -> None:
        """Takes connections from now on; the socket is the link's."""
        limits = self.limits
        self._door = Door(listening, limits, self._room, self.host.turned_away)
        secured = {"ssl": self._tls, "ssl_handshake_timeout": limits.handshake_seconds}
        self._server = await ws_create_server(
            self._admit,
            sock=self._door,
            backlog=ACCEPTS_A_TURN,
            use_aiofastnet=True,
            websocket_handshake_timeout=limits.handshake_seconds,
            logger_name=logging.LoggerAdapter(_log),
            enable_auto_pong=False,
            max_frame_size=_UNLIMITED,
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

    def came(self, reader: Reader, address: Address) -> None:
        """A connection came up."""
        self.readers.add(reader)
        if self._door is not None:
            self._door.upgrade(address)

    def know(self, address: Address) -> None:
        """The session knows who is there."""
        if self._door is not None:
            self._door.know(address)

    def _admit(self, request: WSUpgradeRequest) -> WSListener | WSUpgradeResponseWithListener:
        headers = request.headers

        def fields(name: str) -> list[str]:
            return headers.getall(name, [])

        refusal = self._gatekeeper.refusal(request.path.decode("latin-1"), fields)
        count = self._door.count if self._door is not None else 0
        if refusal is None and count > self.limits.max_connections:
            busy = HTTPStatus.SERVICE_UNAVAILABLE
            refusal = Refusal(busy, "too many are connected", {"Retry-After": "5"})
        if refusal is not None:
            self.host.turned_away(visible(", ".join(fields("Origin"))), str(refusal.status.value))
            return _refused(refusal)
        # The library takes these words alone; browsers send them within lists.
        headers["Connection"], headers["Upgrade"] = "Upgrade", "websocket"
        return Reader(self, bearer(fields))

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
