"""Frames: how they are read, what is refused and where, batches, compression, leniency."""

from hashlib import sha256
from typing import Any

import pytest
import zstandard
from msgspec.structs import replace

from protocols.myriadmesh.samples import DATA, HEARTBEAT, KEY, LONG, SAMPLES, frame
from support.cases import vectors
from wireloom.protocols.myriadmesh.codec import decode, encode, spans
from wireloom.protocols.myriadmesh.compression import deflate
from wireloom.protocols.myriadmesh.constants import (
    BROADCAST_ID,
    MAX_DECOMPRESSED_SIZE,
    RESERVED_ID,
    AckType,
    Command,
    ContentType,
    Flags,
    MessageType,
)
from wireloom.protocols.myriadmesh.integrity import sign
from wireloom.protocols.myriadmesh.messages import (
    Ack,
    Control,
    Data,
    DataBatch,
    Frame,
    Payload,
    Sealed,
)
from wireloom.protocols.myriadmesh.sealing import compress
from wireloom.wire.cursor import Span
from wireloom.wire.errors import (
    MalformedError,
    TooLargeError,
    TrailingBytesError,
    TruncatedError,
    TtlExceededError,
    UnknownTypeError,
    WireError,
)
from wireloom.wire.message import Unknown

ACK = Ack(original_message_id=b"\x07" * 16, ack_type=AckType.STORED)
SIGNED = encode(SAMPLES["DATA"])
PLAIN = encode(frame(DATA))
DIGESTS = [v for v in vectors("myriadmesh") if v.get("check") == "sha256"]


def patched(raw: bytes, at: int, new: bytes) -> bytes:
    """`raw` with other bytes at one place."""
    return raw[:at] + new + raw[at + len(new) :]


def with_payload(type_: MessageType, body: bytes, *, flags: int = 0) -> bytes:
    """An unsigned frame with any bytes as payload."""
    head = patched(PLAIN[:99], 5, bytes([flags, type_]))
    return patched(head, 9, len(body).to_bytes(2, "big")) + body


def batch_of(*raws: bytes) -> bytes:
    """A batch with any bytes as frames."""
    items = b"".join(len(raw).to_bytes(2, "big") + raw for raw in raws)
    return with_payload(MessageType.DATA_BATCH, len(raws).to_bytes(2, "big") + items)


def refused(raw: bytes, error: type[WireError], *, lenient: bool = False) -> WireError:
    """The refusal of `raw`, which must be an `error`."""
    with pytest.raises(WireError) as caught:
        decode(raw, lenient=lenient)
    assert type(caught.value) is error
    return caught.value


@pytest.mark.parametrize("vector", DIGESTS, ids=lambda vector: vector["name"])
def test_digest_vector_holds(vector: dict[str, Any]) -> None:
    raw = encode(decode(bytes.fromhex(vector["hex"])))
    assert len(raw) == vector["expect"]["size"]
    assert sha256(raw).hexdigest() == vector["expect"]["sha256"]


def test_an_unsigned_frame_is_64_bytes_shorter() -> None:
    assert len(SIGNED) - len(PLAIN) == 64


def test_a_payload_may_be_as_long_as_the_frame_allows() -> None:
    longest = Data(content_type=ContentType.RAW, data=bytes(65_535 - 100))
    raw = encode(frame(longest))
    assert len(raw) == 65_535
    assert decode(raw) == frame(longest)
    with pytest.raises(TooLargeError):
        encode(sign(frame(longest), KEY))
    refused(raw + b"\0", TooLargeError)


def test_a_signed_payload_has_at_most_65372_bytes() -> None:
    longest = frame(Data(content_type=ContentType.RAW, data=bytes(65_372 - 1)))
    assert len(encode(sign(longest, KEY))) == 65_535


@pytest.mark.parametrize("size", [0, 1, 98])
def test_less_than_a_header_is_refused(size: int) -> None:
    refused(PLAIN[:size], TruncatedError)


def test_a_frame_without_its_whole_signature_is_refused() -> None:
    assert refused(SIGNED[:-1], TruncatedError).offset == len(SIGNED) - 1


