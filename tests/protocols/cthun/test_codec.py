"""Layout, leniency and refusals of whole Cthun messages."""

from hashlib import sha256
from typing import Any

import msgspec
import pytest

from protocols.cthun.outside import checks
from protocols.cthun.samples import (
    AGENT,
    APPLICATION,
    CONTROLLER,
    EXPIRES,
    GREETING,
    HOP,
    ID,
    SAMPLES,
    append_hop,
    to_broker,
)
from wireloom.protocols.cthun.chunks import Chunk, join
from wireloom.protocols.cthun.codec import decode, encode, spans
from wireloom.protocols.cthun.constants import MAX_DEBUG_CHUNKS, ChunkType, MessageType
from wireloom.protocols.cthun.messages import (
    AssociateRequest,
    DebugChunk,
    Hop,
    InventoryRequest,
    Packet,
    TtlExpired,
)
from wireloom.wire.errors import (
    MalformedError,
    TooLargeError,
    TrailingBytesError,
    UnknownTypeError,
)
from wireloom.wire.message import Message, Unknown

ENVELOPE = (
    b'{"id":"5f6b8a3e-1c2d-4e5f-8a9b-0c1d2e3f4a5b","message_type":"%b",'
    b'"expires":"2015-04-27T12:00:03Z","targets":["cth:///server"],'
    b'"sender":"cth://controller.example.com/controller"}'
)
INVENTORY = MessageType.INVENTORY_REQUEST.value
ASSOCIATE = MessageType.ASSOCIATE_REQUEST.value
INVENTORY_FRAME = encode(SAMPLES[INVENTORY])


def frame(type_: str, *chunks: tuple[ChunkType, bytes]) -> bytes:
    first = Chunk(ChunkType.ENVELOPE, 0, ENVELOPE % type_.encode())
    return join([first, *[Chunk(kind, 0, content) for kind, content in chunks]])


def greeting(**changes: Any) -> Packet:
    return msgspec.structs.replace(Packet(envelope=GREETING, data=b"x"), **changes)


@checks("digest")
def test_own_vector_has_the_digest_that_was_computed_for_it(vector: dict[str, Any]) -> None:
    raw = bytes.fromhex(vector["hex"])
    assert len(raw) == vector["expect"]["size"]
    assert sha256(raw).hexdigest() == vector["expect"]["sha256"]
    assert encode(decode(raw)) == raw


def test_a_message_lies_as_the_layout_says() -> None:
    content = ENVELOPE % INVENTORY.encode()
    data = b'{"query":["cth://*/agent"]}'
    assert b"\1\1\0\0\0\xd6" + content + b"\2\0\0\0\x1b" + data == INVENTORY_FRAME


def test_a_hop_is_written_in_the_order_of_the_schema() -> None:
    raw = encode(Packet(envelope=GREETING, debug_chunks=(DebugChunk(hops=(HOP,)),)))
    assert raw.endswith(
        b'{"hops":[{"server":"cth://broker-1/server","stage":"accepted",'
        b'"time":"2015-04-27T12:00:00.120Z"}]}'
    )


def test_optional_fields_stand_under_their_wire_names() -> None:
    raw = encode(SAMPLES[MessageType.TTL_EXPIRED.value])
    assert b'"in-reply-to":"D0F1C2B3-0000-1000-8000-00805F9B34FB"' in raw
    assert b"destination_report" not in raw
    assert b'"destination_report":true' in encode(greeting())


def test_chunks_are_written_in_one_order_whatever_order_they_came_in() -> None:
    mixed = frame(APPLICATION, (ChunkType.DEBUG, b""), (ChunkType.DATA, b"x"))
    ordered = frame(APPLICATION, (ChunkType.DATA, b"x"), (ChunkType.DEBUG, b""))
    assert decode(mixed) == decode(ordered)
    assert encode(decode(mixed)) == ordered


def test_absent_and_empty_data_are_told_apart() -> None:
    absent, empty = frame(APPLICATION), frame(APPLICATION, (ChunkType.DATA, b""))
    assert decode(absent).data is None
    assert decode(empty).data == b""
    assert encode(decode(absent)) == absent
    assert encode(decode(empty)) == empty


