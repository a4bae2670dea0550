"""The fast way of reading agrees with the codec on every input."""

import json
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import to_builtins
from msgspec.structs import replace

from protocols.cthun.samples import AGENT, CONTROLLER, GREETING, HOP, ID, SAMPLES, to_broker
from protocols.cthun.strategies import MESSAGES
from support.cases import vectors
from support.damage import flips
from wireloom.protocols.cthun.broker import intake as module
from wireloom.protocols.cthun.broker.intake import BoundError, Intake
from wireloom.protocols.cthun.broker.settings import BrokerSettings
from wireloom.protocols.cthun.chunks import Chunk, join
from wireloom.protocols.cthun.codec import decode, encode
from wireloom.protocols.cthun.constants import MAX_NOTE_COUNT, ChunkType, MessageType
from wireloom.protocols.cthun.documents import ENVELOPE
from wireloom.protocols.cthun.messages import DebugChunk, InventoryRequest, Packet
from wireloom.protocols.cthun.times import millis
from wireloom.wire.errors import MalformedError, WireError

PLAIN = Packet(envelope=GREETING, data=b"data")
LONG = replace(PLAIN, envelope=replace(GREETING, message_type="t" * 200))


def intake(**limits: int) -> Intake:
    return Intake({AGENT}, replace(BrokerSettings(), **limits))


def agrees(raw: bytes, sender: str | None = CONTROLLER) -> None:
    """Twice, since the second time much is known."""
    reading = intake()
    for _ in range(2):
        try:
            expected = decode(raw)
        except WireError as error:
            with pytest.raises(type(error)):
                reading.take(raw, sender)
            return
        envelope, expires_ms, packet = reading.take(raw, sender)
        assert envelope == expected.envelope
        assert expires_ms == millis(expected.envelope.expires)
        assert packet in (None, expected)
        if packet is None:
            assert expected.data is None or isinstance(expected.data, bytes)
            assert not expected.debug_chunks


@given(st.one_of(list(MESSAGES.values())), st.data())
def test_it_agrees_with_the_codec_on_good_and_on_damaged_bytes(
    message: Packet, data: st.DataObject
) -> None:
    raw = bytearray(encode(message))
    agrees(bytes(raw), message.envelope.sender)
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(raw) - 1))
        raw[place : place + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=2))
    agrees(bytes(raw), message.envelope.sender)


@pytest.mark.parametrize("name", SAMPLES)
def test_it_agrees_with_the_codec_on_every_cut_and_flip_of_a_sample(name: str) -> None:
    raw = encode(SAMPLES[name])
    for end in range(len(raw) + 1):
        agrees(raw[:end])
    agrees(raw + b"\0")
    for spoilt in flips(raw):
        agrees(spoilt)


@pytest.mark.parametrize("vector", vectors("cthun"), ids=lambda vector: vector["name"])
def test_it_agrees_with_the_codec_on_every_vector(vector: dict[str, Any]) -> None:
    agrees(bytes.fromhex(vector["hex"]))


def enveloped(content: str) -> bytes:
    return b"\1\1" + len(content).to_bytes(4, "big") + content.encode()


def spelled(old: str, new: str) -> bytes:
    content = encode(Packet(envelope=GREETING)).partition(b"{")[2].decode()
    return enveloped("{" + content.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"targets"', '"sender":"cth://a/b","targets"'),
        ('"id":', '"id" : '),
        ("greeting", "gr\\u0065eting"),
        ("greeting", "gr\\ud800eting"),
        ("greeting", "gr eting"),
        (ID, ID[:-1]),
        (ID, ID[:-1] + "g"),
        ("2015-04-27", "2015-02-30"),
        ("2015-04-27", "2015-4-27"),
        (AGENT, "cth://a*/agent"),
        (AGENT, "cth:///agent"),
        ("true", "null"),
        ("true", '"true"'),
        ("true", f'true,"in-reply-to":"{ID}"'),
        ("true", 'true,"in-reply-to":"x"'),
        ("true", 'true,"in_reply_to":"x"'),
        ("}", "} "),
        ("}", ""),
    ],
)
def test_it_agrees_with_the_codec_on_odd_envelopes(old: str, new: str) -> None:
    assert spelled(old, new) != spelled("", "")
    agrees(spelled(old, new))