def test_a_byte_after_the_frame_is_refused() -> None:
    assert refused(SIGNED + b"\0", TrailingBytesError).offset == len(SIGNED)


@pytest.mark.parametrize("code", [0x00, 0x10, 0xFF])
def test_a_reserved_type_is_unknown(code: int) -> None:
    raw = patched(SIGNED, 6, bytes([code]))
    assert refused(raw, UnknownTypeError).offset == 6
    assert decode(raw, lenient=True) == Unknown(type=f"0x{code:02x}", raw=raw)


def test_a_frame_of_unknown_type_must_be_well_framed_to_be_carried() -> None:
    refused(patched(SIGNED, 6, b"\x10") + b"\0", TrailingBytesError, lenient=True)


def test_an_unknown_message_is_not_encoded() -> None:
    with pytest.raises(UnknownTypeError, match="Unknown is not"):
        encode(Unknown(type="0x10", raw=SIGNED))


def test_the_reserved_flag_is_kept_when_lenient_only() -> None:
    raw = patched(SIGNED, 5, b"\x82")
    assert refused(raw, MalformedError).offset == 5
    kept = decode(raw, lenient=True)
    assert isinstance(kept, Frame)
    assert kept.flags == Flags.RESERVED | Flags.SIGNED
    with pytest.raises(MalformedError, match="reserved flag"):
        encode(kept)


def test_a_frame_without_a_hop_is_refused() -> None:
    assert refused(patched(SIGNED, 8, b"\0"), TtlExceededError).offset == 8
    with pytest.raises(TtlExceededError):
        encode(frame(DATA, ttl=0))


@pytest.mark.parametrize(
    "changes",
    [
        {"dest_node_id": RESERVED_ID},
        {"dest_node_id": BROADCAST_ID},
        {"flags": Flags.BROADCAST},
        {
            "flags": Flags.BROADCAST | Flags.ENCRYPTED,
            "dest_node_id": BROADCAST_ID,
            "payload": Sealed(ciphertext=bytes(20)),
        },
        {"flags": Flags.SIGNED},
        {"signature": bytes(64)},
        {"flags": Flags.SIGNED, "signature": bytes(63)},
        {"flags": Flags.ENCRYPTED},
        {"payload": Sealed(ciphertext=b"")},
        {"message_type": MessageType.CONTROL},
        {"flags": Flags.ACK},
        {"payload": Payload()},
        {"compressed": deflate(b"\x01Hello, MyriadMesh!")},
        {"flags": Flags.COMPRESSED, "compressed": deflate(b"\x01other")},
        {
            "flags": Flags.ENCRYPTED | Flags.COMPRESSED,
            "payload": Sealed(ciphertext=bytes(20)),
            "compressed": deflate(bytes(20)),
        },
        {"flags": Flags(0x100)},
        {"priority": 256},
        {"message_id": bytes(15)},
        {"source_node_id": bytes(33)},
        {"timestamp": -1},
        {"timestamp": 1 << 64},
    ],
)
def test_encode_refuses_fields_that_do_not_agree(changes: dict[str, Any]) -> None:
    with pytest.raises(MalformedError):
        encode(frame(DATA, **changes))


def test_bytes_after_a_fixed_payload_are_refused() -> None:
    raw = with_payload(MessageType.HEARTBEAT, bytes(11))
    assert refused(raw, TrailingBytesError).offset == 109


def test_a_payload_cannot_reach_into_the_signature() -> None:
    body = bytes(9)
    raw = patched(with_payload(MessageType.HEARTBEAT, body), 5, b"\x02") + bytes(64)
    assert refused(raw, TruncatedError).offset == 107


def test_an_ack_is_told_by_its_flag_and_has_no_command() -> None:
    raw = encode(frame(ACK, flags=Flags.ACK))
    assert len(raw) == 99 + 17
    assert decode(raw) == frame(ACK, flags=Flags.ACK)


@pytest.mark.parametrize("flags", [Flags.ACK, Flags.ACK | Flags.ENCRYPTED])
def test_the_ack_flag_belongs_to_control_alone(flags: Flags) -> None:
    raw = with_payload(MessageType.DATA, bytes(17), flags=flags)
    assert refused(raw, MalformedError).offset == 5


