"""Both ways through the decoder, both encodings, and what encode refuses."""

import json
import time
from collections.abc import Callable
from typing import Any, NoReturn

import msgpack
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.signalhub.documents import ABSENT, document, frame
from protocols.signalhub.samples import SAMPLES
from protocols.signalhub.strategies import MESSAGES
from support.wild import wilder
from wireloom.protocols.signalhub import codec
from wireloom.protocols.signalhub.codec import decode, decode_msgpack, encode, encode_msgpack
from wireloom.protocols.signalhub.constants import MAX_MESSAGE_SIZE
from wireloom.protocols.signalhub.envelope import Inner
from wireloom.protocols.signalhub.messages import Application, Send
from wireloom.protocols.signalhub.packed import Unpacker
from wireloom.wire.errors import MalformedError, TooLargeError, UnknownTypeError, WireError
from wireloom.wire.fields import MAX_NESTING
from wireloom.wire.message import Unknown


def carrying(payload: Any) -> Send:
    """A send with a free value."""
    sample = SAMPLES["hub:send"]
    assert isinstance(sample, Send)
    inner = Inner(type="task:assign", payload=payload)
    return msgspec.structs.replace(
        sample, payload=msgspec.structs.replace(sample.payload, message=inner)
    )


def of_size(size: int) -> bytes:
    """A heartbeat of `size` bytes."""
    raw = frame("hub:heartbeat", metadata={"x": ""})
    return frame("hub:heartbeat", metadata={"x": "y" * (size - len(raw))})


def nested(levels: int, opened: str, closed: str) -> bytes:
    """A send whose brackets stand in each other `levels` deep."""
    outer = 3  # the message, its payload, the message in it
    value = opened * (levels - outer) + "1" + closed * (levels - outer)
    return frame("hub:send", payload__message__payload="HERE").replace(b'"HERE"', value.encode())


# JSON


@pytest.mark.parametrize("name", SAMPLES)
def test_compact_and_spaced_json_give_the_same_message(name: str) -> None:
    spaced = json.dumps(document(name), indent=2).encode()
    assert decode(spaced) == decode(frame(name)) == SAMPLES[name]
    assert decode(b" \r\n\t" + frame(name) + b"\n") == SAMPLES[name]


@pytest.mark.parametrize("name", SAMPLES)
def test_keys_may_stand_in_any_order(name: str) -> None:
    turned = dict(reversed(document(name).items()))
    assert decode(json.dumps(turned, separators=(",", ":")).encode()) == SAMPLES[name]


def test_encoded_json_is_compact_with_the_type_in_front() -> None:
    assert encode(SAMPLES["send_bare"]) == (
        b'{"type":"hub:send","id":"7c9e6679-7425-40de-944b-e07fc1f90ae7",'
        b'"from":"@(browser/client-ui)","to":"@(cloudflare/signal-hub)","pattern":"tell",'
        b'"timestamp":1739731000000,"payload":{"targetAddress":"@(browser/widget-123)",'
        b'"message":{"type":"ping","payload":null}}}'
    )


def test_escapes_in_text_and_keys_are_undone() -> None:
    raw = (
        frame("hub:send")
        .replace(b'"ttl"', b'"\\u0074tl"')
        .replace(b"trace-xyz", b"trace\\/\\u00e9")
    )
    message = decode(raw)
    assert isinstance(message, Send)
    assert isinstance(message.metadata, msgspec.Struct)
    assert message.metadata.trace_id == "trace/é"
    assert message.ttl == 5000


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"ttl":5000', b'"ttl":5000,"ttl":5000'),
        (b'"ttl":5000', b'"ttl":1,"\\u0074tl":5000'),
        (b'"type":"hub:send"', b'"type":"hub:send","type":"hub:send"'),
        (b'"priority":1', b'"priority":1,"priority":1'),
        (b'"taskId":', b'"taskId":"x","taskId":'),
        (b'"traceId":', b'"traceId":"x","traceId":'),
    ],
)
def test_a_key_that_stands_twice_is_refused(old: bytes, new: bytes) -> None:
    raw = frame("hub:send")
    assert old in raw
    with pytest.raises(MalformedError, match="stands twice"):
        decode(raw.replace(old, new))


