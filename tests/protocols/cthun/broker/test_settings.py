"""A broker starts with settings that it can work with, or not at all."""

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from protocols.cthun.transcript import TRUSTING, Stage
from wireloom.protocols.cthun.broker.settings import BrokerSettings

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


LEAST = {
    "max_message_size": 256,
    "max_envelope_size": 256,
    "early_size": 256,
    "association_timeout_ms": 100,
    "idle_timeout_ms": 1_000,
}


@pytest.mark.parametrize("name", LIMITS)
def test_every_limit_has_a_least_value(name: str) -> None:
    least = LEAST.get(name, 1)
    lowest = replace(BrokerSettings(), min_redelivery_ms=1)
    assert getattr(replace(lowest, **{name: least}), name) == least
    with pytest.raises(ValueError, match=f"^{name} must be {least} at least"):
        replace(lowest, **{name: least - 1})


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1.5, True, None, "1"])
def test_every_limit_is_a_whole_number(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"^{name} must be a whole number"):
        replace(BrokerSettings(), **{name: value})


@pytest.mark.parametrize("name", LIMITS)
def test_no_limit_is_beyond_all_measure(name: str) -> None:
    with pytest.raises(ValueError, match=f"^{name} must be .* at most"):
        replace(BrokerSettings(), **{name: 1 << 62})


def test_the_shortest_wait_is_not_longer_than_the_longest() -> None:
    with pytest.raises(ValueError, match="min_redelivery_ms must not be above max_redelivery_ms"):
        BrokerSettings(min_redelivery_ms=2, max_redelivery_ms=1)


def test_with_the_least_that_can_be_set_a_client_associates_and_is_heard() -> None:
    stage = Stage(replace(TRUSTING, **LEAST))
    alice = stage.join("cth://a/b")
    letter = stage.letter(alice, to=[alice], type_="x", data=b"")
    alice.sends(letter).gets_letter(letter, "accepted", "deliver")


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
