"""The sockets that a node listens on."""

import errno
import os
import socket
from typing import Final

from wireloom.live.errors import NodeError
from wireloom.live.links.door import BACKLOG
from wireloom.live.sections import Address

RECEIVE_BUFFER_SIZE: Final = 256 * 1024
"""What the system keeps for us a connection: a bound on what a flood can make us read at once."""


def bound(address: Address, name: str) -> socket.socket:
    """A socket that listens for connections.

    Raises:
        NodeError: If it cannot.
    """
    made, where = _made(address, name, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER_SIZE)
        made.bind(where)
        made.listen(BACKLOG)
    except OSError as error:
        made.close()
        raise _refusal(error, address, name) from None
    return made


def bound_datagrams(address: Address, name: str) -> socket.socket:
    """A socket that takes datagrams. Its address is not reused: two sockets would share it.

    Raises:
        NodeError: If it cannot be had.
    """
    made, where = _made(address, name, socket.SOCK_DGRAM)
    try:
        made.bind(where)
    except OSError as error:
        made.close()
        raise _refusal(error, address, name) from None
    return made


def shown(listening: socket.socket, address: Address) -> str:
    """Where a socket listens, with the port that it got."""
    return str(address._replace(port=listening.getsockname()[1]))


def _made(
    address: Address, name: str, kind: socket.SocketKind
) -> tuple[socket.socket, tuple[object, ...]]:
    """A socket of a kind that does not block, and the address to bind it to."""
    try:
        family, *_, where = socket.getaddrinfo(*address, type=kind, flags=socket.AI_PASSIVE)[0]
        made = socket.socket(family, kind)
    except OSError as error:
        raise NodeError(f"{name} cannot listen on {address}: {error.strerror}") from None
    made.settimeout(0)
    return made, where


def _refusal(error: OSError, address: Address, name: str) -> NodeError:
    in_use = error.errno == errno.EADDRINUSE
    why = "the port is in use" if in_use else os.strerror(error.errno or 0)
    return NodeError(f"{name} cannot listen on {address}: {why}")