def test_a_second_key_is_found_whatever_else_makes_up_for_its_length() -> None:
    """Absent fields, escapes and numbers must not hide what a lost key takes away."""
    for absent in ("correlationId", "metadata", "signature"):
        raw = frame("hub:send", **{absent: ABSENT})
        for size in range(1, 60):
            twice = raw.replace(b'"taskId":', b'"taskId":"' + b"x" * size + b'","taskId":')
            with pytest.raises(MalformedError, match="stands twice"):
                decode(twice)


def test_a_rate_that_is_written_longer_than_it_was_read_hides_no_second_key() -> None:
    raw = frame("hub:queue_stats_response", payload__processingRate=1, metadata={"": 1})
    raw = raw.replace(b'"processingRate":1', b'"processingRate":1e5')
    assert decode(raw)
    with pytest.raises(MalformedError, match="stands twice"):
        decode(raw.replace(b'{"":1}', b'{"":1,"":1}'))


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        ("1.50", 1.5),
        ("1e3", 1000.0),
        ("-0.0", -0.0),
        ("-0", 0),
        ("1.0", 1.0),
        ("1e-400", 0.0),
        (str(2**64), 2**64),
        (str(-(2**63) - 1), -(2**63) - 1),
        ("9" * 4300, 10**4300 - 1),
    ],
)
def test_numbers_in_free_values_come_back(literal: str, value: float) -> None:
    message = decode(
        frame("hub:send", payload__message__payload="HERE").replace(b'"HERE"', literal.encode())
    )
    assert isinstance(message, Send)
    found = message.payload.message.payload
    assert found == value
    assert type(found) is type(value)
    assert decode(encode(message)) == message


@pytest.mark.parametrize(
    "literal", ["NaN", "Infinity", "-Infinity", "1e400", "9" * 4301, "01", "+1", "0x1", ".5", "1."]
)
def test_what_is_no_number_is_refused(literal: str) -> None:
    raw = frame("hub:send", payload__message__payload="HERE")
    with pytest.raises(MalformedError):
        decode(raw.replace(b'"HERE"', literal.encode()))


@pytest.mark.parametrize(
    "text",
    [
        b'"\\ud800"',
        b'"\\udc00"',
        b'"\\ud800x"',
        b'"\xff"',
        b'"\xed\xa0\x80"',
        b'"\n"',
        b'"\\x"',
        b'{"\\ud800":1}',
        b'[1.5,"\\ud800"]',
    ],
)
def test_text_that_is_no_unicode_is_refused(text: bytes) -> None:
    raw = frame("hub:send", payload__message__payload="HERE").replace(b'"HERE"', text)
    with pytest.raises(MalformedError):
        decode(raw)


@pytest.mark.parametrize(
    ("raw", "offset"),
    [
        (b"", 0),
        (b" ", 0),
        (b"[]", 0),
        (b'"hub:send"', 0),
        (b"\xef\xbb\xbf{}", 0),
        (b"\x90", 0),
        (b"\xc0", 0),
        (b"{}", None),
        (b'{"type":5}', 8),
        (b'{"type":null}', 8),
        (b'{"type":"hub:send"}', 0),
        (b"{} {}", 3),
        (b"\x80", None),
        (b"\x81\xa4type\x05", 6),
    ],
)
def test_what_is_no_message_is_refused_with_its_place(raw: bytes, offset: int | None) -> None:
    with pytest.raises(MalformedError) as caught:
        decode(raw)
    assert caught.value.offset == offset


def test_a_refusal_names_the_field_and_its_place() -> None:
    raw = frame("hub:register", payload__ttlSeconds=59)
    with pytest.raises(MalformedError, match=r"payload\.ttlSeconds: .*60") as caught:
        decode(raw)
    assert caught.value.offset == raw.index(b'"ttlSeconds":59') + len(b'"ttlSeconds":')