def test_an_ordinary_message_is_not_read_further_than_its_envelope() -> None:
    for message in (PLAIN, replace(PLAIN, data=None), replace(PLAIN, data=b"")):
        assert intake().take(encode(message), CONTROLLER)[2] is None


def with_id(raw: bytes, id_: str) -> bytes:
    assert raw.count(ID.encode()) == 1
    return raw.replace(ID.encode(), id_.encode())


def test_an_envelope_that_is_known_but_for_its_id_is_read_as_the_codec_reads_it() -> None:
    reading, raw = intake(), encode(PLAIN)
    reading.take(raw, CONTROLLER)
    assert len(reading._envelopes) == 1
    for id_ in (ID.upper(), ID[:-1] + "0", str(uuid4())):
        envelope, expires_ms, packet = reading.take(with_id(raw, id_), CONTROLLER)
        assert envelope == replace(GREETING, id=id_)
        assert (expires_ms, packet) == (millis(GREETING.expires), None)
    assert len(reading._envelopes) == 1
    assert reading.take(raw, CONTROLLER)[0] == GREETING
    assert reading.take(raw, AGENT)[2] == PLAIN
    for id_ in (ID[:-1] + "g", "\\u0030" * 6, ID[:-1] + '"', " " * 36, "\xff" * 18):
        spoilt = with_id(raw, id_)
        assert len(spoilt) == len(raw)
        with pytest.raises(MalformedError):
            decode(spoilt)
        with pytest.raises(MalformedError):
            reading.take(spoilt, CONTROLLER)


def test_what_follows_something_else_than_an_id_is_not_taken_for_what_follows_one() -> None:
    reading = intake()
    greeting = to_builtins(replace(GREETING, message_type="x" * 26))
    del greeting["destination_report"]
    first = {"message_type": greeting.pop("message_type"), **greeting}
    content = json.dumps(first, separators=(",", ":"))
    other = '{"id":"' + ID + content[43:]
    assert content[:44] == '{"message_type":"' + "x" * 26 + '"'
    assert reading.take(enveloped(content), CONTROLLER)[2] is None
    with pytest.raises(MalformedError):
        reading.take(enveloped(other), CONTROLLER)


@pytest.mark.parametrize("sender", [None, AGENT])
def test_anothers_message_is_read_as_a_whole(sender: str | None) -> None:
    assert intake().take(encode(PLAIN), sender)[2] == PLAIN


def test_the_brokers_types_are_read_as_a_whole() -> None:
    for type_ in MessageType:
        message = SAMPLES[type_.value]
        assert isinstance(message, Packet)
        assert intake().take(encode(message), message.envelope.sender)[2] == message


def test_notes_are_read_too() -> None:
    message = replace(PLAIN, debug_chunks=(DebugChunk(),))
    assert intake().take(encode(message), CONTROLLER)[2] == message


def test_a_message_has_a_greatest_size() -> None:
    raw = encode(LONG)
    intake(max_message_size=len(raw)).take(raw, CONTROLLER)
    words = f"Message has {len(raw)} bytes, at most {len(raw) - 1} are taken"
    with pytest.raises(BoundError, match=words):
        intake(max_message_size=len(raw) - 1).take(raw, CONTROLLER)


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_CACHED", 30)
    reading = intake(max_type_size=30)
    for number in range(100):
        envelope = replace(
            GREETING, message_type=f"t{number}", expires=f"2015-04-27T12:00:00.{number}Z"
        )
        assert reading.take(encode(Packet(envelope=envelope)), CONTROLLER)[2] is None
        assert len(reading._types) <= 30
        assert len(reading._times) <= 30
        assert len(reading._envelopes) <= 30
    reading._envelopes.clear()
    many = replace(GREETING, targets=(AGENT,) * 40)
    assert reading.take(encode(Packet(envelope=many)), CONTROLLER)[2] is None
    answer = replace(GREETING, in_reply_to=ID)
    assert reading.take(encode(Packet(envelope=answer)), CONTROLLER)[2] is None
    assert not reading._envelopes
    long = replace(GREETING, message_type="t" * 31)
    assert reading.take(encode(Packet(envelope=long)), CONTROLLER)[2] is not None


