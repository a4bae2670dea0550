"""The tolerant CBOR reader, against outside vectors and at its limits."""

from typing import Any

import pytest

from support.cases import vectors
from wireloom.protocols.dtn.items import Place, kind, places, read
from wireloom.protocols.dtn.maps import build
from wireloom.protocols.dtn.messages import Data
from wireloom.wire.errors import MalformedError, TrailingBytesError, TruncatedError

CBOR = [pytest.param(v, id=v["name"]) for v in vectors("dtn") if v.get("check") == "cbor"]


@pytest.mark.parametrize("vector", CBOR)
def test_an_outside_item_is_read_as_its_source_says(vector: dict[str, Any]) -> None:
    raw = bytes.fromhex(vector["hex"])
    if not vector["expect"]["ok"]:
        with pytest.raises(MalformedError):
            read(raw)
        return
    assert plain(read(raw)) == vector["expect"]["value"]
    assert type(read(raw)) is not bool or read(raw) is vector["expect"]["value"]


def test_a_kotlin_byte_array_makes_bytes() -> None:
    (vector,) = [v for v in vectors("dtn") if v["name"] == "cbor_kotlin_byte_array"]
    document = {"msgType": 0, "ciphertext": read(bytes.fromhex(vector["hex"]))}
    assert build(Data, document, b"").ciphertext.hex() == vector["expect"]["bytes"]


@pytest.mark.parametrize(
    ("text", "words", "offset"),
    [
        ("a2616101616102", "'a' stands twice", 4),
        ("bf616101616102ff", "'a' stands twice", 4),
        ("a1810100", "a key is a CBOR list", 1),
        ("a1a000", "a key is a CBOR map", 1),
        ("c100", "tag", 0),
        ("1c", "no valid CBOR head", 0),
        ("3f", "no valid CBOR head", 0),
        ("5d", "no valid CBOR head", 0),
        ("fc", "no value that CBOR defines", 0),
        ("ff", "no value that CBOR defines", 0),
        ("82ff", "2 entries, 1 bytes are left", 1),
        ("81ff", "no value that CBOR defines", 1),
        ("bf6161ff", "no value that CBOR defines", 3),
        ("5f6161ff", "part of another kind", 1),
        ("5f5f4161ffff", "part of another kind", 1),
        ("7f4161ff", "part of another kind", 1),
        ("61ff", "not UTF-8", 1),
        ("63eda080", "not UTF-8", 1),
        ("7f61c361bcff", "not UTF-8", 2),
        ("fb7ff0000000000000", "inf", 0),
    ],
)
def test_what_no_message_holds_is_refused_with_its_place(
    text: str, words: str, offset: int
) -> None:
    with pytest.raises(MalformedError, match=words) as caught:
        read(bytes.fromhex(text))
    assert caught.value.offset == offset


@pytest.mark.parametrize(
    "text", ["", "18", "19ff", "61", "5f", "5f41", "9f", "9f01", "bf", "bf6161", "fa0000", "f9"]
)
def test_a_cut_item_is_truncated(text: str) -> None:
    with pytest.raises(TruncatedError):
        read(bytes.fromhex(text))


@pytest.mark.parametrize("text", ["9b7fffffffffffffff", "bb7fffffffffffffff", "5b7fffffffffffffff"])
def test_a_length_beyond_the_end_is_refused_before_it_is_believed(text: str) -> None:
    with pytest.raises(TruncatedError):
        read(bytes.fromhex(text) + bytes(100))


def test_a_map_counts_two_bytes_an_entry() -> None:
    with pytest.raises(TruncatedError, match="3 entries, 5 bytes"):
        read(b"\xa3" + b"\x60\x00" * 2 + b"\x60")


def test_bytes_after_the_item_are_refused() -> None:
    with pytest.raises(TrailingBytesError) as caught:
        read(b"\x01\x01")
    assert caught.value.offset == 1


@pytest.mark.parametrize("head", [b"\x81", b"\xa1\x61a", b"\x9f"])
def test_sixty_four_levels_are_the_deepest(head: bytes) -> None:
    end = b"\xff" if head == b"\x9f" else b""
    assert read(head * 64 + b"\x00" + end * 64)
    with pytest.raises(MalformedError, match="deeper than 64") as caught:
        read(head * 65 + b"\x00" + end * 65)
    assert caught.value.offset == 64 * len(head)


def test_keys_of_other_kinds_are_read_unless_text_is_asked_for() -> None:
    raw = bytes.fromhex("a3 01f5 4161f4 20f6")
    assert read(raw) == {1: True, b"a": False, -1: None}
    with pytest.raises(MalformedError, match="a key is a CBOR integer, not text") as caught:
        read(raw, text_keys=True)
    assert caught.value.offset == 1


def test_places_tell_where_values_lie_and_stop_at_a_fault() -> None:
    assert places(bytes.fromhex("a2 6161 1864 6162 820102")) == [
        Place("a", 100, 3, 2),
        Place("b", [1, 2], 7, 3),
    ]
    assert places(bytes.fromhex("bf 6161 01 6162 82")) == [Place("a", 1, 3, 1)]
    assert places(b"\x81\x01") == []
    assert places(b"") == []


def test_every_kind_of_item_has_a_name() -> None:
    items: list[Any] = ["", b"", [], {}, 1, True, None, 1.0]
    assert [kind(one) for one in items] == [
        "text",
        "byte string",
        "list",
        "map",
        "integer",
        "simple value",
        "simple value",
        "simple value",
    ]


def plain(value: Any) -> Any:
    """An item as a vector writes it."""
    match value:
        case bytes():
            return {"$hex": value.hex()}
        case list():
            return [plain(one) for one in value]
        case dict():
            return {str(key): plain(one) for key, one in value.items()}
    return value