def test_a_refusal_does_not_repeat_a_long_name() -> None:
    with pytest.raises(MalformedError) as caught:
        decode(frame("hub:heartbeat", **{"x" * 100_000: 1}))
    assert len(caught.value.detail) <= 300


# Limits


@pytest.mark.parametrize("size", [1000, MAX_MESSAGE_SIZE])
def test_a_frame_of_the_largest_size_is_taken(size: int) -> None:
    raw = of_size(size)
    assert len(raw) == size
    assert encode(decode(raw)) == raw


@pytest.mark.parametrize("first", [b"{", b" ", b"\x80", b"\xff"])
def test_a_larger_frame_is_refused_whatever_it_holds(first: bytes) -> None:
    with pytest.raises(TooLargeError, match="1048577 bytes"):
        decode(first + b"x" * MAX_MESSAGE_SIZE)
    with pytest.raises(TooLargeError):
        decode_msgpack(first + b"x" * MAX_MESSAGE_SIZE)


def test_encode_refuses_a_larger_frame() -> None:
    with pytest.raises(TooLargeError):
        encode(carrying("x" * MAX_MESSAGE_SIZE))
    with pytest.raises(TooLargeError):
        encode_msgpack(carrying("x" * MAX_MESSAGE_SIZE))


@pytest.mark.parametrize(("opened", "closed"), [("[", "]"), ('{"":', "}"), ('[{"a":', "}]")])
def test_nesting_ends_at_the_limit(opened: str, closed: str) -> None:
    steps = opened.count("[") + opened.count("{")
    outer = 3
    fits = (MAX_NESTING - outer) // steps
    decode(nested(fits + outer, opened, closed))
    with pytest.raises(MalformedError, match="nested deeper than 64"):
        decode(nested(fits + outer + 1, opened, closed))


def test_the_smallest_frame_that_is_too_deep_is_refused() -> None:
    """Small frames without lists are not counted: this one is as small as they come."""
    raw = (
        b'{"type":"hub:resume","id":"7c9e6679-7425-40de-944b-e07fc1f90ae7","from":"@(a)",'
        b'"to":"@(a)","pattern":"tell","timestamp":0,"payload":{},"metadata":'
        + b'{"":' * (MAX_NESTING - 1)
        + b"{}"
        + b"}" * (MAX_NESTING - 1)
        + b"}"
    )
    with pytest.raises(MalformedError, match="nested deeper than 64"):
        decode(raw)
    assert decode(raw.replace(b'{"":{}}', b'{"":1}'))


def test_brackets_in_text_do_not_count() -> None:
    message = carrying("[{" * 500)
    assert decode(encode(message)) == message


def test_many_brackets_side_by_side_are_no_depth() -> None:
    message = carrying([[]] * 500)
    assert decode(encode(message)) == message


@pytest.mark.parametrize(
    "raw",
    [
        b'{"a":' + b"[]," * 100 + b'"' + b'\\"' * 500_000,
        b'{"a":' * 60 + b'"' + b"x" * 1_000_000,
        b'{"' + b"k" * 500_000 + b'":{' + b'"a":1,' * 70_000,
        b"\x81\xdb\x00\x07\xa1\x20" + b"k" * 500_000 + b"\xde\xff\xff" + b"\xa1a\x01" * 60_000,
        b"\xdf\x00\x0f\xff\xff" * 200_000,
        b"\x81\xa1a" + b"\xdd\x00\x0f\xff\xff" * 200_000,
    ],
    ids=lambda raw: raw[:12].hex(),
)
def test_a_hostile_frame_is_refused_soon(raw: bytes) -> None:
    began = time.perf_counter()
    with pytest.raises(MalformedError):
        decode(raw)
    assert time.perf_counter() - began < 2


# Types


