"""What every protocol owes bytes from outside: a message or a listed reason, nothing else."""

from random import Random

import pytest

from support.cases import ALL, CASES, Case
from support.damage import damaged, flips, truncations
from wireloom.wire.errors import WireError
from wireloom.wire.outcome import Auth, Reason
from wireloom.wire.plain import to_plain

KEY = bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")

STRUCTURAL = {
    Reason.MALFORMED,
    Reason.UNSUPPORTED_VERSION,
    Reason.UNKNOWN_TYPE,
    Reason.TOO_LARGE,
}

protocols = pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)


@protocols
def test_truncation_at_every_byte_is_survived(case: Case) -> None:
    for frame in case.frames:
        for raw in truncations(frame):
            assert_total(case, raw)


@protocols
def test_every_flipped_bit_is_survived(case: Case) -> None:
    for message in case.samples.values():
        for raw in flips(case.protocol.codec.encode(message)[:400]):
            assert_total(case, raw)


@protocols
def test_damage_is_survived(case: Case) -> None:
    random = Random(12)
    frames = case.frames
    for _ in range(CASES):
        assert_total(case, damaged(random, frames))


@protocols
@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\x00",
        b"\xff" * 4096,
        b"\xff\xfe\x00\x01",
        b"[" * 5000 + b"]" * 5000,
        b'{"a":' * 5000 + b"1" + b"}" * 5000,
        b"\x81" * 5000 + b"\x00",
        b"\xa1\x61\x61" * 5000 + b"\x00",
        b"\x9f" * 5000,
        b"\x91" * 5000 + b"\xc0",
        b"\x9b\x7f\xff\xff\xff\xff\xff\xff\xff",
        b"\x5a\x7f\xff\xff\xff",
        b"\xc6\x7f\xff\xff\xff",
        b"\xdf\x7f\xff\xff\xff",
        b"\x01\x01\x7f\xff\xff\xff{}",
        b"\x01\x01\x80\x00\x00\x00{}",
        b"\xff\xff\xff\x7f" * 20,
        b'{"id":NaN}',
        b"NaN",
        b"\xf9\x7e\x00",
    ],
    ids=lambda raw: raw[:12].hex() + f"+{len(raw)}",
)
def test_hostile_bytes_are_refused(case: Case, raw: bytes) -> None:
    with pytest.raises(WireError) as caught:
        case.protocol.codec.decode(raw)
    assert caught.value.reason in STRUCTURAL
    assert caught.value.detail


def assert_total(case: Case, raw: bytes) -> None:
    """Decodes, and does to the message what the command line would do."""
    codec = case.protocol.codec
    codec.spans(raw)
    try:
        message = codec.decode(raw)
    except WireError as error:
        assert type(error.reason) is Reason
        assert error.reason is not Reason.INTERNAL
        assert error.detail
        assert error.offset is None or 0 <= error.offset <= len(raw)
        return
    case.protocol.record.summarise(message, raw)
    to_plain(message)
    assert case.protocol.integrity.authenticate(message, raw, [KEY]) in set(Auth)
    assert codec.decode(codec.encode(message)) == message
