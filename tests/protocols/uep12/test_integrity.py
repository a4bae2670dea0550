"""Hashes, work, lifetimes and clocks."""

import msgspec
import pytest

from protocols.uep12.samples import SAMPLES
from wireloom.protocols.uep12 import constants
from wireloom.protocols.uep12.codec import encode
from wireloom.protocols.uep12.integrity import (
    authenticate,
    check_fresh,
    epoch_diff,
    expires_ms,
    is_proof,
    msg_hash,
    referred_expiry_ms,
    work,
)
from wireloom.protocols.uep12.messages import Content
from wireloom.wire.errors import ExpiredError, FutureError, TtlExceededError
from wireloom.wire.outcome import Auth

NOW = 1_700_000_000_000
MINUTE = 60_000


def content(*, ttl: int = 10, at: int = NOW) -> Content:
    return Content(pow_nonce=0, timestamp=at, ttl_epoch=ttl)


def test_the_hash_is_the_head_of_the_digest_of_all_bytes() -> None:
    raw = bytes.fromhex("79100505580000000000007b5c766887013c000068656c6c6f20737761726d")
    assert msg_hash(raw).hex() == "545220ba8a4f6e35"
    assert int.from_bytes(work(raw)) < constants.POW_TARGET


def test_the_target_is_the_rounded_down_quotient() -> None:
    assert (
        int("a7c5ac471b4784230fcf80dc33721d53cddd6e04c059210385c67dfe32a0", 16)
        == constants.POW_TARGET
    )
    assert is_proof((constants.POW_TARGET - 1).to_bytes(32))
    assert not is_proof(constants.POW_TARGET.to_bytes(32))


def test_work_is_valid_invalid_or_not_asked_for() -> None:
    sample = SAMPLES["CONTENT"]
    spoilt = msgspec.structs.replace(sample, pow_nonce=1)
    assert authenticate(sample, encode(sample), ()) is Auth.VALID
    assert authenticate(spoilt, encode(spoilt), ()) is Auth.INVALID
    pull = SAMPLES["PULL_BY_HASH"]
    assert authenticate(pull, encode(pull), ()) is Auth.UNSIGNED


@pytest.mark.parametrize(("ttl", "epochs"), [(0, 1), (1, 1), (2, 2), (65535, 65535)])
def test_a_lifetime_of_zero_counts_as_one_epoch(ttl: int, epochs: int) -> None:
    assert expires_ms(content(ttl=ttl), epoch_ms=1000) == NOW + epochs * 1000


@pytest.mark.parametrize(
    ("difference", "expected"),
    [
        (0, 0),
        (MINUTE, 1),
        (-MINUTE, -1),
        (MINUTE - 1, 0),
        (1 - MINUTE, 0),
        (2 * MINUTE - 1, 1),
        (1 - 2 * MINUTE, -1),
        (32767 * MINUTE, 32767),
        (32768 * MINUTE, 32767),
        (-32768 * MINUTE, -32768),
        (-32769 * MINUTE, -32768),
    ],
)
def test_epoch_diff_cuts_toward_zero_and_saturates(difference: int, expected: int) -> None:
    assert epoch_diff(NOW + difference, NOW) == expected


def test_a_reference_tells_when_the_other_expires() -> None:
    assert referred_expiry_ms(NOW, -3) == NOW + 3 * MINUTE


def test_a_fresh_message_passes_until_it_expires() -> None:
    check_fresh(content(ttl=2), now_ms=NOW + 2 * MINUTE - 1, max_ttl_epoch=2)
    with pytest.raises(ExpiredError, match="expired 0 ms ago"):
        check_fresh(content(ttl=2), now_ms=NOW + 2 * MINUTE, max_ttl_epoch=2)


def test_a_message_may_be_a_minute_ahead() -> None:
    check_fresh(content(at=NOW + MINUTE), now_ms=NOW, max_ttl_epoch=10)
    with pytest.raises(FutureError, match="60001 ms ahead"):
        check_fresh(content(at=NOW + MINUTE + 1), now_ms=NOW, max_ttl_epoch=10)


def test_a_message_may_not_outlive_the_swarms_limit() -> None:
    with pytest.raises(TtlExceededError, match="11 epochs, the swarm allows 10"):
        check_fresh(content(ttl=11), now_ms=NOW, max_ttl_epoch=10)
