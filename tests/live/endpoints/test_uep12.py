"""The peer's endpoint: what is configured becomes swarms, links and settings."""

from pathlib import Path
from typing import Any

import pytest

from wireloom.live.endpoint import Context
from wireloom.live.endpoints.uep12 import ENDPOINT, PeerSection, SwarmSection
from wireloom.live.errors import ConfigError
from wireloom.live.links.door import Room
from wireloom.live.links.udp import UdpLink
from wireloom.protocols.uep12.peer.session import PeerSession
from wireloom.protocols.uep12.peer.settings import Membership, PeerSettings
from wireloom.wire.ids import Ids
from wireloom.wire.session import Swarm

COFFEE = SwarmSection(listen="127.0.0.1:5413", epoch_ms=1_000, peers=("10.0.0.1:1",))
BOTH = PeerSection(name="tea", max_ttl=7, swarms={"coffee": COFFEE})


def settings(section: PeerSection, folder: Path) -> PeerSettings:
    return ENDPOINT.settings_of(section, Context(folder, "boot"))


def test_each_swarm_is_a_membership_with_the_link_that_its_frames_come_on(tmp_path: Path) -> None:
    made = settings(BOTH, tmp_path)
    assert made.memberships == (
        Membership(name="tea", link="udp", max_ttl=7),
        Membership(name="coffee", link="coffee", epoch_ms=1_000, peers=("10.0.0.1:1",)),
    )
    assert [place.link for place in ENDPOINT.places(BOTH)] == ["udp", "coffee"]
    assert [place.name for place in ENDPOINT.places(BOTH)] == ["uep12", "uep12.swarms.coffee"]
    assert len(made.secret) == 32
    assert isinstance(ENDPOINT.session(made, Ids("boot")), PeerSession)


def test_links_know_their_swarm() -> None:
    host: Any = None
    for place, link, swarm in zip(
        ENDPOINT.places(BOTH),
        ("udp", "coffee"),
        (Swarm("tea", 60_000), Swarm("coffee", 1_000)),
        strict=True,
    ):
        made = place.section.link(place.name, host, max_frame_size=9, room=Room(9))
        assert isinstance(made, UdpLink)
        assert (made.name, made.swarm) == (link, swarm)
        assert made.limits.max_frame_size == 9


def test_a_swarm_that_is_off_is_no_membership(tmp_path: Path) -> None:
    section = PeerSection(listen="", swarms={"coffee": COFFEE, "off": SwarmSection()})
    assert [one.name for one in settings(section, tmp_path).memberships] == ["coffee"]


@pytest.mark.parametrize(
    ("section", "why"),
    [
        (PeerSection(peers=("nowhere",)), "uep12.peers: 'nowhere' is no host and port"),
        (PeerSection(epoch_ms=0), "uep12.epoch_ms must be from 1 to"),
        (PeerSection(max_ttl=70_000), "uep12.max_ttl must be from 1 to 65535"),
        (PeerSection(name="a b"), "'a b' is no name of a swarm"),
        (PeerSection(swarms={"x.y": COFFEE}), "'x.y' is no name of a swarm"),
        (PeerSection(name="coffee", swarms={"coffee": COFFEE}), "called as the first one"),
        (PeerSection(swarms={"udp": COFFEE}), "called as the first one or its link"),
    ],
)
def test_what_cannot_be_is_refused(section: PeerSection, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        section.check("uep12")