@pytest.mark.parametrize("size", [16, 18])
def test_an_ack_has_17_bytes(size: int) -> None:
    with pytest.raises(MalformedError):
        decode(with_payload(MessageType.CONTROL, bytes(size), flags=Flags.ACK))


def test_ack_flag_and_ack_payload_go_together() -> None:
    with pytest.raises(MalformedError, match="ACK flag"):
        encode(frame(ACK))
    with pytest.raises(MalformedError, match="ACK flag"):
        encode(frame(Control(command=Command.PING), flags=Flags.ACK))


@pytest.mark.parametrize("type_", MessageType)
def test_an_encrypted_payload_of_any_type_is_kept_sealed(type_: MessageType) -> None:
    raw = with_payload(type_, b"opaque", flags=Flags.ENCRYPTED | Flags.COMPRESSED)
    message = decode(raw)
    assert isinstance(message, Frame)
    assert message.payload == Sealed(ciphertext=b"opaque")
    assert message.message_type is type_
    assert encode(message) == raw


def test_compressed_bytes_are_kept_as_they_came() -> None:
    other = deflate(DATA.data)[:-1]
    slower = zstandard.ZstdCompressor(level=19, write_checksum=True)
    packed = slower.compress(b"\x01" + DATA.data)
    raw = with_payload(MessageType.DATA, packed, flags=Flags.COMPRESSED)
    message = decode(raw)
    assert message == frame(DATA, flags=Flags.COMPRESSED, compressed=packed)
    assert encode(message) == raw
    refused(with_payload(MessageType.DATA, other, flags=Flags.COMPRESSED), MalformedError)


def test_a_payload_is_compressed_where_the_bytes_are_missing() -> None:
    raw = encode(replace(LONG, flags=Flags.COMPRESSED))
    assert len(raw) < 150
    assert decode(raw) == compress(LONG)


def test_what_is_compressed_must_be_a_payload() -> None:
    raw = with_payload(MessageType.DATA, deflate(b"\x05abc"), flags=Flags.COMPRESSED)
    error = refused(raw, MalformedError)
    assert error.offset == 99
    assert "in the compressed payload: content_type" in error.detail
    long = with_payload(MessageType.HEARTBEAT, deflate(bytes(11)), flags=Flags.COMPRESSED)
    refused(long, TrailingBytesError)


def test_a_compressed_acknowledgement_is_read() -> None:
    packed = deflate(b"\x07" * 16 + b"\x03")
    raw = with_payload(MessageType.CONTROL, packed, flags=Flags.ACK | Flags.COMPRESSED)
    message = decode(raw)
    assert isinstance(message, Frame)
    assert message.payload == ACK


def test_a_bomb_is_refused_in_both_directions() -> None:
    bomb = bytes(MAX_DECOMPRESSED_SIZE + 1)
    raw = with_payload(MessageType.DATA, deflate(bomb), flags=Flags.COMPRESSED)
    assert refused(raw, TooLargeError).offset == 99
    payload = Data(content_type=ContentType.RAW, data=bomb[1:])
    for packed in (None, deflate(bomb)):
        with pytest.raises(TooLargeError):
            encode(frame(payload, flags=Flags.COMPRESSED, compressed=packed))


def test_a_mebibyte_fits_when_compressed() -> None:
    payload = Data(content_type=ContentType.RAW, data=bytes(MAX_DECOMPRESSED_SIZE - 1))
    full = compress(frame(payload))
    assert decode(encode(full)) == full


def test_a_batch_holds_whole_frames() -> None:
    message = decode(batch_of(SIGNED, encode(frame(HEARTBEAT))))
    assert message == frame(DataBatch(messages=(sign(frame(DATA), KEY), frame(HEARTBEAT))))
    assert encode(message) == batch_of(SIGNED, encode(frame(HEARTBEAT)))


def test_a_batch_may_be_empty() -> None:
    assert decode(batch_of()) == frame(DataBatch(messages=()))


