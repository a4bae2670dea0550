"""Rules that need the time or something that was seen before."""

from collections.abc import Collection

import msgspec
import pytest

from protocols.dtn.samples import (
    ACK,
    ANNOUNCE,
    CANCEL,
    CONFIG,
    DATA,
    HOP_ACK,
    KEY,
    NO_SIG,
    NOW,
    ONES,
    OTHER_KEY,
    PAYMENT,
    SUB_MSG,
    THREES,
    TWOS,
    UID,
    bundled,
    signed,
)
from wireloom.protocols.dtn.constants import CancelReason, SubAction
from wireloom.protocols.dtn.integrity import sign
from wireloom.protocols.dtn.messages import ConfigUpdate, ControlMessage
from wireloom.protocols.dtn.rules import (
    check_ack,
    check_cancel,
    check_config,
    check_lifetime,
    check_signer,
    is_subscribed,
    latency_and_skew_ms,
    replay_key,
)
from wireloom.wire.errors import (
    BadSignatureError,
    ExpiredError,
    StaleError,
    UnauthenticatedError,
    UnauthorizedError,
    WireError,
)
from wireloom.wire.keys import uid


def test_a_bundle_lives_until_its_last_millisecond() -> None:
    header = msgspec.structs.replace(bundled(DATA).header, ttl_sec=1)
    check_lifetime(header, now_ms=NOW + 999)
    with pytest.raises(ExpiredError, match="expired 0 ms ago"):
        check_lifetime(header, now_ms=NOW + 1000)


@pytest.mark.parametrize("payload", [DATA, HOP_ACK, SUB_MSG, *map(signed, [ACK, CANCEL, ANNOUNCE])])
def test_a_sender_stands_for_his_own_messages(payload: ControlMessage) -> None:
    check_signer(bundled(payload))


def test_a_payment_may_be_carried_by_another_sender() -> None:
    payment = msgspec.structs.replace(PAYMENT, payer=OTHER_KEY.public)
    made = sign(payment, OTHER_KEY)
    assert isinstance(made, ControlMessage)
    check_signer(bundled(made))


def test_an_unsigned_bundle_is_not_acted_on() -> None:
    with pytest.raises(UnauthenticatedError, match="the bundle is not signed"):
        check_signer(msgspec.structs.replace(bundled(DATA), signature=NO_SIG))
    with pytest.raises(UnauthenticatedError, match="DeliveryAck is not signed"):
        check_signer(bundled(ACK))


def test_a_signature_that_does_not_hold_is_not_acted_on() -> None:
    with pytest.raises(BadSignatureError, match="the bundle"):
        check_signer(msgspec.structs.replace(bundled(DATA), signature=b"\1" * 64))
    with pytest.raises(BadSignatureError, match="DeliveryCancel"):
        check_signer(bundled(msgspec.structs.replace(CANCEL, sig=b"\1" * 64)))


def test_a_sender_cannot_speak_for_another() -> None:
    with pytest.raises(UnauthorizedError, match="HopAck of another node"):
        check_signer(bundled(msgspec.structs.replace(HOP_ACK, from_node=ONES)))
    foreign = sign(msgspec.structs.replace(ACK, from_uid=uid(OTHER_KEY.public)), OTHER_KEY)
    assert isinstance(foreign, ControlMessage)
    with pytest.raises(UnauthorizedError, match="another one's"):
        check_signer(bundled(foreign))


def test_only_the_destination_acknowledges() -> None:
    check_ack(ACK, destination_uid=UID)
    with pytest.raises(UnauthorizedError):
        check_ack(ACK, destination_uid=TWOS)


@pytest.mark.parametrize("reason", list(CancelReason))
def test_the_origin_may_cancel_for_any_reason(reason: CancelReason) -> None:
    cancel = msgspec.structs.replace(CANCEL, reason=reason)
    check_cancel(cancel, origin_uid=UID, destination_uid=None)


@pytest.mark.parametrize("reason", list(CancelReason))
def test_the_destination_may_cancel_once_it_has_the_bundle(reason: CancelReason) -> None:
    cancel = msgspec.structs.replace(CANCEL, reason=reason)
    if reason is CancelReason.ACKED:
        check_cancel(cancel, origin_uid=ONES, destination_uid=UID)
        return
    with pytest.raises(UnauthorizedError, match=reason.name):
        check_cancel(cancel, origin_uid=ONES, destination_uid=UID)


def test_nobody_else_may_cancel() -> None:
    for destination in (TWOS, None):
        with pytest.raises(UnauthorizedError):
            check_cancel(CANCEL, origin_uid=ONES, destination_uid=destination)


def config(**changes: object) -> ConfigUpdate:
    made = signed(msgspec.structs.replace(CONFIG, **changes))
    assert isinstance(made, ConfigUpdate)
    return made


TRUSTED = [KEY.public]


def test_a_trusted_newer_valid_configuration_is_applied() -> None:
    check_config(config(), trusted=TRUSTED, applied_version=1, now_ms=NOW + 999)
    check_config(config(version=0), trusted=TRUSTED, applied_version=None, now_ms=NOW)
    check_config(config(expires_at_ms=None), trusted=TRUSTED, applied_version=1, now_ms=2**62)


@pytest.mark.parametrize(
    ("update", "trusted", "error"),
    [
        (config(), [], UnauthorizedError),
        (config(), [ONES], UnauthorizedError),
        (CONFIG, TRUSTED, UnauthenticatedError),
        (msgspec.structs.replace(config(), version=9), TRUSTED, BadSignatureError),
        (config(version=1), TRUSTED, StaleError),
        (config(version=0), TRUSTED, StaleError),
        (config(expires_at_ms=NOW), TRUSTED, ExpiredError),
    ],
)
def test_any_other_configuration_is_refused(
    update: ConfigUpdate, trusted: Collection[bytes], error: type[WireError]
) -> None:
    with pytest.raises(error):
        check_config(update, trusted=trusted, applied_version=1, now_ms=NOW)


def test_a_subscription_ends_by_time_or_by_word() -> None:
    assert is_subscribed(SUB_MSG, now_ms=NOW)
    assert not is_subscribed(SUB_MSG, now_ms=NOW + 1)
    assert is_subscribed(msgspec.structs.replace(SUB_MSG, expires_at=None), now_ms=2**62)
    ended = msgspec.structs.replace(SUB_MSG, action=SubAction.UNSUBSCRIBE)
    assert not is_subscribed(ended, now_ms=NOW)


def test_a_payment_is_seen_once_by_payer_and_nonce() -> None:
    again = msgspec.structs.replace(PAYMENT, payee=THREES, amount=1)
    assert replay_key(again) == replay_key(PAYMENT) == (KEY.public, 7)
    assert replay_key(msgspec.structs.replace(PAYMENT, nonce=8)) != replay_key(PAYMENT)


@pytest.mark.parametrize(
    ("latency", "told"), [(None, None), (250, (250, 0)), (0, (0, 0)), (-250, (0, 250))]
)
def test_a_negative_latency_is_skew(latency: int | None, told: tuple[int, int] | None) -> None:
    assert latency_and_skew_ms(msgspec.structs.replace(ACK, latency_ms=latency)) == told