def test_empty_debug_is_kept_as_it_came() -> None:
    raw = frame(APPLICATION, (ChunkType.DEBUG, b""), (ChunkType.DEBUG, b'{"hops":[]}'))
    message = decode(raw)
    assert message.debug_chunks == (DebugChunk(), DebugChunk(hops=()))
    assert encode(message) == raw


def test_an_associate_request_may_have_an_empty_data_chunk_and_no_other() -> None:
    assert decode(frame(ASSOCIATE)).data is None
    assert decode(frame(ASSOCIATE, (ChunkType.DATA, b""))).data == AssociateRequest()
    with pytest.raises(MalformedError, match="has no data") as caught:
        decode(frame(ASSOCIATE, (ChunkType.DATA, b"{}")))
    assert caught.value.offset == len(frame(ASSOCIATE)) + 5


@pytest.mark.parametrize("type_", [one.value for one in MessageType if one.value != ASSOCIATE])
def test_every_other_broker_message_needs_data(type_: str) -> None:
    with pytest.raises(MalformedError, match="needs data"):
        decode(frame(type_))
    with pytest.raises(MalformedError, match="data: not JSON"):
        decode(frame(type_, (ChunkType.DATA, b"")))
    with pytest.raises(MalformedError, match="needs data"):
        encode(Packet(envelope=to_broker(type_)))


@pytest.mark.parametrize(
    ("type_", "data"),
    [
        (INVENTORY, b'{"query":[]}'),
        (INVENTORY, TtlExpired(id=ID)),
        (ASSOCIATE, b""),
        (APPLICATION, InventoryRequest(query=())),
        (APPLICATION, "text"),
    ],
)
def test_encode_refuses_data_of_another_kind(type_: str, data: Any) -> None:
    with pytest.raises(MalformedError, match="is not the data of"):
        encode(Packet(envelope=to_broker(type_), data=data))


def test_an_unknown_message_type_is_an_application_message() -> None:
    raw = frame("http://puppetlabs.com/version_error", (ChunkType.DATA, b"{}"))
    assert decode(raw).data == b"{}"
    assert decode(raw, lenient=True) == decode(raw)


def test_flags_of_every_chunk_are_kept() -> None:
    message = decode(encode(SAMPLES["reserved bits and hops"]))
    assert (message.envelope_flags, message.data_flags) == (1, 15)
    assert [chunk.flags for chunk in message.debug_chunks] == [0, 9, 0]


@pytest.mark.parametrize(
    "changes",
    [
        {"envelope_flags": 16},
        {"data_flags": -1},
        {"debug_chunks": (DebugChunk(flags=2**70),)},
        {"data": None, "data_flags": 1},
    ],
)
def test_encode_refuses_flags_that_do_not_fit(changes: dict[str, Any]) -> None:
    with pytest.raises(MalformedError, match="flags"):
        encode(greeting(**changes))


@pytest.mark.parametrize("count", [1, 4])
def test_lenient_decoding_keeps_up_to_four_bytes_that_are_not_sent_on(count: int) -> None:
    raw = INVENTORY_FRAME + b"\0" * count
    message = decode(raw, lenient=True)
    assert message.trailing_bytes == b"\0" * count
    with pytest.raises(TrailingBytesError):
        decode(raw)
    with pytest.raises(MalformedError, match="not sent on"):
        encode(message)
    assert decode(INVENTORY_FRAME, lenient=True) == decode(INVENTORY_FRAME)


@pytest.mark.parametrize("message", [Unknown(type="x", raw=b"x"), AssociateRequest(), GREETING])
def test_encode_refuses_what_is_no_packet(message: Message) -> None:
    with pytest.raises(UnknownTypeError, match="not a Cthun packet"):
        encode(message)


def test_a_fault_in_a_later_chunk_is_placed_in_the_message() -> None:
    head = frame(APPLICATION, (ChunkType.DATA, b"xyz"))
    with pytest.raises(MalformedError, match=r"debug: not JSON") as caught:
        decode(head + debug_chunk(b'{"hops":!'))
    assert caught.value.offset == len(head) + 5 + 8


def debug_chunk(content: bytes) -> bytes:
    return b"\3" + len(content).to_bytes(4, "big") + content


