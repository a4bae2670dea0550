"""Signal Hub messages as Arrow columns."""

import json
from typing import Any

import msgspec
import pyarrow as pa
import pytest

from protocols.signalhub.samples import CLIENT, ID, NOW, REQUEST_ID, SAMPLES, WIDGET
from support.batches import expected, mixed
from support.cases import case
from wireloom.protocols.signalhub.codec import encode, encode_msgpack
from wireloom.protocols.signalhub.columns import COLUMN, decode
from wireloom.protocols.signalhub.envelope import Part, SharedMessage
from wireloom.protocols.signalhub.messages import HUB_CLASSES
from wireloom.wire.message import Message


def batch(*raws: bytes) -> pa.RecordBatch:
    return decode(pa.array(raws, pa.binary()))


def row(message: Message) -> dict[str, Any]:
    (shown,) = batch(encode(message))["signalhub"].to_pylist()
    assert isinstance(shown, dict)
    return shown


def said(struct: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in struct.items() if value is not None}


def test_a_batch_is_what_the_codec_gives_one_by_one() -> None:
    raws = mixed(case("signalhub"))
    shown = batch(*raws)
    shown.validate(full=True)
    assert shown.equals(expected(case("signalhub"), COLUMN, raws))
    assert shown.schema.equals(COLUMN.schema)
    assert {"malformed", None} <= set(shown["reason"].to_pylist())


def test_no_messages_give_no_rows() -> None:
    assert batch().equals(expected(case("signalhub"), COLUMN, []))


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_alone_in_its_batch_is_shown_right(name: str) -> None:
    raw = encode(SAMPLES[name])
    assert batch(raw).equals(expected(case("signalhub"), COLUMN, [raw]))


@pytest.mark.parametrize("name", SAMPLES)
def test_the_envelope_is_shown_whole(name: str) -> None:
    message = SAMPLES[name]
    shown = row(message)
    for field in SharedMessage.__struct_fields__:
        if field not in ("payload", "metadata"):
            value = getattr(message, field)
            assert shown[field.rstrip("_")] == (None if value is msgspec.UNSET else value)


def test_what_the_hub_says_is_typed() -> None:
    assert said(row(SAMPLES["hub:delivery_ack"])["payload"]) == {
        "message_id": REQUEST_ID,
        "delivered_at": NOW + 12,
        "status": "queued",
    }
    assert said(row(SAMPLES["hub:connect"])["metadata"]) == {
        "protocol_version": "0.1.0",
        "auth_token": "bearer eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9...",
        "capabilities": ["send", "broadcast", "subscribe"],
        "client_metadata": {"user_agent": "demo/1", "platform": "linux", "origin": None},
    }
    (actor,) = row(SAMPLES["hub:discovered"])["payload"]["actors"]
    assert (actor["actor_address"], actor["metadata"]) == (WIDGET, '{"widgetType": "chart"}')


def test_what_has_two_types_under_one_name_is_json() -> None:
    carried = row(SAMPLES["hub:send"])["payload"]["message"]
    assert json.loads(carried)["type"] == "task:assign"
    told = row(SAMPLES["hub:unknown_actor"])["payload"]["message"]
    assert json.loads(told) == "Actor not registered with Signal Hub"


def test_what_an_application_says_is_json_of_its_own() -> None:
    shown = row(SAMPLES["application"])
    assert (shown["payload"], shown["metadata"]) == (None, None)
    assert json.loads(shown["payload_json"]) == {"taskId": "task-456"}
    assert json.loads(shown["metadata_json"])["originalMessageId"] == REQUEST_ID
    typed = row(SAMPLES["hub:send"])
    assert (typed["payload_json"], typed["metadata_json"]) == (None, None)


def test_an_empty_object_is_not_an_absent_one() -> None:
    assert row(SAMPLES["hub:heartbeat"])["metadata_json"] == "{}"
    assert row(SAMPLES["send_bare"])["metadata_json"] is None
    assert row(SAMPLES["send_bare"])["metadata"] is None
    assert said(row(SAMPLES["hub:resume"])["payload"]) == {}
    assert row(SAMPLES["hub:connect"])["payload"] is None


def test_messagepack_gives_the_same_row_as_json() -> None:
    for message in SAMPLES.values():
        packed, text = batch(encode_msgpack(message), encode(message)).to_pylist()
        assert packed == text


def test_the_payload_has_the_fields_of_all_33() -> None:
    names = {field.name for field in COLUMN.type.field("payload").type}
    for name in (str(cls.__struct_config__.tag) for cls in HUB_CLASSES):
        payload = getattr(SAMPLES[name], "payload")  # noqa: B009
        if isinstance(payload, Part):
            assert set(payload.__struct_fields__) <= names


def test_the_common_columns_stand_beside_it() -> None:
    (shown,) = batch(encode(SAMPLES["hub:send"])).to_pylist()
    assert (shown["type"], shown["message_id"], shown["source"]) == ("hub:send", ID, CLIENT)
    assert (shown["destination"], shown["targets"], shown["cast"]) == (WIDGET, None, "unicast")
