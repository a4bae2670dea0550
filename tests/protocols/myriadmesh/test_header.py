from typing import Any

import pytest

from protocols.myriadmesh.samples import NOW_MS, PEER, SAMPLES, SOURCE
from wireloom.protocols.myriadmesh.codec import encode
from wireloom.protocols.myriadmesh.constants import BROADCAST_ID, RESERVED_ID, Flags
from wireloom.protocols.myriadmesh.header import (
    LAYOUT,
    Header,
    check_header,
    check_size,
    framing_size,
    put_header,
    read_header,
    take_header,
)
from wireloom.wire.cursor import Reader, Writer
from wireloom.wire.errors import (
    MalformedError,
    TooLargeError,
    TrailingBytesError,
    TruncatedError,
    TtlExceededError,
    UnsupportedVersionError,
    WireError,
)

HEADER = Header(
    magic=b"MYMS",
    version=1,
    flags=2,
    message_type=1,
    priority=160,
    ttl=10,
    payload_length=19,
    message_id=b"\x01" * 16,
    source_node_id=SOURCE,
    dest_node_id=PEER,
    timestamp=NOW_MS,
)
SIZE = 99 + 19 + 64


def test_the_header_has_99_bytes() -> None:
    assert LAYOUT.size == 99


def test_the_header_of_a_frame_is_read() -> None:
    assert read_header(encode(SAMPLES["DATA"])) == HEADER


def test_what_is_put_is_taken() -> None:
    writer = Writer()
    put_header(writer, HEADER)
    assert take_header(Reader(writer.finish())) == HEADER


def test_a_good_header_passes() -> None:
    check_header(HEADER, SIZE, lenient=False)


@pytest.mark.parametrize(
    ("changes", "error", "offset"),
    [
        ({"magic": b"MYMX"}, MalformedError, 0),
        ({"version": 0}, UnsupportedVersionError, 4),
        ({"version": 2}, UnsupportedVersionError, 4),
        ({"payload_length": 20}, TruncatedError, SIZE),
        ({"payload_length": 18}, TrailingBytesError, SIZE - 1),
        ({"flags": 0}, TrailingBytesError, SIZE - 64),
        ({"flags": 0x82}, MalformedError, 5),
        ({"ttl": 0}, TtlExceededError, 8),
        ({"dest_node_id": RESERVED_ID}, MalformedError, 59),
        ({"dest_node_id": BROADCAST_ID}, MalformedError, 5),
        ({"flags": 0x42}, MalformedError, 5),
        ({"flags": 0x43, "dest_node_id": BROADCAST_ID}, MalformedError, 5),
    ],
)
def test_a_header_that_breaks_a_rule_is_refused(
    changes: dict[str, Any], error: type[WireError], offset: int
) -> None:
    with pytest.raises(error) as caught:
        check_header(HEADER._replace(**changes), SIZE, lenient=False)
    assert type(caught.value) is error
    assert caught.value.offset == offset


@pytest.mark.parametrize("ttl", [1, 32, 33, 255])
def test_any_other_ttl_is_accepted(ttl: int) -> None:
    check_header(HEADER._replace(ttl=ttl), SIZE, lenient=False)


def test_a_broadcast_goes_to_all_ones() -> None:
    header = HEADER._replace(flags=0x42, dest_node_id=BROADCAST_ID)
    check_header(header, SIZE, lenient=False)


def test_the_reserved_flag_passes_when_lenient() -> None:
    check_header(HEADER._replace(flags=0x82), SIZE, lenient=True)


def test_a_frame_has_at_most_65535_bytes() -> None:
    check_size(65535)
    with pytest.raises(TooLargeError, match="65536 bytes"):
        check_size(65536)
    with pytest.raises(TooLargeError):
        read_header(bytes(65536))


def test_only_signed_frames_have_room_for_a_signature() -> None:
    assert framing_size(Flags.SIGNED | Flags.RELAY) == 163
    assert framing_size(Flags.RELAY) == 99
