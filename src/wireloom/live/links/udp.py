"""Frames on UDP: one a datagram; who sends from one address is one connection."""

import asyncio
import errno
import socket
from typing import Final

from wireloom.live.links.connection import Backlog, Connection, Host, LinkLimits, address_of, shown
from wireloom.wire.session import Dial, FrameReceived, Swarm

Address = tuple[str, int]

IDLE_ROUNDS: Final = 3
"""A peer that was silent for so many times `ping_seconds` is gone."""

GONE: Final = 1001
CUT: Final = 1006


class UdpConnection(Connection):
    """One peer.

    Args:
        carrier: Where its datagrams come from and go to.
        address: Its address.
    """

    __slots__ = ("_address", "_carrier", "silence")

    def __init__(self, carrier: "UdpLink", address: Address) -> None:
        super().__init__(carrier.host, carrier.name, shown(address), carrier.limits)
        self.swarm = carrier.swarm
        self._carrier = carrier
        self._address = address
        self.silence = 0

    def put(self, raw: bytes, text: bool) -> None:  # noqa: FBT001
        """Takes a frame that leaves with the next `flush`."""
        del text
        if not self._out:
            self.turn.append(self)
        self._out.append(raw)

    def flush(self) -> None:
        """Sends all that was put, a datagram each."""
        for raw in self._out:
            self._carrier.send(raw, self._address)
        self._out.clear()

    def close(self, code: int, reason: str) -> None:
        """Forgets the peer; there is no way to tell it."""
        del reason
        self.flush()
        self._carrier.forget(self._address, code)

    def abort(self) -> None:
        """Forgets the peer and what was for it."""
        self._out.clear()
        self._carrier.forget(self._address, CUT)

    def pause(self) -> None:
        """Does nothing: what is not read in time is lost, as datagrams are."""

    def resume(self) -> None:
        """Does nothing."""

    def buffered(self) -> int:
        """Nothing waits for one peer alone."""
        return 0

    def backlog(self) -> Backlog:
        """Nothing waits for one peer alone."""
        return Backlog(0, 0)


class UdpLink(asyncio.DatagramProtocol):
    """Takes datagrams on a bound socket.

    Args:
        host: Who is told what happens.
        limits: What peers are granted.
        name: The link's name.
        swarm: The swarm whose frames it carries, if they do not say that themselves.
    """

    def __init__(
        self,
        host: Host,
        *,
        limits: LinkLimits | None = None,
        name: str = "udp",
        swarm: Swarm | None = None,
    ) -> None:
        self.host = host
        self.name = name
        self.swarm = swarm
        self.limits = limits or LinkLimits()
        self.dropped = 0
        """Datagrams that did not leave because too much waits."""

        self._is_full = False
        self._is_stopping = False
        self._peers: dict[Address, UdpConnection] = {}
        self._transport: asyncio.DatagramTransport | None = None
        self._listens = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None

    async def listen(self, bound: socket.socket) -> None:
        """Takes datagrams from now on."""
        loop = asyncio.get_running_loop()
        self._transport, _ = await loop.create_datagram_endpoint(lambda: self, sock=bound)
        self._listens.set()
        self._check()

    def stop(self) -> None:
        """Takes no further peers; the socket ends with the last of those that are there."""
        self._is_stopping = True
        if self._timer is not None:
            self._timer.cancel()
        self._end_with_the_last()

    def connect(self, address: Address, *, dial: Dial | None = None) -> UdpConnection:
        """The connection to an address, whether or not anything came from there."""
        if address not in self._peers:
            if len(self._peers) >= self.limits.max_connections:
                self.forget(self._spare(), GONE)
            peer = self._peers[address] = UdpConnection(self, address)
            peer.dial = dial
            self.host.opened(peer)
            return peer
        return self._peers[address]

    def _spare(self) -> Address:
        """Who makes way for another: the oldest whom the session does not know, if there is one.

        Anybody can send from as many addresses as there are.
        """
        strangers = (one for one, peer in self._peers.items() if not peer.is_admitted)
        return next(strangers, None) or next(iter(self._peers))

    async def dial(self, dial: Dial) -> None:
        """Makes the connection to a peer; nothing is sent, so nobody may be there.

        A session may dial before the link listens; the connection is made when it does.

        Raises:
            OSError: If it has no address, or is connected already.
            ValueError: If the dial's address is none.
        """
        host, port = address_of(dial.address)
        await self._listens.wait()
        if self._transport is None or self._transport.is_closing():
            raise OSError(errno.ENETDOWN, "the link has stopped")
        loop = asyncio.get_running_loop()
        family = self._transport.get_extra_info("socket").family
        found = await loop.getaddrinfo(host, port, family=family, type=socket.SOCK_DGRAM)
        address = (str(found[0][4][0]), port)
        if address in self._peers:
            raise OSError(errno.EISCONN, "the peer is connected already")
        self.connect(address, dial=dial)

    def datagram_received(self, data: bytes, addr: Address) -> None:
        """Gives a datagram to the session, if it is not too large."""
        is_welcome = not self._is_stopping or addr[:2] in self._peers
        if is_welcome and len(data) <= self.limits.max_frame_size:
            peer = self.connect(addr[:2])
            peer.silence = 0
            self.host.received(FrameReceived(peer.line, data))

    def error_received(self, exc: Exception) -> None:
        """Does nothing: a datagram that did not arrive is lost, as datagrams are."""

    def send(self, raw: bytes, address: Address) -> None:
        """Sends one datagram, or drops it if too much waits."""
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        if self._is_full:
            self.dropped += 1
        else:
            transport.sendto(raw, address)

    def pause_writing(self) -> None:
        """Drops datagrams from now on: too many wait."""
        self._is_full = True

    def resume_writing(self) -> None:
        """Sends again."""
        self._is_full = False

    def forget(self, address: Address, code: int) -> None:
        """Ends the connection to an address."""
        peer = self._peers.pop(address, None)
        if peer is not None:
            self.host.closed(peer, code)
        self._end_with_the_last()

    def _end_with_the_last(self) -> None:
        """Closes the socket of a link that was stopped and has no peers any more."""
        if self._is_stopping and not self._peers and self._transport is not None:
            self._transport.close()

    def _check(self) -> None:
        for address, peer in tuple(self._peers.items()):
            peer.silence += 1
            if peer.silence > IDLE_ROUNDS:
                self.forget(address, GONE)
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self.limits.ping_seconds, self._check)
