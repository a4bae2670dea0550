"""The sockets that a node listens on."""

import socket

import pytest

from wireloom.live.errors import NodeError
from wireloom.live.listening import bound, bound_datagrams, shown
from wireloom.live.sections import Address

HERE = Address("127.0.0.1", 0)


def test_sockets() -> None:
    with bound(HERE, "hub") as listening:
        port = listening.getsockname()[1]
        assert shown(listening, HERE) == f"127.0.0.1:{port}"
        with socket.create_connection(("127.0.0.1", port)):
            pass
        with pytest.raises(NodeError, match=f"hub cannot listen on .*:{port}: the port is in use"):
            bound(Address("127.0.0.1", port), "hub")
    with pytest.raises(NodeError, match="Cannot assign requested address"):
        bound(Address("192.0.2.1", 0), "hub")
    with pytest.raises(NodeError, match=r"hub cannot listen on nowhere.invalid:0"):
        bound(Address("nowhere.invalid", 0), "hub")


def test_sockets_for_datagrams() -> None:
    with bound_datagrams(HERE, "mesh") as taking:
        port = taking.getsockname()[1]
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sending:
            sending.sendto(b"hello", ("127.0.0.1", port))
        taking.settimeout(5)
        assert taking.recv(100) == b"hello"
        with pytest.raises(NodeError, match=f"mesh cannot listen on .*:{port}: the port is in use"):
            bound_datagrams(Address("127.0.0.1", port), "mesh")