def test_a_fault_in_a_batch_is_told_by_its_place_in_the_outer_frame() -> None:
    raw = batch_of(SIGNED, patched(SIGNED, 8, b"\0"))
    assert refused(raw, TtlExceededError).offset == 99 + 2 + 2 + len(SIGNED) + 2 + 8


def test_a_batch_shorter_than_its_count_is_refused() -> None:
    body = b"\xff\xff" + len(SIGNED).to_bytes(2, "big") + SIGNED
    refused(with_payload(MessageType.DATA_BATCH, body), TruncatedError)


def test_a_batch_longer_than_its_count_is_refused() -> None:
    refused(with_payload(MessageType.DATA_BATCH, b"\0\0\0"), TrailingBytesError)


@pytest.mark.parametrize("flags", [Flags(0), Flags.ENCRYPTED])
def test_a_batch_in_a_batch_is_refused(flags: Flags) -> None:
    inner = patched(batch_of(), 5, bytes([flags]))
    assert refused(batch_of(inner), MalformedError).offset == 99 + 2 + 2 + 6
    batch = DataBatch(messages=(frame(DataBatch(messages=())),))
    with pytest.raises(MalformedError, match="within a batch"):
        encode(frame(batch))


def test_an_unknown_type_in_a_batch_makes_the_batch_opaque_when_lenient() -> None:
    raw = batch_of(SIGNED, patched(SIGNED, 6, b"\x10"))
    refused(raw, UnknownTypeError)
    assert decode(raw, lenient=True) == Unknown(type="0x0f", raw=raw)


def test_the_reserved_flag_is_kept_in_a_lenient_batch() -> None:
    raw = batch_of(patched(SIGNED, 5, b"\x82"))
    refused(raw, MalformedError)
    message = decode(raw, lenient=True)
    assert isinstance(message, Frame)
    assert isinstance(message.payload, DataBatch)
    assert Flags.RESERVED in message.payload.messages[0].flags


def test_the_frames_of_a_batch_share_one_bound_when_unpacked() -> None:
    half = compress(frame(Data(content_type=ContentType.RAW, data=bytes(600_000))))
    assert decode(batch_of(encode(half)))
    refused(batch_of(encode(half), encode(half)), TooLargeError)
    with pytest.raises(TooLargeError):
        encode(frame(DataBatch(messages=(half, half))))


def test_spans_name_the_fields_of_a_frame() -> None:
    assert spans(SIGNED) == [
        Span("magic", 0, 4),
        Span("version", 4, 1),
        Span("flags", 5, 1),
        Span("message_type", 6, 1),
        Span("priority", 7, 1),
        Span("ttl", 8, 1),
        Span("payload_length", 9, 2),
        Span("message_id", 11, 16),
        Span("source_node_id", 27, 32),
        Span("dest_node_id", 59, 32),
        Span("timestamp", 91, 8),
        Span("payload.content_type", 99, 1),
        Span("payload.data", 100, 18),
        Span("signature", 118, 64),
    ]


@pytest.mark.parametrize("name", SAMPLES)
def test_spans_leave_no_byte_out(name: str) -> None:
    raw = encode(SAMPLES[name])
    end = 0
    for span in spans(raw):
        assert span.offset == end
        end += span.size
    assert end == len(raw)


def test_spans_of_a_batch_go_into_its_frames() -> None:
    found = {span.name: span for span in spans(batch_of(PLAIN, SIGNED))}
    first = 99 + 2
    assert found["payload.messages.0.length"] == ("payload.messages.0.length", first, 2)
    assert found["payload.messages.0.magic"].offset == first + 2
    assert found["payload.messages.1.signature"].size == 64
    assert "payload.messages.1" not in found


def test_spans_of_items_are_counted() -> None:
    found = [span.name for span in spans(encode(SAMPLES["DISCOVERY"]))]
    assert "payload.adapters.1.address" in found


def test_spans_end_at_the_first_fault() -> None:
    assert spans(SIGNED[:50]) == []
    assert spans(batch_of(b""))[-1] == Span("payload.messages.0", 103, 0)
    nested = spans(batch_of(batch_of(PLAIN)))
    assert nested[-1].name == "payload.messages.0.timestamp"
