from contextlib import suppress
from hashlib import blake2b
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from protocols.myriadmesh.samples import DATA, HEARTBEAT, KEY, NOW_MS, SAMPLES, SOURCE, frame
from protocols.myriadmesh.strategies import MESSAGES
from support.cases import vectors
from wireloom.protocols.myriadmesh.codec import decode, encode
from wireloom.protocols.myriadmesh.constants import CACHE_MS, Band, Flags
from wireloom.protocols.myriadmesh.integrity import (
    authenticate,
    authenticate_sound,
    block_hash,
    check_fresh,
    check_signed,
    content_message_id,
    dht_key,
    message_id,
    node_id,
    relay,
    sign,
    signing_bytes,
    verify,
)
from wireloom.protocols.myriadmesh.messages import Discovery, Frame, LedgerBlock
from wireloom.wire.errors import (
    FutureError,
    StaleError,
    TtlExceededError,
    UnauthenticatedError,
    UnknownKeyError,
    WireError,
)
from wireloom.wire.keys import SigningKey
from wireloom.wire.outcome import Auth

OTHER = SigningKey(bytes(32))
RAW = encode(SAMPLES["DATA"])
PUBLIC_KEYS = [None, KEY.public, OTHER.public]


def of_kind(check: str) -> pytest.MarkDecorator:
    chosen = [v for v in vectors("myriadmesh") if v.get("check") == check]
    return pytest.mark.parametrize("vector", chosen, ids=lambda vector: vector["name"])


def auth(raw: bytes, *keys: bytes) -> Auth:
    return authenticate(decode(raw, lenient=True), raw, keys)


@of_kind("node_id")
def test_node_id_vector_holds(vector: dict[str, Any]) -> None:
    key = bytes.fromhex(vector["hex"])
    assert node_id(key).hex() == vector["expect"]["node_id"]
    assert blake2b(key).hexdigest()[:64] == vector["expect"]["not_node_id"]


@of_kind("message_id")
def test_message_id_vector_holds(vector: dict[str, Any]) -> None:
    expect = vector["expect"]
    made = message_id(
        timestamp=expect["timestamp"],
        source_node_id=bytes.fromhex(expect["source_node_id"]),
        nonce=bytes.fromhex(vector["hex"]),
    )
    assert made.hex() == expect["message_id"] != expect["not_message_id"]


@of_kind("content_message_id")
def test_content_message_id_vector_holds(vector: dict[str, Any]) -> None:
    expect = vector["expect"]
    made = content_message_id(
        timestamp=expect["timestamp"],
        source_node_id=bytes.fromhex(expect["source_node_id"]),
        dest_node_id=bytes.fromhex(expect["dest_node_id"]),
        payload=bytes.fromhex(vector["hex"]),
        sequence=expect["sequence"],
    )
    assert made.hex() == expect["message_id"]


def test_each_kind_of_dht_entry_has_a_key_of_its_own() -> None:
    assert dht_key("node", SOURCE) == blake2b(b"node:" + SOURCE, digest_size=32).digest()
    assert len({dht_key(kind, SOURCE) for kind in ("node", "route", "cache")}) == 3


def test_a_block_hash_covers_the_whole_payload() -> None:
    message = SAMPLES["LEDGER_BLOCK"]
    assert isinstance(message, Frame)
    block = message.payload
    assert isinstance(block, LedgerBlock)
    assert block_hash(block) == blake2b(encode(message)[99:]).digest()[:32]
    assert block_hash(replace(block, entries=())) != block_hash(block)


def test_the_signature_covers_all_but_ttl_and_relay_flag() -> None:
    covered = signing_bytes(RAW)
    assert covered == RAW[:8] + b"\0" + RAW[9:-64]
    assert signing_bytes(RAW[:5] + b"\x0a" + RAW[6:8] + b"\x03" + RAW[9:]) == covered


def test_a_signed_frame_verifies_and_each_other_byte_matters() -> None:
    assert verify(RAW, KEY.public)
    assert not verify(RAW, OTHER.public)
    for at in (6, 7, 20, 30, 70, 95, 105, len(RAW) - 1):
        assert not verify(RAW[:at] + bytes([RAW[at] ^ 1]) + RAW[at + 1 :], KEY.public)


def test_an_unsigned_frame_does_not_verify() -> None:
    assert not verify(encode(frame(DATA)), KEY.public)


def test_signing_with_a_key_that_is_not_the_sources_is_refused() -> None:
    with pytest.raises(UnknownKeyError):
        sign(frame(DATA), OTHER)


def test_signing_twice_changes_nothing() -> None:
    once = sign(frame(DATA), KEY)
    assert sign(once, KEY) == once


def test_authentication_says_what_is_known() -> None:
    assert auth(RAW, OTHER.public, KEY.public) is Auth.VALID
    assert auth(RAW, OTHER.public) is Auth.UNKNOWN_KEY
    assert auth(RAW) is Auth.UNKNOWN_KEY
    assert auth(RAW[:-1] + bytes([RAW[-1] ^ 1]), KEY.public) is Auth.INVALID
    assert auth(encode(frame(HEARTBEAT)), KEY.public) is Auth.UNSIGNED


