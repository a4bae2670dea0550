"""Layouts, limits and refusals of UEP-12 messages."""

import msgspec
import pytest

from protocols.uep12.samples import SAMPLES
from wireloom.protocols.uep12.codec import decode, encode, spans
from wireloom.protocols.uep12.messages import Content, PullByHash, Reference
from wireloom.wire.errors import (
    MalformedError,
    TooLargeError,
    TrailingBytesError,
    TruncatedError,
    UnknownTypeError,
    UnsupportedVersionError,
)
from wireloom.wire.message import Unknown

CONTENT = encode(SAMPLES["CONTENT"])
REFERENCE = Reference(msg_hash=b"\x11" * 8, epoch_diff=1)


def content(**changes: object) -> Content:
    sample = SAMPLES["CONTENT"]
    assert isinstance(sample, Content)
    return msgspec.structs.replace(sample, **changes)


def test_content_lies_as_the_layout_says() -> None:
    raw = encode(
        content(pow_nonce=1, timestamp=2, ttl_epoch=3, references=(REFERENCE,), payload=b"x")
    )
    assert raw == bytes.fromhex(
        "79 10 05 0100000000000000 020000000000 0300 01 1111111111111111 0100 78"
    )


def test_an_empty_payload_is_a_message() -> None:
    assert decode(encode(content(payload=b""))) == content(payload=b"")


def test_decode_refuses_another_indicator() -> None:
    with pytest.raises(MalformedError, match="0x78") as caught:
        decode(b"\x78" + CONTENT[1:])
    assert caught.value.offset == 0


def test_decode_refuses_another_version_and_says_where() -> None:
    with pytest.raises(UnsupportedVersionError, match="version 4") as caught:
        decode(CONTENT[:2] + b"\4" + CONTENT[3:])
    assert caught.value.offset == 2


@pytest.mark.parametrize("count", [5, 6, 7])
def test_decode_refuses_a_fifth_reference(count: int) -> None:
    with pytest.raises(MalformedError, match=f"{count} references") as caught:
        decode(CONTENT[:19] + bytes([count]) + bytes(100))
    assert caught.value.offset == 19


def test_four_references_are_the_most() -> None:
    assert decode(encode(content(references=(REFERENCE,) * 4)))
    with pytest.raises(MalformedError, match="5 references"):
        encode(content(references=(REFERENCE,) * 5))


def test_reserved_bits_are_kept() -> None:
    raw = CONTENT[:19] + bytes([CONTENT[19] | 0b10100_000]) + CONTENT[20:]
    message = decode(raw)
    assert isinstance(message, Content)
    assert message.reserved == 0b10100
    assert encode(message) == raw


def test_encode_refuses_more_than_five_reserved_bits() -> None:
    with pytest.raises(MalformedError):
        encode(content(reserved=32))


@pytest.mark.parametrize("size", range(2, 20))
def test_decode_names_the_field_that_is_cut(size: int) -> None:
    with pytest.raises(TruncatedError, match="needs"):
        decode(CONTENT[:size])


@pytest.mark.parametrize("name", ["PULL_BY_HASH", "PULL_BY_TIME", "MESSAGE_LIST"])
def test_decode_refuses_trailing_bytes(name: str) -> None:
    raw = encode(SAMPLES[name])
    with pytest.raises(TrailingBytesError, match="1 byte after") as caught:
        decode(raw + b"\0")
    assert caught.value.offset == len(raw)


def test_an_unknown_opcode_is_refused_or_kept() -> None:
    raw = b"\x79\x22rest"
    with pytest.raises(UnknownTypeError, match="0x22"):
        decode(raw)
    assert decode(raw, lenient=True) == Unknown(type="0x22", raw=raw)


def test_encode_refuses_what_is_no_message_of_this_protocol() -> None:
    with pytest.raises(UnknownTypeError):
        encode(Unknown(type="0x22", raw=b"\x79\x22"))
    with pytest.raises(UnknownTypeError):
        encode(REFERENCE)


def test_a_message_may_fill_eight_fragments_and_no_more() -> None:
    room = 11_264 - len(encode(content(payload=b"")))
    raw = encode(content(payload=bytes(room)))
    assert len(raw) == 11_264
    assert decode(raw)
    with pytest.raises(TooLargeError):
        encode(content(payload=bytes(room + 1)))
    with pytest.raises(TooLargeError):
        decode(raw + b"\0")


def test_a_pull_holds_up_to_255_hashes() -> None:
    assert decode(encode(PullByHash(msg_hashes=(b"\1" * 8,) * 255)))
    with pytest.raises(MalformedError, match="256 does not fit"):
        encode(PullByHash(msg_hashes=(b"\1" * 8,) * 256))
    with pytest.raises(MalformedError, match="8 bytes, not 7"):
        encode(PullByHash(msg_hashes=(b"\1" * 7,)))


def test_spans_name_every_field_and_stop_at_a_fault() -> None:
    found = spans(CONTENT)
    assert [span.name for span in found][-5:] == [
        "references.0.msg_hash",
        "references.0.epoch_diff",
        "references.1.msg_hash",
        "references.1.epoch_diff",
        "payload",
    ]
    assert sum(span.size for span in found) == len(CONTENT)
    assert [span.name for span in spans(CONTENT[:12])] == [
        "indicator",
        "opcode",
        "version",
        "pow_nonce",
    ]
