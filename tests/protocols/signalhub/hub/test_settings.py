"""The settings and their defaults."""

import msgspec
import pytest

from wireloom.protocols.signalhub.hub.settings import HubSettings
from wireloom.wire.rates import Rate


def test_a_secret_must_be_given() -> None:
    with pytest.raises(TypeError, match="secret"):
        HubSettings()  # type: ignore[call-arg]


@pytest.mark.parametrize("size", [0, 15])
def test_a_secret_that_can_be_guessed_is_refused(size: int) -> None:
    with pytest.raises(ValueError, match="16 bytes"):
        HubSettings(secret=b"x" * size)


def test_settings_can_be_read_from_a_configuration() -> None:
    read = msgspec.convert(
        {
            "secret": "MDEyMzQ1Njc4OWFiY2RlZg==",
            "auth": True,
            "actor_rate": {"count": 5, "per_ms": 10},
        },
        HubSettings,
    )
    assert read.secret == b"0123456789abcdef"
    assert read.actor_rate == Rate(5, 10)
    assert read.max_queued == 100


@pytest.mark.parametrize(
    "limits", [{"max_queued": 0}, {"actor_rate": {"count": 0, "per_ms": 1}}, {"silence_ms": -1}]
)
def test_limits_that_make_no_sense_are_refused(limits: dict[str, object]) -> None:
    with pytest.raises(msgspec.ValidationError, match=">= 1"):
        msgspec.convert({"secret": b"s" * 16, **limits}, HubSettings)


def test_thresholds_are_the_specifications() -> None:
    plain = HubSettings(secret=b"s" * 16)
    assert (plain.pause_threshold, plain.resume_threshold) == (1_000, 500)
    assert (plain.heartbeat_interval_ms, plain.connect_ms) == (25_000, 5_000)
    assert (plain.max_actors, plain.sync_broadcast_max) == (50_000, 100)


@pytest.mark.parametrize(
    ("limits", "sentence"),
    [
        ({"resume_threshold": 1_000}, "resume_threshold must be less than pause_threshold"),
        ({"pause_threshold": 10_000}, "pause_threshold must be less than cut_threshold"),
        ({"cut_size": 4_194_304}, "pause_size must be less than cut_size"),
        ({"silence_ms": 25_000}, "heartbeat_interval_ms must be less than silence_ms"),
        ({"max_message_size": 1_048_577}, "max_message_size must be 1048576 at most"),
        ({"max_message_size": 511}, "max_message_size must be 512 at least"),
        ({"max_ttl_ms": 10**20}, "max_ttl_ms must be 31622400000 at most"),
    ],
)
def test_settings_that_cannot_work_together_are_refused(
    limits: dict[str, int], sentence: str
) -> None:
    with pytest.raises(msgspec.ValidationError, match=sentence):
        msgspec.convert({"secret": b"s" * 16, **limits}, HubSettings)
