"""The broker's endpoint: what is configured becomes settings."""

from pathlib import Path

import pytest

from wireloom.live.endpoint import Context
from wireloom.live.endpoints.cthun import ENDPOINT, BrokerSection
from wireloom.live.errors import ConfigError
from wireloom.live.links.sections import Tls
from wireloom.protocols.cthun.broker.session import BrokerSession
from wireloom.protocols.cthun.broker.settings import BrokerSettings
from wireloom.wire.ids import Ids

TLS = Tls(certificate="a", key="b")


def settings(section: BrokerSection) -> BrokerSettings:
    return ENDPOINT.settings_of(section, Context(Path("nowhere"), "boot"))


def test_limits_become_settings() -> None:
    assert settings(BrokerSection(limits={"held_count": 9})).held_count == 9
    with pytest.raises(ConfigError, match=r"cthun.limits has no trust_sender"):
        settings(BrokerSection(limits={"trust_sender": True}))


def test_a_broker_trusts_what_clients_say_only_without_tls() -> None:
    assert settings(BrokerSection()).trust_sender
    assert not settings(BrokerSection(tls=TLS)).trust_sender


def test_what_it_lacks_before_others_may_reach_it() -> None:
    vouched = Tls(certificate="a", key="b", client_authority="c")
    assert BrokerSection().lack() == "TLS"
    assert BrokerSection(tls=TLS).lack() == "tls.client_authority"
    assert BrokerSection(tls=vouched).lack() == ""


def test_its_session_is_a_broker_and_its_link_grants_what_it_takes() -> None:
    section = BrokerSection(limits={"max_message_size": 1_000})
    made = settings(section)
    assert section.limits_for(made.max_message_size).max_frame_size == 1_000
    assert isinstance(ENDPOINT.session(made, Ids("boot")), BrokerSession)
