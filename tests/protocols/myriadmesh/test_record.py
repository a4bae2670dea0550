import json
from typing import Any

import pytest

from protocols.myriadmesh.samples import DATA, NOW_MS, PEER, SAMPLES, SOURCE, frame
from support.cases import vectors
from wireloom.protocols.myriadmesh.codec import decode, encode
from wireloom.protocols.myriadmesh.constants import BROADCAST_ID
from wireloom.protocols.myriadmesh.messages import Ack, Error, Frame
from wireloom.protocols.myriadmesh.record import from_fields, priority_rank, summarise
from wireloom.wire.errors import MalformedError, UnknownTypeError
from wireloom.wire.message import Cast, Summary, Unknown
from wireloom.wire.plain import to_plain

RANKS = [v for v in vectors("myriadmesh") if v.get("check") == "priority"]


def plain(name: str) -> dict[str, Any]:
    shown: dict[str, Any] = json.loads(json.dumps(to_plain(SAMPLES[name])))
    return shown


def test_a_frame_is_summarised() -> None:
    assert summarise(frame(DATA), encode(frame(DATA))) == Summary(
        type="DATA",
        id="01" * 16,
        source=SOURCE.hex(),
        destination=PEER.hex(),
        created_ms=NOW_MS,
        priority_rank=2,
        cast=Cast.UNICAST,
        hops=0,
        payload_size=1 + len(DATA.data),
    )


@pytest.mark.parametrize(("ttl", "taken"), [(10, 0), (9, 1), (1, 9), (11, 0), (255, 0)])
def test_hops_are_counted_from_the_usual_number_and_never_below_none(ttl: int, taken: int) -> None:
    message = frame(DATA, ttl=ttl)
    assert summarise(message, encode(message)).hops == taken


@pytest.mark.parametrize("name", ["CONTROL ack", "CONTROL error"])
def test_an_acknowledgement_and_an_error_name_what_they_answer(name: str) -> None:
    message = SAMPLES[name]
    assert isinstance(message, Frame)
    assert isinstance(message.payload, Ack | Error)
    summary = summarise(message, encode(message))
    assert summary.reply_to == message.payload.original_message_id.hex()


@pytest.mark.parametrize("name", SAMPLES)
def test_the_payload_size_is_what_the_header_says(name: str) -> None:
    message = SAMPLES[name]
    assert isinstance(message, Frame)
    assert summarise(message, encode(message)).payload_size == message.payload_length


def test_a_broadcast_goes_to_all_ones() -> None:
    message = SAMPLES["DISCOVERY"]
    assert isinstance(message, Frame)
    summary = summarise(message, encode(message))
    assert summary.destination == BROADCAST_ID.hex()
    assert summary.cast is Cast.BROADCAST


def test_an_unknown_type_is_summarised_by_its_header() -> None:
    raw = encode(SAMPLES["DATA"])
    raw = raw[:6] + b"\x10" + raw[7:]
    message = decode(raw, lenient=True)
    assert isinstance(message, Unknown)
    summary = summarise(message, raw)
    assert summary.type == "0x10"
    assert summary.id == "01" * 16
    assert summary.cast is Cast.UNICAST
    assert summary.hops == 0
    assert summary.reply_to is None
    assert summary.payload_size == 1 + len(DATA.data)


@pytest.mark.parametrize("vector", RANKS, ids=lambda vector: vector["name"])
def test_rank_vector_holds(vector: dict[str, Any]) -> None:
    priorities = bytes.fromhex(vector["hex"])
    assert [priority_rank(priority) for priority in priorities] == vector["expect"]["ranks"]


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_come_back_from_their_fields(name: str) -> None:
    message = SAMPLES[name]
    assert isinstance(message, Frame)
    assert from_fields(message.message_type.name, plain(name)) == message


def test_the_type_need_not_stand_in_the_fields() -> None:
    fields = plain("HEARTBEAT")
    del fields["message_type"]
    assert from_fields("HEARTBEAT", fields) == SAMPLES["HEARTBEAT"]


def test_fields_show_names_and_derived_values() -> None:
    shown = plain("DISCOVERY")
    assert shown["flags"] == ["signed", "broadcast"]
    assert shown["message_type"] == "DISCOVERY"
    assert shown["version"] == 1
    assert shown["payload"]["capabilities"] == ["relay", "cache", "version_1"]
    assert plain("HEARTBEAT")["payload"]["load_average"] == 1.25
    assert plain("CONTROL error")["payload"]["error_code"] == "TTL_EXCEEDED"


def test_a_type_that_is_none_is_unknown() -> None:
    with pytest.raises(UnknownTypeError, match="'NEWS'"):
        from_fields("NEWS", plain("DATA"))


@pytest.mark.parametrize(
    ("name", "change", "detail"),
    [
        ("DATA", {"message_type": "CONTROL"}, "fields.message_type is not DATA"),
        ("DATA", {"payload": None}, "fields.payload must be an object"),
        ("DATA", {"flags": "signed"}, "fields.flags must be a list"),
        ("DATA", {"payload_length": 20}, "fields.payload_length contradicts"),
        ("DATA", {"version": 2}, "fields.version contradicts"),
        ("DATA", {"hops": 2}, "fields.hops is not a field"),
        ("DATA", {"flags": ["unheard_of"]}, "fields.flags cannot be"),
        ("DATA_BATCH", {"payload": {"messages": {}}}, "messages must be a list"),
        ("DATA_BATCH", {"payload": {"messages": [1]}}, r"messages\[0\] must be an object"),
        (
            "DATA_BATCH",
            {"payload": {"messages": [{"message_type": 1, "payload": {}}]}},
            r"messages\[0\].message_type cannot be 1",
        ),
        (
            "DATA_BATCH",
            {"payload": {"messages": [{"message_type": "NEWS", "payload": {}}]}},
            r"messages\[0\].message_type cannot be 'NEWS'",
        ),
    ],
)
def test_fields_that_make_no_frame_are_refused(
    name: str, change: dict[str, Any], detail: str
) -> None:
    with pytest.raises(MalformedError, match=detail):
        from_fields(name, plain(name) | change)


def test_a_flag_named_twice_is_the_same_flag() -> None:
    fields = plain("DATA") | {"flags": ["signed", "signed"]}
    assert from_fields("DATA", fields) == SAMPLES["DATA"]


def test_fields_must_be_an_object() -> None:
    with pytest.raises(MalformedError, match="fields must be an object"):
        from_fields("DATA", [])


def test_batches_in_batches_of_fields_are_refused_at_any_depth() -> None:
    fields = plain("DATA_BATCH")
    for _ in range(300):
        fields = plain("DATA_BATCH") | {"payload": {"messages": [fields]}}
    with pytest.raises(MalformedError):
        from_fields("DATA_BATCH", fields)