def test_an_unlisted_hub_type_is_unknown() -> None:
    raw = frame("hub:send", type="hub:teleport")
    with pytest.raises(UnknownTypeError, match="'hub:teleport' is not listed") as caught:
        decode(raw)
    assert caught.value.offset == raw.index(b'"hub:teleport"')
    assert decode(raw, lenient=True) == Unknown(type="hub:teleport", raw=raw)


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize(
    "changes", [{"id": "1"}, {"pattern": "shout"}, {"extra": 1}, {"metadata": 5}, {"to": ABSENT}]
)
def test_an_unknown_type_in_a_bad_envelope_is_malformed(
    changes: dict[str, Any], lenient: bool
) -> None:
    with pytest.raises(MalformedError):
        decode(frame("hub:send", type="hub:teleport", **changes), lenient=lenient)


def test_lenient_decoding_is_as_strict_with_known_types() -> None:
    assert decode(frame("hub:send"), lenient=True) == SAMPLES["hub:send"]
    with pytest.raises(MalformedError):
        decode(frame("hub:send", pattern="shout"), lenient=True)


def test_an_unknown_message_is_not_encoded() -> None:
    for write in (encode, encode_msgpack):
        with pytest.raises(UnknownTypeError, match="Unknown is not"):
            write(Unknown(type="hub:teleport", raw=b"{}"))


@pytest.mark.parametrize("spaces", [b"", b" "])
@pytest.mark.parametrize("required", [True, False, ABSENT])
def test_a_send_asks_by_its_pattern_or_by_requiring_an_acknowledgement(
    spaces: bytes, required: object
) -> None:
    asked = decode(spaces + frame("hub:send", pattern="ask", metadata__requireAck=required))
    told = decode(spaces + frame("hub:send", pattern="tell", metadata__requireAck=required))
    assert isinstance(asked, Send)
    assert isinstance(told, Send)
    assert (asked.is_ask, told.is_ask) == (True, required is True)
    assert decode(encode_msgpack(told)) == told
    assert told.pattern == "tell"


# What encode refuses


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        [float("inf")],
        b"bytes",
        {"a": b"bytes"},
        {1: 2},
        (1, 2),
        {1, 2},
        object(),
        "\ud800",
        {"\ud800": 1},
        SAMPLES["hub:send"],
        10**5000,
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("write", [encode, encode_msgpack])
def test_encode_refuses_what_is_no_json_value(write: Any, value: Any) -> None:
    with pytest.raises(MalformedError):
        write(carrying(value))


def test_encode_refuses_a_value_that_holds_itself() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(MalformedError, match="cannot be encoded"):
        encode(carrying(endless))


def test_messagepack_has_no_integers_beyond_64_bits() -> None:
    message = carrying(2**64)
    assert decode(encode(message)) == message
    with pytest.raises(MalformedError, match="cannot be encoded"):
        encode_msgpack(message)


@given(data=st.data())
def test_an_application_comes_back(data: st.DataObject) -> None:
    message = data.draw(MESSAGES["application"])
    assert isinstance(message, Application)
    assert decode(encode(message)) == message
    wild = wilder(data, message)
    try:
        raw = encode(wild)
    except WireError:
        return
    assert decode(raw) == wild


# MessagePack


@pytest.mark.parametrize("name", SAMPLES)
def test_messagepack_is_the_same_map(name: str) -> None:
    raw = encode_msgpack(SAMPLES[name])
    assert msgpack.unpackb(raw) == document(name)
    assert decode(raw) == decode_msgpack(raw) == SAMPLES[name]


@given(data=st.data(), name=st.sampled_from(sorted(MESSAGES)))
def test_any_message_comes_back_from_messagepack(data: st.DataObject, name: str) -> None:
    message = data.draw(MESSAGES[name])
    assert decode(encode_msgpack(message)) == message


@pytest.mark.parametrize("name", SAMPLES)
def test_messagepack_survives_damage(name: str) -> None:
    raw = encode_msgpack(SAMPLES[name])
    for at in range(len(raw)):
        for spoilt in (raw[:at], raw[:at] + bytes([raw[at] ^ 0x55]) + raw[at + 1 :]):
            codec.spans(spoilt)
            try:
                message = decode(spoilt)
            except WireError as error:
                assert error.offset is None or 0 <= error.offset <= len(spoilt)
            else:
                assert decode(encode(message)) == message


