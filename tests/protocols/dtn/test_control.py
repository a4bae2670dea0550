"""Single control messages: types, ranges, the rules between their fields, the quick way."""

from typing import Any

import cbor2
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.dtn.samples import (
    ACK,
    ANNOUNCE,
    CANCEL,
    CONFIG,
    FULL_ACK,
    HOP_ACK,
    METRICS,
    PAYMENT,
    SUB_MSG,
)
from protocols.dtn.strategies import CONTROL
from wireloom.protocols.dtn.control import (
    check_size,
    checked,
    class_of,
    put_control,
    take_control,
    take_quickly,
)
from wireloom.protocols.dtn.maps import build, flat
from wireloom.protocols.dtn.messages import ControlMessage, DeliveryAck, HopAck, LinkMetrics
from wireloom.protocols.dtn.parts import DeliveryPathHop
from wireloom.wire.errors import MalformedError, TooLargeError, UnknownTypeError
from wireloom.wire.message import Unknown


def changed(message: ControlMessage, **changes: Any) -> bytes:
    """The bytes of `message` with some keys set, or left out where they are None."""
    document = flat(message) | changes
    kept = {key: value for key, value in document.items() if value is not None}
    return cbor2.dumps(kept, canonical=True)


@given(data=st.data())
def test_the_quick_way_gives_what_the_exact_way_gives(data: st.DataObject) -> None:
    message = data.draw(st.one_of(*CONTROL.values()))
    raw = put_control(message)
    exact = checked(build(type(message), cbor2.loads(raw), raw))
    quick = take_quickly(raw)
    assert exact == message
    assert quick is None or quick == exact


@pytest.mark.parametrize("message", [HOP_ACK, SUB_MSG, PAYMENT, METRICS, CANCEL, ANNOUNCE, CONFIG])
def test_messages_without_unknown_keys_take_the_quick_way(message: ControlMessage) -> None:
    assert take_quickly(put_control(message)) == message


def test_what_the_quick_way_cannot_read_is_no_news() -> None:
    assert take_quickly(b"\x01") is None
    assert take_quickly(put_control(FULL_ACK)) is None
    assert take_quickly(changed(HOP_ACK, msgType=13)) is None
    assert take_quickly(changed(PAYMENT, payee=PAYMENT.payer)) is None


def test_a_path_takes_the_quick_way_unless_a_hop_has_unknown_keys() -> None:
    hop = {"node": b"\x22" * 32, "transport": "lora", "atMs": 5}
    exact = take_control(changed(ACK, path=[hop, {}]))
    assert isinstance(exact, DeliveryAck)
    assert exact.path == (
        DeliveryPathHop(node=b"\x22" * 32, transport="lora", at_ms=5),
        DeliveryPathHop(),
    )
    assert take_quickly(changed(ACK, path=[hop, {}])) == exact
    for path in ([hop | {"rssi": -71}], [5], "x", {"0": hop}):
        assert take_quickly(changed(ACK, path=path)) is None
    kept = take_control(changed(ACK, path=[{"rssi": -71}]))
    assert isinstance(kept, DeliveryAck)
    assert kept.path == (DeliveryPathHop(extra={"rssi": -71}),)


@pytest.mark.parametrize("msg_type", [True, 1.0, "1", -1, b"\1", [1]])
def test_a_type_is_an_unsigned_integer(msg_type: object) -> None:
    with pytest.raises(MalformedError, match="msgType cannot be"):
        take_control(changed(SUB_MSG, msgType=msg_type))
    assert class_of(msg_type) is None


@pytest.mark.parametrize("raw", [b"\xa0", b"\xa1\x67msgType\xf6"])
def test_a_map_without_a_type_is_malformed(raw: bytes) -> None:
    with pytest.raises(MalformedError, match="msgType is missing"):
        take_control(raw)


@pytest.mark.parametrize("number", [11, 13, 255, 2**64 - 1])
def test_an_unknown_type_is_refused_or_kept(number: int) -> None:
    raw = changed(SUB_MSG, msgType=number)
    with pytest.raises(UnknownTypeError, match=str(number)):
        take_control(raw)
    assert take_control(raw, lenient=True) == Unknown(type=str(number), raw=raw)