def test_a_further_hop_leaves_every_earlier_byte_alone() -> None:
    spaced = frame(
        INVENTORY, (ChunkType.DEBUG, b'{ "hops" : [ ] }'), (ChunkType.DATA, b'{"query": []}')
    )
    once = append_hop(spaced, HOP)
    twice = append_hop(once, Hop(server=AGENT, time=EXPIRES))
    assert once.startswith(spaced)
    assert twice.startswith(once)
    assert [hop.server for hop in decode(twice).hops] == [HOP.server, AGENT]


def test_a_hop_is_refused_like_all_else() -> None:
    for server, time, why in (
        ("cth://*/server", EXPIRES, r"debug\.hops\[0\]\.server is not the Cthun URI"),
        (AGENT, "2015-02-29T00:00:00Z", "is no date"),
    ):
        chunk = DebugChunk(hops=(Hop(server=server, time=time),))
        with pytest.raises(MalformedError, match=why):
            encode(greeting(debug_chunks=(chunk,)))
    with pytest.raises(TooLargeError):
        encode(greeting(debug_chunks=(DebugChunk(),) * (MAX_DEBUG_CHUNKS + 1)))


def test_spans_name_every_field_where_it_lies() -> None:
    raw = append_hop(INVENTORY_FRAME, HOP)
    found = {span.name: raw[span.offset : span.offset + span.size] for span in spans(raw)}
    assert found == {
        "version": b"\1",
        "envelope_flags": b"\1",
        "envelope_size": b"\0\0\0\xd6",
        "envelope.id": b'"5f6b8a3e-1c2d-4e5f-8a9b-0c1d2e3f4a5b"',
        "envelope.message_type": f'"{INVENTORY}"'.encode(),
        "envelope.expires": b'"2015-04-27T12:00:03Z"',
        "envelope.targets": b'["cth:///server"]',
        "envelope.sender": f'"{CONTROLLER}"'.encode(),
        "data_flags": b"\2",
        "data_size": b"\0\0\0\x1b",
        "data.query": b'["cth://*/agent"]',
        "debug_chunks.0.flags": b"\3",
        "debug_chunks.0.size": b"\0\0\0\x62",
        "debug_chunks.0.hops": b'[{"server":"cth://broker-1/server","stage":"accepted",'
        b'"time":"2015-04-27T12:00:00.120Z"}]',
    }


def test_spans_use_the_names_of_the_plain_fields() -> None:
    names = [span.name for span in spans(encode(SAMPLES[MessageType.TTL_EXPIRED.value]))]
    assert "envelope.in_reply_to" in names


def test_spans_show_an_applications_data_and_trailing_bytes_as_a_whole() -> None:
    raw = frame(APPLICATION, (ChunkType.DATA, b'{"a":1}'), (ChunkType.DEBUG, b"")) + b"\0"
    assert [(span.name, span.size) for span in spans(raw)][-6:] == [
        ("data_size", 4),
        ("data", 7),
        ("debug_chunks.0.flags", 1),
        ("debug_chunks.0.size", 4),
        ("debug_chunks.0", 0),
        ("trailing_bytes", 1),
    ]


def test_spans_go_on_after_a_bad_envelope_and_stop_at_a_bad_chunk() -> None:
    raw = join([Chunk(ChunkType.ENVELOPE, 0, b'{"id":1}'), Chunk(ChunkType.DATA, 0, b"{}")])
    names = ["version", "envelope_flags", "envelope_size", "envelope.id"]
    assert [s.name for s in spans(raw)] == [*names, "data_flags", "data_size", "data"]
    assert [s.name for s in spans(raw[:-1])] == names
    assert spans(b"") == []
    assert [s.name for s in spans(b"\2")] == ["version"]


def test_spans_of_a_hostile_envelope_are_few() -> None:
    many = b"{" + b",".join(b'"k%d":1' % i for i in range(100)) + b"}"
    deep = b'{"a":' * 900 + b"1" + b"}" * 900
    assert len(spans(join([Chunk(ChunkType.ENVELOPE, 0, many)]))) == 3 + 16
    assert len(spans(join([Chunk(ChunkType.ENVELOPE, 0, deep)]))) == 3
