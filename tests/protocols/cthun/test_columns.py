"""Cthun frames as Arrow columns."""

from typing import Any

import msgspec
import pyarrow as pa
import pytest

from protocols.cthun.samples import (
    AGENT,
    APPLICATION,
    EXPIRES,
    HOP,
    ID,
    OTHER_ID,
    SAMPLES,
    append_hop,
)
from support.batches import expected, mixed
from support.cases import case
from wireloom.protocols.cthun import codec
from wireloom.protocols.cthun.chunks import Chunk, join, split
from wireloom.protocols.cthun.codec import encode
from wireloom.protocols.cthun.columns import COLUMN, decode
from wireloom.protocols.cthun.constants import MAX_DEBUG_CHUNKS, ChunkType, MessageType
from wireloom.protocols.cthun.messages import TYPES, Packet

GREETING = encode(SAMPLES[APPLICATION])
LATER = msgspec.structs.replace(HOP, stage="deliver", time="2015-04-27T12:00:01Z")


def batch(*raws: bytes) -> pa.RecordBatch:
    return decode(pa.array(raws, pa.binary()))


def row(raw: bytes) -> dict[str, Any]:
    (shown,) = batch(raw)["cthun"].to_pylist()
    assert isinstance(shown, dict)
    return shown


def test_a_batch_is_what_the_codec_gives_one_by_one() -> None:
    raws = mixed(case("cthun"))
    shown = batch(*raws)
    shown.validate(full=True)
    assert shown.equals(expected(case("cthun"), COLUMN, raws))
    assert shown.schema.equals(COLUMN.schema)
    assert {"malformed", "unsupported_version", None} <= set(shown["reason"].to_pylist())


def test_no_frames_give_no_rows() -> None:
    assert batch().equals(expected(case("cthun"), COLUMN, []))


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_alone_in_its_batch_is_shown_right(name: str) -> None:
    raw = encode(SAMPLES[name])
    assert batch(raw).equals(expected(case("cthun"), COLUMN, [raw]))


def test_an_application_has_hex_and_the_broker_an_object() -> None:
    greeting = row(GREETING)
    assert greeting["envelope"]["id"] == ID
    assert greeting["envelope"]["targets"] == [AGENT, "cth://*/agent"]
    assert greeting["envelope"]["destination_report"] is True
    assert greeting["envelope"]["in_reply_to"] is None
    assert (greeting["data"], greeting["data_hex"]) == (None, "2248656c6c6f2200ff")
    report = row(encode(SAMPLES[MessageType.DESTINATION_REPORT.value]))
    assert report["data_hex"] is None
    told = {name: value for name, value in report["data"].items() if value is not None}
    assert told == {"id": OTHER_ID, "targets": [AGENT]}


def test_data_that_is_empty_is_not_data_that_is_absent() -> None:
    assert row(encode(SAMPLES["application with empty data"]))["data_hex"] == ""
    assert row(encode(SAMPLES["application without data"]))["data_hex"] is None
    request = row(encode(SAMPLES["associate_request with empty data"]))
    assert set(request["data"].values()) == {None}
    assert row(encode(SAMPLES[MessageType.ASSOCIATE_REQUEST.value]))["data"] is None


def test_the_broker_data_has_the_fields_of_every_type() -> None:
    names = {field.name for field in COLUMN.type.field("data").type}
    assert names == {name for cls in TYPES.values() for name in cls.__struct_fields__}


def test_the_hops_of_all_debug_chunks_stand_in_one_list() -> None:
    shown = row(encode(SAMPLES["reserved bits and hops"]))
    assert shown["hops"] == [
        {"server": HOP.server, "stage": "accepted", "time": HOP.time},
        {"server": "cth:///server", "stage": None, "time": EXPIRES},
    ]
    assert (shown["envelope_flags"], shown["data_flags"]) == (1, 15)


def test_frames_that_go_on_from_others_are_not_read_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    once = append_hop(GREETING, HOP)
    twice = append_hop(once, LATER)
    other = append_hop(encode(SAMPLES["application without data"]), HOP)
    read: list[bytes] = []

    def recording(raw: bytes) -> Packet:
        read.append(raw)
        return codec.decode(raw)

    monkeypatch.setattr("wireloom.protocols.cthun.columns.decode_one", recording)
    shown = batch(GREETING, once, twice, other)["cthun"].to_pylist()
    assert read == [GREETING, other]
    assert [[hop["stage"] for hop in one["hops"]] for one in shown] == [
        [],
        ["accepted"],
        ["accepted", "deliver"],
        ["accepted"],
    ]
    assert [one["data_hex"] for one in shown] == ["2248656c6c6f2200ff"] * 3 + [None]


def test_any_order_of_chunks_is_read() -> None:
    envelope, data, debug = split(append_hop(GREETING, HOP)).chunks
    raws = [join([envelope]), join([envelope, debug]), join([envelope, debug, data])]
    assert batch(*raws).equals(expected(case("cthun"), COLUMN, raws))
    assert row(raws[-1]) == row(append_hop(GREETING, HOP))


@pytest.mark.parametrize(
    "rest",
    [
        Chunk(ChunkType.DEBUG, 0, b'{"hops":[{}]}'),
        Chunk(ChunkType.DEBUG, 9, b'{"hops":[]}'),
        Chunk(ChunkType.DATA, 0, b'{"hops":[]}'),
        Chunk(ChunkType.ENVELOPE, 0, b'{"hops":[]}'),
    ],
)
def test_what_goes_on_from_a_known_frame_is_judged_like_any_other(rest: Chunk) -> None:
    descriptor = bytes([rest.flags << 4 | rest.type])
    chunk = descriptor + len(rest.content).to_bytes(4) + rest.content
    raws = [
        *(GREETING, encode(SAMPLES["application without data"])),
        *(good + chunk for good in (GREETING, encode(SAMPLES["application without data"]))),
        *(GREETING + chunk[:-1], GREETING + chunk + b"\x03", GREETING + b"\x0f" + chunk[1:]),
        *(chunk, b'\x01{"hops"', b'{"hops"'),
    ]
    assert batch(*raws).equals(expected(case("cthun"), COLUMN, raws))


def test_too_many_debug_chunks_are_refused_here_too() -> None:
    empty = Chunk(ChunkType.DEBUG, 0, b"")
    full = join([*split(GREETING).chunks, *[empty] * MAX_DEBUG_CHUNKS])
    hop = append_hop(GREETING, HOP)[len(GREETING) :]
    assert batch(full, full + hop)["reason"].to_pylist() == [None, "too_large"]


def test_a_message_that_grows_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    grown = append_hop(GREETING, HOP)
    for module in ("chunks", "columns"):
        monkeypatch.setattr(f"wireloom.protocols.cthun.{module}.MAX_MESSAGE_SIZE", len(GREETING))
    assert batch(GREETING, grown)["reason"].to_pylist() == [None, "too_large"]
