"""The shortcut says what the codec would say, or nothing."""

from random import Random

import msgspec
import pytest

from protocols.myriadmesh.samples import SAMPLES
from support.damage import damaged, flips, truncations
from wireloom.protocols.myriadmesh.codec import encode, take_frame
from wireloom.protocols.myriadmesh.constants import ContentType, Flags
from wireloom.protocols.myriadmesh.messages import Data, Frame
from wireloom.protocols.myriadmesh.ordinary import take_ordinary
from wireloom.wire.cursor import Reader
from wireloom.wire.errors import WireError

FRAME = Frame(
    flags=Flags.SIGNED | Flags.RELAY,
    message_type=Data.message_type,
    priority=160,
    ttl=10,
    message_id=b"\1" * 16,
    source_node_id=b"\2" * 32,
    dest_node_id=b"\3" * 32,
    timestamp=1704067200000,
    payload=Data(content_type=ContentType.TEXT, data=b"hello"),
    signature=b"\4" * 64,
)


@pytest.mark.parametrize("flags", [Flags.SIGNED, Flags(0), Flags.ACK_REQUIRED | Flags.RELAY])
@pytest.mark.parametrize("data", [b"", b"x", bytes(1000)])
def test_ordinary_frames_are_taken(flags: Flags, data: bytes) -> None:
    frame = msgspec.structs.replace(
        FRAME,
        flags=flags,
        payload=Data(content_type=ContentType.RAW, data=data),
        signature=b"\4" * 64 if flags & Flags.SIGNED else None,
    )
    assert take_ordinary(encode(frame)) == frame


def test_other_types_and_flags_are_left_alone() -> None:
    raws = [encode(message) for message in SAMPLES.values()]
    taken = [take_ordinary(raw) for raw in raws]
    assert None in taken
    assert all(
        one is None or one == take_frame(Reader(raw)) for one, raw in zip(taken, raws, strict=True)
    )


def test_the_shortcut_agrees_with_the_codec_on_damaged_frames() -> None:
    raw = encode(FRAME)
    random = Random(7)
    spoilt = [damaged(random, [raw]) for _ in range(2000)]
    for one in [*truncations(raw), *flips(raw), *spoilt]:
        taken = take_ordinary(one)
        if taken is not None:
            assert taken == take_frame(Reader(one))


def test_a_fault_is_left_to_the_codec() -> None:
    raw = encode(FRAME)
    for offset in (0, 4, 8, 9, 99):
        spoilt = raw[:offset] + bytes([0x7F if offset == 99 else 0]) + raw[offset + 1 :]
        if offset == 9:
            spoilt = raw[:9] + b"\xff" + raw[10:]
        assert take_ordinary(spoilt) is None
        with pytest.raises(WireError):
            take_frame(Reader(spoilt))
