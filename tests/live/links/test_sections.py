"""What an operator sets of a link, and the link that comes of it."""

import socket
from pathlib import Path
from unittest.mock import Mock

import pytest

from live.certificates import Authority
from wireloom.live.errors import ConfigError, NodeError
from wireloom.live.links.door import Room
from wireloom.live.links.sections import (
    Link,
    LinkSection,
    TcpSection,
    Tls,
    UdpSection,
    WebSocketSection,
)
from wireloom.live.links.tcp import TcpLink
from wireloom.live.links.udp import UdpLink
from wireloom.live.links.websocket import WebSocketLink

HERE = "127.0.0.1:0"


def made(section: LinkSection) -> Link:
    return section.link("x", Mock(), max_frame_size=7, room=Room(1))


@pytest.mark.parametrize(
    ("section", "kind", "url"),
    [
        (WebSocketSection(listen=HERE, path="/x"), WebSocketLink, "ws://there:1/x"),
        (TcpSection(listen=HERE), TcpLink, "tcp://there:1"),
        (UdpSection(listen=HERE), UdpLink, "udp://there:1"),
    ],
)
def test_every_section_makes_its_link(
    section: LinkSection, kind: type[TcpLink | UdpLink | WebSocketLink], url: str
) -> None:
    link = made(section)
    assert isinstance(link, kind)
    assert link.limits == section.limits_for(7)
    assert section.url("there:1") == url
    assert section.url("").startswith(section.KIND)


def test_a_section_of_no_kind_makes_none() -> None:
    with pytest.raises(NotImplementedError):
        made(LinkSection(listen=HERE))


def test_links_grant_what_is_set() -> None:
    granted = TcpSection(max_connections=3, ping_seconds=4).limits_for(1_000)
    assert (granted.max_connections, granted.ping_seconds) == (3, 4)
    assert granted.max_frame_size == 1_000
    assert granted.max_backlog_bytes == 32 * 1024 * 1024 + 1_000
    granted = WebSocketSection(max_strangers=3, stranger_rate=4).limits_for(1_000)
    assert (granted.max_strangers, granted.stranger_rate) == (3, 4)
    assert granted.max_frame_size == 1_000


def test_sections_bind_sockets_of_their_kind() -> None:
    with TcpSection(listen=HERE).bind("x") as bound:
        assert bound.type == socket.SOCK_STREAM
    with UdpSection(listen=HERE).bind("x") as bound:
        assert bound.type == socket.SOCK_DGRAM
    with pytest.raises(ConfigError, match=r"x.listen = '1' is no address"):
        UdpSection(listen="1").bind("x")


def test_plain_links_lack_authentication_before_others_may_reach_them() -> None:
    assert TcpSection().lack() == UdpSection().lack() == "authentication"
    assert WebSocketSection().lack() == "TLS"
    assert WebSocketSection(tls=Tls(certificate="a", key="b")).lack() == ""


def test_a_path_begins_with_a_slash() -> None:
    WebSocketSection().check("x")
    TcpSection().check("x")
    with pytest.raises(ConfigError, match=r"x.path = 'hub' does not begin with /"):
        WebSocketSection(path="hub").check("x")


def test_certificates(tmp_path: Path) -> None:
    certificate, key = Authority(tmp_path).issue("server")
    assert WebSocketSection().secured("cthun") is None
    tls = Tls(certificate=str(certificate), key=str(key), client_authority=str(tmp_path / "ca.pem"))
    section = WebSocketSection(listen=HERE, tls=tls)
    assert section.secured("cthun") is not None
    assert section.url("x").startswith("wss://")
    assert isinstance(made(section), WebSocketLink)
    tls = Tls(certificate=str(certificate), key="missing")
    with pytest.raises(NodeError, match=r"cthun.tls: missing cannot be read"):
        WebSocketSection(tls=tls).secured("cthun")