def test_decode_msgpack_takes_no_json() -> None:
    with pytest.raises(MalformedError, match="not a MessagePack map"):
        decode_msgpack(frame("hub:send"))


def test_messagepack_of_an_unlisted_type_is_unknown() -> None:
    raw = msgpack.packb(document("hub:send", type="hub:teleport"))
    with pytest.raises(UnknownTypeError) as caught:
        decode(raw)
    assert caught.value.offset == raw.index(b"\xachub:teleport")
    assert decode_msgpack(raw, lenient=True) == Unknown(type="hub:teleport", raw=raw)


def test_a_refusal_of_messagepack_names_the_field_and_its_place() -> None:
    raw = msgpack.packb(document("hub:register", payload__ttlSeconds=59))
    with pytest.raises(MalformedError, match=r"payload\.ttlSeconds") as caught:
        decode(raw)
    assert caught.value.offset == raw.index(b"ttlSeconds") + len(b"ttlSeconds")


# MessagePack: the quick way and the exact one


def exactly(raw: bytes) -> object:
    """What the exact way says of a frame: a message or the reason of its refusal."""
    try:
        return codec._message(raw, Unpacker(raw).document(), lenient=False)
    except WireError as error:
        return error.reason


def told(raw: bytes) -> object:
    try:
        return decode_msgpack(raw)
    except WireError as error:
        return error.reason


PACKABLE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(width=32)
    | st.text(max_size=40)
    | st.binary(max_size=3)
    | st.builds(msgpack.ExtType, st.integers(0, 127), st.binary(max_size=5))
    | st.builds(msgpack.Timestamp, st.integers(0, 2**34 - 1)),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=3) | st.integers(-9, 9), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(value=PACKABLE, single=st.booleans(), where=st.sampled_from(["payload", "metadata"]))
def test_the_quick_way_says_what_the_exact_one_says(value: Any, single: bool, where: str) -> None:
    changes: dict[str, Any] = {"metadata": {"free": value}}
    if where == "payload":
        changes = {"payload__message__payload": value}
    raw = msgpack.packb(document("hub:publish", **changes), use_single_float=single)
    assert repr(told(raw)) == repr(exactly(raw))


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_plain_frames_go_the_quick_way_if_their_type_is_frequent(name: str) -> None:
    raw = encode_msgpack(SAMPLES[name])
    quick = codec._unpacked_quickly(raw)
    assert quick in (None, SAMPLES[name])
    if name in {"hub:send", "hub:publish", "hub:heartbeat", "hub:delivery_ack"}:
        assert quick == SAMPLES[name]


def test_a_key_that_stands_twice_does_not_pass_the_quick_way() -> None:
    raw = encode_msgpack(SAMPLES["hub:heartbeat"])
    twice = bytes([raw[0] + 1]) + raw[1:] + msgpack.packb("ttl") + msgpack.packb(5)
    assert codec._unpacked_quickly(twice) is None
    with pytest.raises(MalformedError, match="stands twice"):
        decode_msgpack(twice)


def test_values_that_are_too_deep_go_the_exact_way() -> None:
    deep: Any = 1
    for _ in range(62):
        deep = [deep]
    raw = msgpack.packb(document("hub:publish", payload__message__payload=deep))
    assert codec._unpacked_quickly(raw) is None
    raw = msgpack.packb(document("hub:publish", payload__message__payload=deep[0]))
    assert codec._unpacked_quickly(raw) == exactly(raw)


def carried(value: Any, **more: Any) -> dict[str, Any]:
    """A send that carries a value, as a plain object."""
    fields: dict[str, Any] = msgspec.to_builtins(SAMPLES["hub:send"])
    fields["payload"]["message"]["payload"] = value
    return {**fields, **more}


def levels_of(depth: int, *, by: str = "[") -> Any:
    value: Any = 1
    for level in range(depth):
        value = [value] if by == "[" or (by == "both" and level % 2) else {"k": value}
    return value


def no_exact_way(*_: object, **__: object) -> NoReturn:
    raise AssertionError("it went the exact way")


