"""Senders, expiry and redelivery."""

from typing import Any

import msgspec
import pytest

from protocols.cthun.outside import checks
from protocols.cthun.samples import AGENT, GREETING, SAMPLES
from wireloom.protocols.cthun.broker.settings import BrokerSettings
from wireloom.protocols.cthun.codec import encode
from wireloom.protocols.cthun.integrity import (
    authenticate,
    check_sender,
    redelivery_delay_ms,
)
from wireloom.protocols.cthun.messages import Envelope
from wireloom.wire.errors import MalformedError, UnauthenticatedError
from wireloom.wire.outcome import Auth

DEFAULTS = BrokerSettings()


def waits_ms(left_ms: int) -> int:
    least, most = DEFAULTS.min_redelivery_ms, DEFAULTS.max_redelivery_ms
    return redelivery_delay_ms(left_ms, least=least, most=most)


def sent_by(sender: str) -> Envelope:
    return msgspec.structs.replace(GREETING, sender=sender)


def test_a_frame_proves_nothing_by_itself() -> None:
    for message in SAMPLES.values():
        assert authenticate(message, encode(message), []) is Auth.UNCHECKED


@checks("sender")
def test_certificate_vector_holds(vector: dict[str, Any]) -> None:
    sender, common_name = bytes.fromhex(vector["hex"]).decode(), vector["expect"]["common_name"]
    if vector["expect"]["ok"]:
        check_sender(sender, common_name)
        return
    with pytest.raises(UnauthenticatedError, match=common_name):
        check_sender(sender, common_name)


@pytest.mark.parametrize("common_name", ["AGENT-1.example.com", "agent-1", "", "*"])
def test_a_sender_with_the_certificate_of_another_is_refused(common_name: str) -> None:
    check_sender(AGENT, "agent-1.example.com")
    with pytest.raises(UnauthenticatedError, match="certificate"):
        check_sender(AGENT, common_name)


@pytest.mark.parametrize(("sender", "name"), [("cth:///server", ""), ("cth://b/server", "b")])
def test_nobody_may_claim_to_be_a_broker(sender: str, name: str) -> None:
    with pytest.raises(UnauthenticatedError, match="claims to be a broker"):
        check_sender(sender, name)


def test_a_sender_that_is_no_uri_is_malformed() -> None:
    with pytest.raises(MalformedError):
        check_sender("agent", "agent")


@checks("retry_delay")
def test_retry_delay_vector_holds(vector: dict[str, Any]) -> None:
    expect = vector["expect"]
    delay = waits_ms(expect["remaining_s"] * 1000)
    assert expect["least_s"] * 1000 <= delay <= expect["most_s"] * 1000


@pytest.mark.parametrize(
    ("remaining_ms", "delay_ms"),
    [(1_999, 1_000), (2_002, 1_001), (9_000, 4_500), (29_998, 14_999), (30_001, 15_000)],
)
def test_the_delay_is_half_of_what_is_left(remaining_ms: int, delay_ms: int) -> None:
    assert waits_ms(remaining_ms) == delay_ms
