"""Which frames of a batch are ordinary."""

import pyarrow as pa
import pytest

from protocols.myriadmesh.samples import DATA, SAMPLES, frame
from wireloom.protocols.myriadmesh.codec import encode
from wireloom.protocols.myriadmesh.constants import Command, ErrorCode, Flags
from wireloom.protocols.myriadmesh.layouts import LAYOUTS
from wireloom.protocols.myriadmesh.messages import DataBatch, Error
from wireloom.protocols.myriadmesh.survey import Survey, survey
from wireloom.wire.batch import Frames

RAW = encode(frame(DATA))
NAMES = [None, *LAYOUTS]


def surveyed(*raws: bytes) -> Survey:
    return survey(Frames(pa.array(raws, pa.binary())))


def kinds(*raws: bytes) -> list[str | None]:
    return [NAMES[kind] for kind in surveyed(*raws).kinds]


def changed(at: int, value: bytes, raw: bytes = RAW) -> bytes:
    return raw[:at] + value + raw[at + len(value) :]


ORDINARY = {
    "DATA": "DATA",
    "DATA sealed": "sealed",
    "DATA compressed": None,
    "DATA compressed and sealed": "sealed",
    "DATA to all": "DATA",
    "CONTROL": "CONTROL",
    "CONTROL error": None,  # its description has more than ASCII
    "CONTROL ack": "ack",
    "DHT_QUERY": "DHT_QUERY",
    "DHT_RESPONSE": None,
    "DHT_STORE": "DHT_STORE",
    "DISCOVERY": None,
    "HEARTBEAT": "HEARTBEAT",
    "KEY_EXCHANGE": "KEY_EXCHANGE",
    "LEDGER_BLOCK": None,
    "LEDGER_QUERY": "LEDGER_QUERY",
    "LEDGER_QUERY by hash": "by hash",
    "TEST_REQUEST": "TEST_REQUEST",
    "TEST_RESPONSE": "TEST_RESPONSE",
    "ROUTE_REQUEST": "ROUTE_REQUEST",
    "ROUTE_RESPONSE": "ROUTE_RESPONSE",
    "DATA_BATCH": None,
    "DATA_BATCH compressed": None,
}


def test_most_frames_need_no_codec() -> None:
    raws = {name: encode(message) for name, message in SAMPLES.items()}
    assert dict(zip(raws, kinds(*raws.values()), strict=True)) == ORDINARY


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        RAW[:98],
        changed(0, b"MYMX"),
        changed(4, b"\x02"),
        changed(5, bytes([Flags.RESERVED])),
        changed(5, bytes([Flags.BROADCAST])),
        changed(5, bytes([Flags.ACK])),
        changed(6, b"\x10"),
        changed(8, b"\x00"),
        changed(9, b"\xff\xff"),
        changed(59, b"\xff" * 32),
        changed(59, bytes(32)),
        changed(99, b"\x05"),
        RAW + b"\x00",
        RAW[:-1],
        RAW.ljust(65_536, b"\x00"),
    ],
    ids=lambda raw: raw[:12].hex() + f"+{len(raw)}",
)
def test_a_fault_is_left_to_the_codec_and_spoils_no_other_frame(raw: bytes) -> None:
    assert kinds(RAW, raw, RAW) == ["DATA", None, "DATA"]
    assert kinds(RAW, raw) == ["DATA", None]
    assert kinds(raw) == [None]


def test_a_destination_that_only_begins_like_a_special_one_is_left_to_the_codec() -> None:
    assert kinds(changed(59, b"\xff" * 31 + b"\x00"), changed(59, bytes(31) + b"\x01")) == [
        None,
        None,
    ]


def test_a_broadcast_has_to_go_to_all() -> None:
    raw = encode(SAMPLES["DATA to all"])
    assert kinds(raw, changed(90, b"\xfe", raw), changed(59, bytes(32), raw)) == [
        "DATA",
        None,
        None,
    ]


@pytest.mark.parametrize("name", ["HEARTBEAT", "DHT_QUERY", "CONTROL ack", "TEST_REQUEST"])
@pytest.mark.parametrize("change", [-1, 1])
def test_a_payload_of_another_size_is_left_to_the_codec(name: str, change: int) -> None:
    raw = encode(SAMPLES[name])
    body = raw[99:-64] if raw[5] & Flags.SIGNED else raw[99:]
    other = body[:-1] if change < 0 else body + b"\x00"
    resized = changed(9, len(other).to_bytes(2), raw[:99]) + other + raw[99 + len(body) :]
    assert kinds(raw, resized)[1] is None


def test_a_count_that_says_another_size_is_left_to_the_codec() -> None:
    raw = encode(SAMPLES["DHT_STORE"])
    assert kinds(raw, changed(99 + 33, bytes([raw[99 + 33] + 1]), raw)) == ["DHT_STORE", None]


def test_an_error_with_more_than_ascii_or_a_large_code_is_left_to_the_codec() -> None:
    code, of = ErrorCode.TTL_EXCEEDED, b"\x05" * 16
    plain = encode(frame(Error(error_code=code, original_message_id=of)))
    wide = encode(frame(Error(error_code=code, original_message_id=of, error_description="größer")))
    large = changed(100, b"\x01\x04", plain)
    assert kinds(plain, wide, large) == ["error", None, None]


def test_an_empty_control_is_no_error() -> None:
    empty = changed(9, b"\x00\x00", encode(SAMPLES["CONTROL"])[:99])
    assert kinds(empty, RAW[:99] + bytes([Command.ERROR])) == [None, None]


def test_members_are_the_frames_of_a_kind() -> None:
    heartbeat = encode(SAMPLES["HEARTBEAT"])
    batch = encode(frame(DataBatch(messages=())))
    seen = surveyed(heartbeat, RAW, batch, RAW, changed(99, b"\x05"))
    assert {NAMES[kind]: list(found.rows) for kind, found in seen.members.items()} == {
        "HEARTBEAT": [0],
        "DATA": [1, 3],
    }
    data = next(found for found in seen.members.values() if len(found.rows) == 2)
    assert list(data.lengths) == [len(RAW) - 99] * 2
    assert data.bodies[0] == len(heartbeat) + 99


def test_a_kind_whose_frames_are_all_wrong_is_not_there() -> None:
    assert surveyed(changed(99, b"\x05")).members == {}


def test_no_frames_are_no_trouble() -> None:
    assert kinds() == []