WIDE: dict[str, Any] = {
    "lists": [[[]]] * 500,
    "objects": [{"name": "x[", "values": [1, {}]}] * 500,
    "levels": [levels_of(50, by="both")] * 20,
}


@pytest.mark.parametrize("name", WIDE)
@pytest.mark.parametrize("write", [msgspec.json.encode, msgspec.msgpack.encode])
def test_many_lists_and_objects_are_read_at_once(
    name: str, write: Callable[[Any], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = write(carried(WIDE[name]))
    monkeypatch.setattr("wireloom.wire.jsontext.load", no_exact_way)
    monkeypatch.setattr("wireloom.protocols.signalhub.packed.Unpacker.document", no_exact_way)
    message = codec.decode(raw)
    assert isinstance(message, Send)
    assert message.payload.message.payload == WIDE[name]


@pytest.mark.parametrize("by", ["[", "{", "both"])
@pytest.mark.parametrize("depth", [7, 8, 9, 60, 61, 62, 63, 64, 65, 500, 5_000])
@pytest.mark.parametrize("padding", [0, 100])
def test_nesting_ends_at_the_same_level_on_every_way(by: str, depth: int, padding: int) -> None:
    inner = b"1"
    packed = b"\x01"
    for level in range(depth):
        is_list = by == "[" or (by == "both" and level % 2)
        inner = b"[%b]" % inner if is_list else b'{"k":%b}' % inner
        packed = b"\x91" + packed if is_list else b"\x81\xa1k" + packed
    text = msgspec.json.encode(carried([msgspec.Raw(inner), *[[]] * padding]))
    binary = msgspec.msgpack.encode(carried([msgspec.Raw(packed), *[[]] * padding]))
    for raw in (text, binary):
        if depth + 1 <= 61:
            assert isinstance(codec.decode(raw), Send)
        else:
            with pytest.raises(MalformedError, match="nested deeper than 64"):
                codec.decode(raw)


@pytest.mark.parametrize("where", ["metadata", "register"])
def test_free_values_are_looked_at_wherever_they_stand(where: str) -> None:
    fields: dict[str, Any] = msgspec.to_builtins(
        SAMPLES["hub:register" if where == "register" else "hub:heartbeat"]
    )
    place = fields["payload"] if where == "register" else fields
    allowed = 62 if where == "register" else 63
    for depth, is_taken in ((allowed - 1, True), (allowed, False)):
        place["metadata"] = {"k": levels_of(depth), "wide": [[]] * 100}
        for raw in (msgspec.json.encode(fields), msgspec.msgpack.encode(fields)):
            if is_taken:
                codec.decode(raw)
            else:
                with pytest.raises(MalformedError, match="nested deeper"):
                    codec.decode(raw)


FREE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.text(max_size=5)
    | st.floats(),
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=150,
)


@given(value=FREE, cut=st.integers(0, 3))
def test_packed_frames_are_read_alike_on_both_ways(value: Any, cut: int) -> None:
    raw = msgspec.msgpack.encode(carried([value, *[[]] * 70]))
    raw = raw[: len(raw) - cut]
    try:
        exact: Any = Unpacker(raw).document()["payload"]["message"]["payload"]
    except WireError as error:
        with pytest.raises(type(error)):
            codec.decode(raw)
        return
    message = codec.decode(raw)
    assert isinstance(message, Send)
    assert repr(message.payload.message.payload) == repr(exact)


def test_a_key_that_stands_twice_beside_a_short_float_is_seen() -> None:
    """A float of four bytes would be written four bytes longer, as long as the key that is lost."""
    packed = b"\x83\xa1a\x01\xa1a\x02\xa1b\xca\x3f\x80\x00\x00"
    value = msgspec.Raw(packed + b"")
    with pytest.raises(MalformedError, match="stands twice"):
        codec.decode(msgspec.msgpack.encode(carried([value])))
    twice = msgspec.Raw(b"\x83\xa2aa\x01\xa2aa\x02\xa1b\xca\x3f\x80\x00\x00")
    with pytest.raises(MalformedError, match="stands twice"):
        codec.decode(msgspec.msgpack.encode(carried([twice])))
