"""Maps and the classes they stand for: keys, nulls, byte arrays, unknown keys, refusals."""

from typing import Any

import cbor2
import msgspec
import pytest

from protocols.dtn.samples import FULL_ACK, HOP_ACK, NOW, ONES, TWOS
from wireloom.protocols.dtn.maps import build, flat, put_map, shape, take_map
from wireloom.protocols.dtn.messages import DeliveryAck, DeliveryReceipt, HopAck
from wireloom.protocols.dtn.parts import BundleHeader, DeliveryPathHop
from wireloom.wire.errors import MalformedError

HOP = {"msgType": 2, "bundleId": ONES, "fromNode": TWOS, "timestamp": NOW}
ACK = {
    "msgType": 8,
    "msgId": ONES,
    "toUid": ONES,
    "fromUid": TWOS,
    "deliveredAtMs": NOW,
    "sig": bytes(64),
}


def hop(**changes: Any) -> HopAck:
    return take_map(HopAck, cbor2.dumps(HOP | changes))


def ack(**changes: Any) -> DeliveryAck:
    return take_map(DeliveryAck, cbor2.dumps(ACK | changes))


def test_a_shape_follows_from_the_declaration() -> None:
    known = shape(DeliveryAck)
    assert known.names["ackH3r5"] == "ack_h3r5"
    assert "extra" not in known.known
    assert known.byte_keys == {"msgId", "toUid", "fromUid", "sig"}
    assert known.list_keys == {"path": DeliveryPathHop}
    assert known.known - known.simple == {"path"}
    assert shape(BundleHeader).list_keys == {"routePath": None}


@pytest.mark.parametrize("signed", [True, False])
def test_bytes_may_come_as_a_list_of_integers(signed: bool) -> None:
    raw = bytes(range(112, 144))
    listed = [byte - 256 if signed and byte > 127 else byte for byte in raw]
    assert hop(bundleId=listed).bundle_id == raw


@pytest.mark.parametrize("wrong", [256, -129, True, 1.0, "1", None])
def test_other_lists_are_no_bytes(wrong: Any) -> None:
    with pytest.raises(MalformedError, match="bundleId"):
        hop(bundleId=[0] * 31 + [wrong])


def test_lists_of_integers_count_in_route_paths_and_hops() -> None:
    header = {
        "srcPub": ONES,
        "createdAt": 0,
        "payloadHash": ONES,
        "ttlSec": 0,
        "priority": 2,
        "routePath": [[1] * 32, TWOS],
    }
    assert take_map(BundleHeader, cbor2.dumps(header)).route_path == (b"\1" * 32, TWOS)
    assert ack(path=[{"node": [-1, 0]}]).path == (DeliveryPathHop(node=b"\xff\0"),)


def test_a_null_is_as_good_as_absent() -> None:
    assert ack(status=None, ackType=None, path=None, hopCount=None) == ack()
    assert ack(path=[{"node": None}]).path == (DeliveryPathHop(),)
    with pytest.raises(MalformedError, match="bundleId"):
        hop(bundleId=None)
    with pytest.raises(MalformedError, match="timestamp"):
        hop(timestamp=None)


def test_unknown_keys_are_kept_even_one_called_extra() -> None:
    assert hop(extra={"x": 1}, more=None).extra == {"extra": {"x": 1}, "more": None}
    assert ack(path=[{"rssi": -7, "extra": {}}]).path == (
        DeliveryPathHop(extra={"rssi": -7, "extra": {}}),
    )
    assert put_map(hop(extra=1)) == cbor2.dumps(HOP | {"extra": 1}, canonical=True)


def test_an_extra_key_must_not_be_a_declared_one() -> None:
    for key in ("timestamp", "msgType"):
        with pytest.raises(MalformedError, match="declared one"):
            flat(msgspec.structs.replace(HOP_ACK, extra={key: 1}))


def test_flat_leaves_out_what_is_absent() -> None:
    assert flat(DeliveryReceipt()) == {"msgType": 3}
    assert flat(FULL_ACK)["path"] == [
        {"node": TWOS, "transport": "lora", "atMs": NOW - 1},
        {"rssi": -71, "raw": b"\1"},
    ]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"bundleId": bytes(31)}, "bundleId: Expected"),
        ({"bundleId": bytes(33)}, "bundleId: Expected"),
        ({"bundleId": "MTEx" * 8}, "bundleId: Expected"),
        ({"timestamp": -1}, "timestamp: Expected"),
        ({"timestamp": 2**63}, "timestamp: Expected"),
        ({"timestamp": 1.0}, "timestamp: Expected"),
        ({"timestamp": True}, "timestamp: Expected"),
    ],
)
def test_a_refusal_names_the_field_and_its_place(changes: dict[str, Any], words: str) -> None:
    raw = cbor2.dumps(HOP | changes, canonical=True)
    with pytest.raises(MalformedError, match=words) as caught:
        take_map(HopAck, raw)
    (key,) = changes
    assert caught.value.offset == raw.index(key.encode()) + len(key)


def test_a_missing_field_is_named() -> None:
    raw = cbor2.dumps({key: value for key, value in HOP.items() if key != "fromNode"})
    with pytest.raises(MalformedError, match="fromNode"):
        take_map(HopAck, raw)


@pytest.mark.parametrize("path", [1, [1], {"a": 1}, [None]])
def test_a_path_is_a_list_of_maps(path: Any) -> None:
    with pytest.raises(MalformedError, match="path"):
        ack(path=path)


def test_a_refusal_without_its_bytes_has_no_place() -> None:
    with pytest.raises(MalformedError) as caught:
        build(HopAck, HOP | {"timestamp": "now"}, b"")
    assert caught.value.offset is None
