"""Loading and dumping: the short cuts agree with the slow and exact way."""

import math
import struct
from typing import Any

import cbor2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.dtn.samples import KEY, SAMPLES
from support.cases import case
from support.damage import damaged
from wireloom.protocols.dtn.cbor import dump, load, load_quickly, nesting, single
from wireloom.protocols.dtn.codec import encode
from wireloom.protocols.dtn.items import read
from wireloom.wire.errors import MalformedError

CONTENT_ID = bytes.fromhex("0155001c") + b"\x22" * 28
"""32 bytes that are a content id to libipld."""

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**64), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.floats(width=16, allow_nan=False, allow_infinity=False)
    | st.text(max_size=30)
    | st.binary(max_size=40)
    | st.just(CONTENT_ID)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=30), inner),
    max_leaves=6,
)
DOCUMENTS = st.dictionaries(st.text(max_size=30), VALUES, max_size=5)


@given(document=DOCUMENTS)
def test_what_is_dumped_is_loaded_the_same_both_ways(document: dict[str, Any]) -> None:
    raw = dump(document)
    assert read(raw, text_keys=True) == document
    assert load(raw) == document
    assert load_quickly(raw) in (None, document)


@given(document=DOCUMENTS)
def test_dump_agrees_with_the_full_encoder(document: dict[str, Any]) -> None:
    assert dump(document) == cbor2.dumps(document, canonical=True)


@given(document=DOCUMENTS)
def test_dump_sorts_keys_bytewise_and_writes_the_shortest_form(document: dict[str, Any]) -> None:
    assert dump(document) == deterministic(document)


def test_keys_of_24_and_256_bytes_stand_where_their_encodings_sort() -> None:
    keys = ["z" * 23, "a" * 24, "z" * 24, "a" * 255, "a" * 256, "b", "aa", ""]
    document: dict[str, Any] = dict.fromkeys(keys, 0)
    assert dump(document) == deterministic(document)
    assert list(load(dump(document))) == sorted(keys, key=lambda key: (len(key), key))


@given(seed=st.randoms(use_true_random=False))
def test_both_ways_agree_on_damaged_maps(seed: Any) -> None:
    frames = [encode(m) for m in SAMPLES.values()] + case("dtn").frames
    maps = [raw for raw in frames if raw[0] in range(0xA0, 0xC0)]
    for _ in range(40):
        assert_agreement(damaged(seed, maps))


@pytest.mark.parametrize("prefix", ["d82a", "d9002a", "da0000002a", "db000000000000002a"])
def test_a_content_id_is_a_tag_like_any_other(prefix: str) -> None:
    raw = bytes.fromhex("a16161" + prefix + "582100") + CONTENT_ID
    assert load_quickly(raw) is None
    with pytest.raises(MalformedError, match="tag"):
        load(raw)


def test_bytes_that_look_like_a_content_id_get_no_tag() -> None:
    assert dump({"a": CONTENT_ID}) == bytes.fromhex("a161615820") + CONTENT_ID


def test_a_map_that_ends_in_a_half_is_loaded_quickly() -> None:
    raw = bytes.fromhex("a2 6161 01 6162 f93a00")
    assert load_quickly(raw) == {"a": 1, "b": 0.75}


@pytest.mark.parametrize(
    "text",
    [
        "a1 6161 1b 000000f90000",  # an integer that lacks two bytes
        "a1 6161 fb 000000f93a00",  # a float that lacks two bytes
        "a1 6161 43 f93a00",  # bytes
        "a1 6161 45 f93a00",  # bytes that lack two
        "a1 6161 81 f93a00",  # a list
        "a1 6161 f97e00",  # not a number
        "a1 6161 f98000",  # a zero with a sign
        "f93a00",
    ],
)
def test_what_only_seems_to_end_in_a_half_is_left_to_the_reader(text: str) -> None:
    raw = bytes.fromhex(text)
    assert load_quickly(raw) is None or text.startswith("a1 6161 43")
    assert_agreement(raw)


@pytest.mark.parametrize(
    ("text", "kind"), [("83010203", "list"), ("01", "integer"), ("6161", "text")]
)
def test_only_a_map_is_loaded(text: str, kind: str) -> None:
    with pytest.raises(MalformedError, match=f"a CBOR {kind}, not a map"):
        load(bytes.fromhex(text))


def test_deep_nesting_is_refused_on_every_way_in_and_out() -> None:
    deepest: Any = 0
    for _ in range(63):
        deepest = [deepest]
    raw = dump({"a": deepest})
    assert load(raw) == {"a": deepest}
    with pytest.raises(MalformedError, match="deeper than 64"):
        dump({"a": [deepest]})
    with pytest.raises(MalformedError, match="deeper than 64") as caught:
        load(raw.replace(b"\x81\x00", b"\x81\x81\x00"))
    assert caught.value.offset is not None


def test_endless_nesting_is_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(MalformedError, match="deeper than 64"):
        dump({"a": loop})


@pytest.mark.parametrize("value", ["\ud800", object(), {"\ud800": 1}, [object()]])
def test_dump_refuses_what_cannot_be_written(value: Any) -> None:
    with pytest.raises(MalformedError, match="cannot be written"):
        dump({"a": value})


def test_nesting_counts_lists_and_maps() -> None:
    values: list[Any] = [1, [], {}, {"a": [1]}, ([{}],)]
    assert [nesting(one) for one in values] == [0, 1, 1, 2, 3]


def test_single_rounds_and_drops_the_sign_of_zero() -> None:
    assert single(0.1) == 0.10000000149011612
    assert math.copysign(1, single(-0.0)) == 1
    with pytest.raises(MalformedError, match="single precision"):
        single(1e300)


def assert_agreement(raw: bytes) -> None:
    """What the short cut loads, the reader reads; what the reader refuses, `load` refuses."""
    quick = load_quickly(raw)
    try:
        exact = read(raw, text_keys=True)
    except MalformedError:
        assert quick is None or nesting(quick) > 64
        return
    assert quick is None or (quick == exact and repr(quick) == repr(exact))


def deterministic(value: Any) -> bytes:
    """RFC 8949, 4.2.1, written down a second time, without libraries."""
    match value:
        case dict():
            pairs = sorted((deterministic(k), deterministic(v)) for k, v in value.items())
            return head(5, len(pairs)) + b"".join(k + v for k, v in pairs)
        case list():
            return head(4, len(value)) + b"".join(deterministic(one) for one in value)
        case str():
            return head(3, len(value.encode())) + value.encode()
        case bytes():
            return head(2, len(value)) + value
        case bool() | None:
            return {False: b"\xf4", True: b"\xf5", None: b"\xf6"}[value]
        case int():
            return head(0, value) if value >= 0 else head(1, -1 - value)
    return shortest_float(value)


def head(major: int, number: int) -> bytes:
    if number < 24:
        return bytes([major << 5 | number])
    for info, size in ((24, 1), (25, 2), (26, 4), (27, 8)):
        if number < 1 << 8 * size:
            return bytes([major << 5 | info]) + number.to_bytes(size)
    raise ValueError(number)


def shortest_float(value: float) -> bytes:
    for first, code in ((b"\xf9", ">e"), (b"\xfa", ">f")):
        try:
            packed = struct.pack(code, value)
        except OverflowError:
            continue
        if struct.unpack(code, packed)[0] == value:
            return first + packed
    return b"\xfb" + struct.pack(">d", value)


def test_the_sample_key_is_no_content_id() -> None:
    assert dump({"a": KEY.public})[3:5] == b"\x58\x20"
