"""The UEP-12 peer: a UDP link for each swarm, since frames do not say which one they are of."""

import re
from collections.abc import Mapping
from typing import Final

from wireloom.live.endpoint import Context, Endpoint
from wireloom.live.errors import ConfigError
from wireloom.live.links.connection import Host, address_of
from wireloom.live.links.door import Room
from wireloom.live.links.sections import Link, LinkSection, UdpSection
from wireloom.live.links.udp import UdpLink
from wireloom.live.sections import Limits
from wireloom.protocols.uep12.constants import DEFAULT_EPOCH_MS, DEFAULT_MAX_TTL
from wireloom.protocols.uep12.peer.settings import Membership, PeerSettings
from wireloom.wire.ids import Ids
from wireloom.wire.session import Session, Swarm

SWARMS: Final = "swarms"
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


class SwarmSection(UdpSection, frozen=True):
    """A swarm and its link."""

    max_connections: int = 1_024
    """Addresses that are spoken with; a stranger makes way for the next one."""

    peers: tuple[str, ...] = ()
    """Peers to reach out to, `host:port`."""

    epoch_ms: int = DEFAULT_EPOCH_MS
    """The unit of lifetimes; all peers of the swarm must have the same."""

    max_ttl: int = DEFAULT_MAX_TTL
    """How many epochs a message may ask for; likewise."""

    def membership(self, name: str, link: str) -> Membership:
        """The swarm, for the session."""
        return Membership(
            name=name, link=link, epoch_ms=self.epoch_ms, max_ttl=self.max_ttl, peers=self.peers
        )

    def check(self, name: str) -> None:
        """Refuses peers without an address, and times that no swarm can have."""
        for address in self.peers:
            try:
                address_of(address)
            except ValueError as error:
                raise ConfigError(f"{name}.peers: {error}") from None
        for key, most in (("epoch_ms", 1 << 40), ("max_ttl", (1 << 16) - 1)):
            if not 1 <= getattr(self, key) <= most:
                raise ConfigError(f"{name}.{key} must be from 1 to {most}")

    def carrier(self, swarm: str, link: str, host: Host, max_frame_size: int) -> Link:
        """The link of a swarm, which does not listen yet."""
        scope = Swarm(swarm, self.epoch_ms)
        return UdpLink(host, limits=self.limits_for(max_frame_size), name=link, swarm=scope)

    def link(self, name: str, host: Host, *, max_frame_size: int, room: Room) -> Link:
        """The link, which does not listen yet."""
        del room
        swarm = name.rpartition(".")[2]
        return self.carrier(swarm, swarm, host, max_frame_size)


class PeerSection(SwarmSection, frozen=True):
    """The UEP-12 peer: its first swarm, and further ones."""

    listen: str = "127.0.0.1:5412"
    name: str = "swarm"
    """What the first swarm is called in captures and metrics."""

    swarms: dict[str, SwarmSection] = {}
    """Further swarms by name: each has an address, peers and times of its own."""

    limits: Limits = {}
    """The session's settings by name."""

    def check(self, name: str) -> None:
        """Refuses swarms that cannot be told apart."""
        super().check(name)
        for one in (self.name, *self.swarms):
            if not _NAME.fullmatch(one):
                raise ConfigError(f"{name}: {one!r:.80} is no name of a swarm")
        if {self.name, self.KIND} & self.swarms.keys():
            raise ConfigError(f"{name}.{SWARMS} has a swarm called as the first one or its link")

    def link(self, name: str, host: Host, *, max_frame_size: int, room: Room) -> Link:
        """The link of the first swarm, which does not listen yet."""
        del name, room
        return self.carrier(self.name, self.KIND, host, max_frame_size)


def _links(section: PeerSection) -> Mapping[str, LinkSection]:
    return {"": section, **{f"{SWARMS}.{name}": one for name, one in section.swarms.items()}}


def _memberships(section: PeerSection, context: Context) -> tuple[Membership, ...]:
    del context
    first = section.membership(section.name, section.KIND)
    further = [one.membership(name, name) for name, one in section.swarms.items() if one.listen]
    return (*((first,) if section.listen else ()), *further)


def _secret(section: PeerSection, context: Context) -> bytes:
    del section
    return context.secret()


def _session(settings: PeerSettings, ids: Ids) -> Session:
    from wireloom.protocols.uep12.peer.session import PeerSession  # too much for `serve --help`

    return PeerSession(settings, ids)


ENDPOINT: Final = Endpoint(
    name="uep12",
    title="the UEP-12 peer",
    section=PeerSection,
    settings=PeerSettings,
    derived={"memberships": _memberships, "secret": _secret},
    session=_session,
    links=_links,
)
