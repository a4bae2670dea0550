"""What an operator sets of a link, and the link that comes of it: one class a kind of link.

The table of an endpoint with one link is that link's section with a few keys more. An endpoint with
several links has a table for each of them below its own.
"""

import socket
from pathlib import Path
from ssl import SSLContext
from typing import ClassVar, Protocol

from msgspec.structs import replace

from wireloom.live.errors import ConfigError, NodeError
from wireloom.live.links.connection import Host, LinkLimits
from wireloom.live.links.door import Room
from wireloom.live.links.handshake import Gatekeeper
from wireloom.live.links.tcp import TcpLink
from wireloom.live.links.udp import UdpLink
from wireloom.live.listening import bound, bound_datagrams
from wireloom.live.sections import Address, Section, take_address
from wireloom.live.tls import TlsError, server_context


class Link(Protocol):
    """Brings connections to a driver."""

    async def listen(self, bound: socket.socket, /) -> None:
        """Takes connections from now on; the socket is the link's."""
        ...

    def stop(self) -> None:
        """Takes no further connections."""
        ...


class LinkSection(Section, frozen=True):
    """What all links have."""

    KIND: ClassVar[str]
    """How the link is called: in captures, in addresses, and by sessions that dial."""

    listen: str = ""
    """Address and port; empty: the link is off."""

    max_connections: int = 20_000
    """Further ones are refused."""

    ping_seconds: float = 20.0
    """How long a connection may be silent before it is asked for a sign of life."""

    def listens_at(self, name: str) -> Address:
        """Where it listens, if it is not off.

        Args:
            name: The section's path in the file.

        Raises:
            ConfigError: If that is no address.
        """
        return take_address(self.listen, f"{name}.listen")

    def check(self, name: str) -> None:
        """Refuses keys that cannot work together or at all; called before anything starts.

        Raises:
            ConfigError: If there are any.
        """

    def lack(self) -> str:
        """What it must have before others than this machine may reach it; empty if nothing.

        A section whose protocol proves by itself who speaks says so by giving an empty text.
        """
        return "authentication"

    def limits_for(self, max_frame_size: int) -> LinkLimits:
        """What its connections are granted."""
        return LinkLimits(
            max_frame_size=max_frame_size,
            max_connections=self.max_connections,
            ping_seconds=self.ping_seconds,
            max_backlog_bytes=LinkLimits().max_backlog_bytes + max_frame_size,
        )

    def bind(self, name: str) -> socket.socket:
        """The socket that it listens on.

        Raises:
            NodeError: If it cannot be had.
        """
        return bound(self.listens_at(name), name)

    def link(self, name: str, host: Host, *, max_frame_size: int, room: Room) -> Link:
        """The link, which does not listen yet.

        Args:
            name: The section's path in the file.
            host: Who is told what happens on its connections.
            max_frame_size: The most bytes that a frame may have.
            room: How many sockets the process may have.

        Raises:
            NodeError: If something that it needs cannot be used.
        """
        raise NotImplementedError

    def url(self, where: str) -> str:
        """How its address is told to people and scripts."""
        return f"{self.KIND}://{where}"


class Tls(Section, frozen=True):
    """What a link secures its connections with."""

    certificate: str
    """The certificate and those between it and the root, PEM."""

    key: str
    """Its private key, PEM, not encrypted."""

    client_authority: str | None = None
    """Who vouches for clients' certificates, PEM."""


class WebSocketSection(LinkSection, frozen=True):
    """A WebSocket link."""

    KIND = "ws"

    path: str = "/"
    """Where the WebSocket is."""

    origins: tuple[str, ...] = ()
    """Whose web pages may connect besides those of this machine: `https://example.com`."""

    tls: Tls | None = None
    """Without it connections are plain."""

    max_strangers: int = 1_024
    """Connections that have not logged in yet; one address may have half of them."""

    stranger_rate: float = 20.0
    """Connections a second that one address may begin without logging in on them, ten times as
    many at once."""

    def check(self, name: str) -> None:
        """Refuses a path that no request can have."""
        if not self.path.startswith("/"):
            raise ConfigError(f"{name}.path = {self.path!r} does not begin with /")

    def lack(self) -> str:
        """TLS, if it has none; an endpoint adds what its protocol needs besides."""
        return "TLS" if self.tls is None else ""

    def limits_for(self, max_frame_size: int) -> LinkLimits:
        """What its connections are granted."""
        strangers, rate = self.max_strangers, self.stranger_rate
        granted = super().limits_for(max_frame_size)
        return replace(granted, max_strangers=strangers, stranger_rate=rate)

    def secured(self, name: str) -> SSLContext | None:
        """What its connections are secured with, if they are.

        Raises:
            NodeError: If its certificate cannot be used.
        """
        tls = self.tls
        if tls is None:
            return None
        authority = None if tls.client_authority is None else Path(tls.client_authority)
        try:
            return server_context(Path(tls.certificate), Path(tls.key), authority)
        except TlsError as error:
            raise NodeError(f"{name}.tls: {error}") from None

    def link(self, name: str, host: Host, *, max_frame_size: int, room: Room) -> Link:
        """The link, which does not listen yet."""
        from wireloom.live.links.websocket import WebSocketLink  # it brings picows along

        is_local = self.listens_at(name).is_local
        gatekeeper = Gatekeeper(self.path, origins=self.origins, is_local=is_local)
        limits, tls = self.limits_for(max_frame_size), self.secured(name)
        return WebSocketLink(host, gatekeeper, limits=limits, tls=tls, room=room)

    def url(self, where: str) -> str:
        """How its address is told to people and scripts."""
        return f"{'ws' if self.tls is None else 'wss'}://{where}{self.path}"


class TcpSection(LinkSection, frozen=True):
    """A TCP link: frames behind their size, not encrypted."""

    KIND = "tcp"

    def link(self, name: str, host: Host, *, max_frame_size: int, room: Room) -> Link:
        """The link, which does not listen yet."""
        del name, room
        return TcpLink(host, limits=self.limits_for(max_frame_size))


class UdpSection(LinkSection, frozen=True):
    """A UDP link: a frame a datagram, not encrypted."""

    KIND = "udp"

    def bind(self, name: str) -> socket.socket:
        """The socket that it takes datagrams on."""
        return bound_datagrams(self.listens_at(name), name)

    def link(self, name: str, host: Host, *, max_frame_size: int, room: Room) -> Link:
        """The link, which does not listen yet."""
        del name, room
        return UdpLink(host, limits=self.limits_for(max_frame_size))
