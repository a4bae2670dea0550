"""Endpoints of protocols that are none: they say back what they hear, over TCP and UDP."""

from collections.abc import Mapping

from live.parts import EchoSession
from wireloom.live.endpoint import Context, Endpoint
from wireloom.live.links.sections import LinkSection, TcpSection, UdpSection
from wireloom.live.sections import Limits, Section
from wireloom.wire.ids import Ids
from wireloom.wire.session import Session
from wireloom.wire.settings import Settings


class EchoSettings(Settings, frozen=True):
    greeting: str = ""
    boot: str = ""
    max_message_size: int = 100_000


class TcpEchoSection(TcpSection, frozen=True):
    listen: str = "127.0.0.1:0"
    greeting: str = ""
    limits: Limits = {}


class UdpEchoSection(UdpSection, frozen=True):
    listen: str = "127.0.0.1:0"
    limits: Limits = {}


class SwitchboardSection(Section, frozen=True):
    tcp: TcpSection = TcpSection(listen="127.0.0.1:0")
    udp: UdpSection = UdpSection(listen="127.0.0.1:0")
    limits: Limits = {}


def echo(settings: EchoSettings, ids: Ids) -> Session:
    return EchoSession()


def greeting(section: TcpEchoSection, context: Context) -> str:
    return section.greeting


def boot(section: TcpEchoSection, context: Context) -> str:
    return context.boot


def both_links(section: SwitchboardSection) -> Mapping[str, LinkSection]:
    return {"tcp": section.tcp, "udp": section.udp}


TCP = Endpoint(
    name="tcpecho",
    title="the TCP echo",
    section=TcpEchoSection,
    settings=EchoSettings,
    derived={"greeting": greeting, "boot": boot},
    session=echo,
)
UDP = Endpoint(
    name="udpecho",
    title="the UDP echo",
    section=UdpEchoSection,
    settings=EchoSettings,
    derived={},
    session=echo,
)
SWITCHBOARD = Endpoint(
    name="switchboard",
    title="the switchboard",
    section=SwitchboardSection,
    settings=EchoSettings,
    derived={},
    session=echo,
    links=both_links,
)