@given(message=st.one_of(*MESSAGES.values()), is_ours=st.booleans(), at=st.integers(0, 999))
def test_a_sound_frame_is_authenticated_alike_without_decoding(
    message: Frame, is_ours: bool, at: int
) -> None:
    if is_ours:
        message = sign(replace(message, source_node_id=SOURCE), KEY)
    raw = encode(message)
    relayed = [relay(raw)] if message.ttl > 1 else []
    for one in (raw, *relayed, damaged_at(raw, at)):
        for key in PUBLIC_KEYS:
            assert_authenticated_alike(one, key)


def assert_authenticated_alike(raw: bytes, key: bytes | None) -> None:
    with suppress(WireError):
        expected = auth(raw, *([] if key is None else [key]))
        assert authenticate_sound(raw, key) in (None, expected)


def damaged_at(raw: bytes, at: int) -> bytes:
    at %= len(raw)
    return raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :]


def test_signed_frames_need_not_be_decoded() -> None:
    assert authenticate_sound(RAW, KEY.public) is Auth.VALID
    assert authenticate_sound(relay(RAW), KEY.public) is Auth.VALID
    assert authenticate_sound(RAW, OTHER.public) is Auth.UNKNOWN_KEY
    assert authenticate_sound(RAW, None) is Auth.UNKNOWN_KEY
    assert authenticate_sound(damaged_at(RAW, 120), KEY.public) is Auth.INVALID
    assert authenticate_sound(encode(SAMPLES["DISCOVERY"]), KEY.public) is None
    assert authenticate_sound(RAW[:120], KEY.public) is None


def test_a_discovery_brings_its_own_key() -> None:
    raw = encode(SAMPLES["DISCOVERY"])
    assert auth(raw) is Auth.VALID
    assert auth(raw[:-1] + bytes([raw[-1] ^ 1])) is Auth.INVALID


def test_a_discovery_with_the_key_of_another_node_is_invalid() -> None:
    forged = sign(frame(Discovery(public_key=OTHER.public)), KEY)
    assert auth(encode(forged), KEY.public) is Auth.INVALID


def test_a_frame_of_unknown_type_is_authenticated_all_the_same() -> None:
    raw = RAW[:6] + b"\x10" + RAW[7:]
    assert auth(raw, KEY.public) is Auth.INVALID
    assert auth(raw) is Auth.UNKNOWN_KEY


def test_only_heartbeats_and_trusted_nodes_need_not_sign() -> None:
    check_signed(sign(frame(DATA), KEY))
    check_signed(frame(HEARTBEAT))
    check_signed(frame(DATA), trusted={SOURCE})
    with pytest.raises(UnauthenticatedError, match="unsigned DATA"):
        check_signed(frame(DATA), trusted={node_id(OTHER.public)})


def test_a_relayed_frame_keeps_its_signature() -> None:
    raw = relay(relay(RAW))
    message = decode(raw)
    assert isinstance(message, Frame)
    assert message.ttl == 8
    assert message.flags == Flags.SIGNED | Flags.RELAY
    assert auth(raw, KEY.public) is Auth.VALID


def test_a_frame_is_not_relayed_beyond_its_last_hop() -> None:
    last = relay(encode(frame(DATA, ttl=2)))
    assert last[8] == 1
    with pytest.raises(TtlExceededError) as caught:
        relay(last)
    assert caught.value.offset == 8


def test_a_frame_of_unknown_type_is_relayed() -> None:
    raw = RAW[:5] + b"\x82\x10" + RAW[7:]
    assert relay(raw) == raw[:5] + b"\x8a\x10\xa0\x09" + raw[9:]


def test_what_is_not_a_frame_is_not_relayed() -> None:
    for raw in (b"", RAW[:-1], b"X" + RAW[1:]):
        with pytest.raises(WireError):
            relay(raw)


@pytest.mark.parametrize("now_ms", [NOW_MS - 300_000, NOW_MS, NOW_MS + 300_000])
def test_a_frame_within_five_minutes_is_fresh(now_ms: int) -> None:
    check_fresh(frame(DATA), now_ms=now_ms)


def test_a_frame_beyond_five_minutes_is_refused() -> None:
    with pytest.raises(StaleError, match="300001 ms old"):
        check_fresh(frame(DATA), now_ms=NOW_MS + 300_001)
    with pytest.raises(FutureError, match="300001 ms ahead"):
        check_fresh(frame(DATA), now_ms=NOW_MS - 300_001)
    with pytest.raises(FutureError):
        check_fresh(frame(DATA, flags=Flags.RELAY), now_ms=NOW_MS - 300_001)


@pytest.mark.parametrize("band", Band)
def test_a_relayed_frame_may_be_as_old_as_its_band_allows(band: Band) -> None:
    relayed = frame(DATA, flags=Flags.RELAY, priority=int(band))
    check_fresh(relayed, now_ms=NOW_MS + CACHE_MS[band])
    with pytest.raises(StaleError):
        check_fresh(relayed, now_ms=NOW_MS + CACHE_MS[band] + 1)