def test_an_envelope_is_read_only_up_to_its_bound() -> None:
    raw = encode(LONG)
    size = int.from_bytes(raw[2:6], "big")
    reading = intake(max_envelope_size=size)
    assert reading.take(raw, CONTROLLER)[2] is None
    small = intake(max_envelope_size=size - 1)
    for sender in (CONTROLLER, AGENT, None):
        with pytest.raises(BoundError, match="Envelope has") as caught:
            small.take(raw, sender)
        assert caught.value.envelope is None
    flagged = encode(replace(LONG, envelope_flags=1))
    with pytest.raises(BoundError, match="Envelope has"):
        small.take(flagged, CONTROLLER)


def test_what_is_not_within_the_message_is_the_codecs_to_refuse() -> None:
    raw = encode(LONG)
    for spoilt in (
        b"\1\1\xff\xff\xff\xff",
        raw[:2] + b"\x7f\xff\xff\xff" + raw[6:],
        b"\1\2\0\0\0\0",
    ):
        with pytest.raises(MalformedError):
            intake(max_envelope_size=256, max_request_size=1).take(spoilt, CONTROLLER)


def test_notes_are_read_only_up_to_their_bounds() -> None:
    full = replace(PLAIN, debug_chunks=(DebugChunk(),) * MAX_NOTE_COUNT)
    assert intake().take(encode(full), CONTROLLER)[2] == full
    more = replace(PLAIN, debug_chunks=(DebugChunk(),) * (MAX_NOTE_COUNT + 1))
    with pytest.raises(BoundError, match="more than 1024 debug chunks"):
        intake().take(encode(more), CONTROLLER)
    size = int.from_bytes(encode(LONG)[2:6], "big")
    long = replace(LONG, debug_chunks=(DebugChunk(hops=(replace(HOP, stage="x" * size),)),))
    assert intake().take(encode(long), CONTROLLER)[2] == long
    with pytest.raises(BoundError, match=f"Debug chunks have more than {size} bytes"):
        intake(max_envelope_size=size).take(encode(long), CONTROLLER)


def test_data_for_the_broker_has_a_bound_and_that_of_applications_has_none() -> None:
    request = SAMPLES[MessageType.INVENTORY_REQUEST.value]
    raw = encode(request)
    reading = intake(max_request_size=3)
    with pytest.raises(BoundError, match="bytes, at most 3 are taken") as caught:
        reading.take(raw, CONTROLLER)
    assert isinstance(request, Packet)
    assert caught.value.envelope == request.envelope
    large = replace(PLAIN, data=bytes(10_000_000))
    assert reading.take(encode(large), CONTROLLER)[2] is None
    noted = replace(large, debug_chunks=(DebugChunk(),))
    assert reading.take(encode(noted), CONTROLLER)[2] == noted


@pytest.mark.parametrize("pattern", ["cth://a/b", "cth://agent-1.example.com/*"])
@pytest.mark.parametrize("space", ["", " "])
def test_patterns_are_counted_before_they_are_read(pattern: str, space: str) -> None:
    request = to_broker(MessageType.INVENTORY_REQUEST.value)
    for count in (1, 49, 50, 51, 500):
        query = f",{space}".join([f'"{pattern}"'] * count)
        data = f'{{"query":{space}[{query}]}}'.encode()
        raw = join(
            [Chunk(ChunkType.ENVELOPE, 0, ENVELOPE.put(request)), Chunk(ChunkType.DATA, 0, data)]
        )
        reading = intake(max_query_count=50)
        if count <= 50:
            packet = reading.take(raw, CONTROLLER)[2]
            assert packet is not None
            assert packet.data == InventoryRequest(query=(pattern,) * count)
        else:
            with pytest.raises(BoundError, match="too many patterns") as caught:
                reading.take(raw, CONTROLLER)
            assert caught.value.envelope == request