REFUSED: list[tuple[ControlMessage, dict[str, Any]]] = [
    (SUB_MSG, {"action": 2}),
    (SUB_MSG, {"action": True}),
    (SUB_MSG, {"topicId": bytes(31)}),
    (SUB_MSG, {"expiresAt": -1}),
    (METRICS, {"gatewayScore": 1.0000001}),
    (METRICS, {"gatewayScore": -0.01}),
    (METRICS, {"gatewayScore": True}),
    (METRICS, {"queueLength": 2**32}),
    (METRICS, {"deltaOut": -1}),
    (PAYMENT, {"amount": 0}),
    (PAYMENT, {"amount": -1}),
    (PAYMENT, {"nonce": -1}),
    (PAYMENT, {"payee": PAYMENT.payer}),
    (PAYMENT, {"sig": bytes(63)}),
    (FULL_ACK, {"status": 256}),
    (FULL_ACK, {"ackType": -1}),
    (FULL_ACK, {"hopCount": 2**32}),
    (FULL_ACK, {"latencyMs": 2**63}),
    (FULL_ACK, {"latencyMs": -(2**63) - 1}),
    (FULL_ACK, {"ackH3r5": -1}),
    (FULL_ACK, {"transportHint": 1}),
    (FULL_ACK, {"path": [{"atMs": -1}]}),
    (CANCEL, {"reason": 0}),
    (CANCEL, {"reason": 4}),
    (ANNOUNCE, {"shortId": "AARBSYCTOB"}),
    (ANNOUNCE, {"shortId": "AARBSYCTO"}),
    (ANNOUNCE, {"creatorUidHex": "0" * 63}),
    (ANNOUNCE, {"creatorUidHex": "0" * 64 + "\n"}),
    (ANNOUNCE, {"creatorUidHex": "g" * 64}),
    (CONFIG, {"flags": {"a": 1}}),
    (CONFIG, {"flags": ["a"]}),
    (CONFIG, {"version": -1}),
]


@pytest.mark.parametrize(("message", "changes"), REFUSED)
def test_values_out_of_range_are_refused(message: ControlMessage, changes: dict[str, Any]) -> None:
    with pytest.raises(MalformedError):
        take_control(changed(message, **changes))


ACCEPTED: list[tuple[ControlMessage, dict[str, Any]]] = [
    (SUB_MSG, {"expiresAt": None}),
    (METRICS, {"gatewayScore": 0}),
    (METRICS, {"gatewayScore": 1}),
    (METRICS, {"queueLength": 2**32 - 1}),
    (PAYMENT, {"amount": 1, "nonce": 2**64 - 1}),
    (FULL_ACK, {"status": 255, "ackType": 0, "hopCount": 2**32 - 1}),
    (FULL_ACK, {"latencyMs": 2**63 - 1}),
    (FULL_ACK, {"latencyMs": -(2**63)}),
    (FULL_ACK, {"ackH3r7": 2**64 - 1, "transportHint": "pigeon", "path": []}),
    (ANNOUNCE, {"description": None, "creatorUidHex": "Ab" * 32}),
    (CONFIG, {"expiresAtMs": None, "flags": {}}),
]


@pytest.mark.parametrize(("message", "changes"), ACCEPTED)
def test_values_at_the_edge_are_accepted(message: ControlMessage, changes: dict[str, Any]) -> None:
    decoded = take_control(changed(message, **changes))
    assert isinstance(decoded, type(message))
    assert take_control(put_control(decoded)) == decoded


def test_status_and_ack_type_are_one_unless_said_otherwise_and_always_written() -> None:
    decoded = take_control(changed(FULL_ACK, status=None, ackType=None))
    assert isinstance(decoded, DeliveryAck)
    assert (decoded.status, decoded.ack_type) == (1, 1)
    assert {"status", "ackType"} <= set(cbor2.loads(put_control(decoded)))


@pytest.mark.parametrize("score", [0.1, 0.30000001, 1e-50])
def test_a_score_is_rounded_to_single_precision_both_ways(score: float) -> None:
    decoded = take_control(changed(METRICS, gatewayScore=score))
    assert isinstance(decoded, LinkMetrics)
    assert decoded.gateway_score == pytest.approx(score, rel=1e-6, abs=1e-44)
    assert take_control(put_control(decoded)) == decoded
    raw = put_control(msgspec.structs.replace(METRICS, gateway_score=score))
    assert raw == put_control(decoded)


def test_a_score_of_zero_has_no_sign() -> None:
    decoded = take_control(changed(METRICS, gatewayScore=-0.0))
    assert isinstance(decoded, LinkMetrics)
    assert put_control(decoded) == changed(METRICS, gatewayScore=0.0)


def test_a_group_id_that_cannot_be_written_is_refused() -> None:
    with pytest.raises(MalformedError, match="UTF-8"):
        put_control(msgspec.structs.replace(ANNOUNCE, group_id_string="\ud800"))


def test_only_messages_of_this_protocol_are_written() -> None:
    with pytest.raises(UnknownTypeError):
        put_control(ControlMessage())


def test_a_payload_has_at_most_262144_bytes() -> None:
    check_size(262_144)
    with pytest.raises(TooLargeError):
        check_size(262_145)


def test_the_hop_ack_of_the_specification_has_115_bytes() -> None:
    raw = put_control(
        HopAck(bundle_id=b"\x11" * 32, from_node=b"\x22" * 32, timestamp=1704067200000)
    )
    assert len(raw) == 115
    assert raw.startswith(b"\xa4\x67msgType\x02\x68bundleId\x58\x20")
