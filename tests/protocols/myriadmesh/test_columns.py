"""MyriadMesh frames as columns; that they agree with the codec is tested for all protocols."""

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from protocols.myriadmesh.samples import DATA, NOW_MS, PEER, SAMPLES, SOURCE, frame
from wireloom.protocols.myriadmesh import codec
from wireloom.protocols.myriadmesh.codec import encode
from wireloom.protocols.myriadmesh.columns import COLUMN, decode
from wireloom.protocols.myriadmesh.constants import Flags
from wireloom.protocols.myriadmesh.messages import TYPES, Ack, Error, Sealed
from wireloom.wire.message import Message


def decoded(*raws: bytes) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = decode(pa.array(raws, pa.binary())).to_pylist()
    return rows


def test_the_payload_is_a_struct_of_all_fields_that_payloads_have() -> None:
    payload = COLUMN.type.field("payload").type
    classes: list[type[Message]] = [*TYPES.values(), Error, Ack, Sealed]
    names = {name for cls in classes for name in (*cls.__struct_fields__, *cls.derived)}
    assert {field.name for field in payload} == names
    assert payload.field("messages").type == pa.string()


def test_a_frame_is_shown_field_by_field() -> None:
    raw = encode(frame(DATA, flags=Flags.RELAY | Flags.ACK_REQUIRED, ttl=7))
    (row,) = decoded(raw)
    own = row.pop("myriadmesh")
    assert row == {
        "reason": None,
        "detail": None,
        "offset": None,
        "type": "DATA",
        "message_id": "01" * 16,
        "source": SOURCE.hex(),
        "destination": PEER.hex(),
        "targets": None,
        "cast": "unicast",
        "created_ms": NOW_MS,
        "expires_ms": None,
        "priority_rank": 2,
        "hops": 3,
        "reply_to": None,
        "payload_size": len(raw) - 99,
    }
    payload = {name: value for name, value in own.pop("payload").items() if value is not None}
    assert payload == {"content_type": DATA.content_type.name, "data": DATA.data.hex()}
    assert own == {
        "flags": ["relay", "ack_required"],
        "message_type": "DATA",
        "priority": 160,
        "ttl": 7,
        "message_id": "01" * 16,
        "source_node_id": SOURCE.hex(),
        "dest_node_id": PEER.hex(),
        "timestamp": Decimal(NOW_MS),
        "signature": None,
        "compressed": None,
        "version": 1,
        "payload_length": len(raw) - 99,
    }


def test_an_acknowledgement_and_an_error_name_what_they_answer() -> None:
    ack, error = decoded(encode(SAMPLES["CONTROL ack"]), encode(SAMPLES["CONTROL error"]))
    assert ack["reply_to"] == ack["myriadmesh"]["payload"]["original_message_id"]
    assert error["reply_to"] == error["myriadmesh"]["payload"]["original_message_id"]
    assert error["myriadmesh"]["payload"]["command"] == "ERROR"


def test_a_time_beyond_all_clocks_is_kept_and_has_no_instant() -> None:
    late, now = decoded(encode(frame(DATA, timestamp=(1 << 64) - 1)), encode(frame(DATA)))
    assert late["created_ms"] is None
    assert late["myriadmesh"]["timestamp"] == Decimal((1 << 64) - 1)
    assert now["created_ms"] == NOW_MS


def test_frames_in_a_batch_are_json() -> None:
    (row,) = decoded(encode(SAMPLES["DATA_BATCH"]))
    assert row["type"] == "DATA_BATCH"
    assert row["myriadmesh"]["payload"]["messages"].startswith('[{"compressed": null')


def test_a_refused_frame_has_a_reason_and_nothing_else() -> None:
    good = encode(frame(DATA))
    row = decoded(good, good[:50], good)[1]
    assert row["reason"] == "malformed"
    assert {name for name, value in row.items() if value is not None} == {
        "reason",
        "detail",
        "offset",
    }


def test_ordinary_frames_do_not_go_through_the_codec(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bytes] = []

    def remembered(raw: bytes) -> Any:
        asked.append(raw)
        return decode_one(raw)

    decode_one = codec.decode
    monkeypatch.setattr(codec, "decode", remembered)
    odd = encode(SAMPLES["DISCOVERY"])
    ordinary = [encode(SAMPLES[name]) for name in ("DATA sealed", "HEARTBEAT", "CONTROL ack")]
    assert len(decoded(*ordinary, odd, *ordinary)) == 7
    assert asked == [odd]
