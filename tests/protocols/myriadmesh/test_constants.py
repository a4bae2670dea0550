from wireloom.protocols.myriadmesh.constants import (
    CACHE_MS,
    CAPABILITY_MASK,
    DEFAULT_FLAGS,
    DEFAULT_PRIORITIES,
    DEFAULT_PRIORITY,
    MIN_SIGNED_SIZE,
    AdapterType,
    Band,
    Capability,
    ContentType,
    Flags,
    MessageType,
)


def test_every_flag_has_the_bit_of_the_specification() -> None:
    assert [flag.value for flag in Flags] == [1 << bit for bit in range(8)]
    assert Flags(0x4A) == Flags.SIGNED | Flags.RELAY | Flags.BROADCAST
    assert Flags(0xB5) == (
        Flags.ENCRYPTED | Flags.COMPRESSED | Flags.ACK_REQUIRED | Flags.ACK | Flags.RESERVED
    )


def test_the_types_are_one_to_fifteen() -> None:
    assert [int(type_) for type_ in MessageType] == list(range(1, 16))
    assert MessageType(0x0E).name == "ROUTE_RESPONSE"


def test_content_types_are_zero_to_four() -> None:
    assert [int(content_type) for content_type in ContentType] == list(range(5))


def test_the_capability_mask_is_all_bits_with_a_name() -> None:
    assert sum(Capability) == CAPABILITY_MASK


def test_adapter_types_are_one_to_fourteen_and_unknown() -> None:
    assert [int(adapter) for adapter in AdapterType] == [*range(1, 15), 255]


def test_a_default_priority_lies_in_its_band() -> None:
    bands = [*Band, 256]
    for band, above in zip(Band, bands[1:], strict=True):
        assert band <= DEFAULT_PRIORITIES[band] < above
    assert DEFAULT_PRIORITY == 160


def test_more_urgent_messages_are_kept_longer() -> None:
    kept = [CACHE_MS[band] for band in Band]
    assert kept == sorted(set(kept))


def test_frames_are_encrypted_and_signed_by_default() -> None:
    assert DEFAULT_FLAGS == 0x03


def test_the_smallest_signed_frame_has_163_bytes() -> None:
    assert MIN_SIGNED_SIZE == 163
