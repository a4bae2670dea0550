"""A broker starts with settings that it can work with, or not at all."""

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from wireloom.protocols.cthun.settings import BrokerSettings

LIMITS = [name for name in BrokerSettings.__struct_fields__ if name not in ("uri", "trust_sender")]


def test_the_defaults_are_those_of_the_specification() -> None:
    settings = BrokerSettings()
    assert settings.uri == "cth:///server"
    assert settings.trust_sender is False
    assert settings.association_timeout_ms == 15_000
    assert settings.idle_timeout_ms == 900_000
    assert settings.broker_ttl_ms == 3_000
    assert (settings.min_redelivery_ms, settings.max_redelivery_ms) == (1_000, 15_000)
    assert settings.max_message_size == 64 * 1024 * 1024


@pytest.mark.parametrize("name", LIMITS)
def test_every_limit_is_above_zero(name: str) -> None:
    assert getattr(replace(BrokerSettings(), **{name: 1}), name) == 1
    with pytest.raises(ValueError, match=name):
        replace(BrokerSettings(), **{name: 0})


@pytest.mark.parametrize(
    "uri",
    ["", "cth://*/server", "cth://broker/agent", "broker", f"cth://{'b' * 1020}/server"],
)
def test_the_uri_is_that_of_one_broker(uri: str) -> None:
    with pytest.raises(ValueError, match="URI"):
        BrokerSettings(uri=uri)


def test_a_message_is_never_larger_than_the_codec_reads() -> None:
    with pytest.raises(ValueError, match="max_message_size"):
        BrokerSettings(max_message_size=64 * 1024 * 1024 + 1)


@pytest.mark.parametrize("given", [{"held_count": "many"}, {"uri": "x"}, {"strange": 1}])
def test_settings_from_a_file_are_checked(given: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(given, BrokerSettings)
