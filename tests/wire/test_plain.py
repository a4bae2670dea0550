"""Messages as JSON values and back."""

import json
from enum import IntEnum, IntFlag, StrEnum
from typing import Any, ClassVar, Literal

import msgspec
import pytest
from hypothesis import given

from support.strategies import messages_of
from wireloom.wire.errors import MalformedError
from wireloom.wire.message import Message
from wireloom.wire.plain import from_plain, to_plain


class Colour(IntEnum):
    RED = 1
    DARK_BLUE = 2


class Status(StrEnum):
    ALL_WELL = "all well"


class Caps(IntFlag):
    CAN_RELAY = 1
    CAN_CACHE = 2


class Part(Message, frozen=True, kw_only=True):
    hash: bytes


class Sample(Message, frozen=True, kw_only=True):
    derived: ClassVar[tuple[str, ...]] = ("count",)

    from_: str
    pattern: Literal["tell", "ask"]
    nothing: None
    status: Status
    colour: Colour
    caps: Caps
    parts: tuple[Part, ...]
    score: float
    flags: dict[str, str]
    maybe: Part | None = None
    absent: int | None | msgspec.UnsetType = msgspec.UNSET
    extra: dict[str, object] = {}
    anything: Any = None

    @property
    def count(self) -> int:
        return len(self.parts)


SAMPLE = Sample(
    from_="me",
    pattern="ask",
    nothing=None,
    status=Status.ALL_WELL,
    colour=Colour.DARK_BLUE,
    caps=Caps.CAN_RELAY | Caps.CAN_CACHE,
    parts=(Part(hash=b"\1\2"),),
    score=0.5,
    flags={"a": "b"},
    extra={"new": b"\3", "list": [b"\4", {"deep": b""}]},
    anything=[1, {"x": b"\5"}],
)
PLAIN = {
    "from": "me",
    "pattern": "ask",
    "nothing": None,
    "status": "all well",
    "colour": "DARK_BLUE",
    "caps": ["can_relay", "can_cache"],
    "parts": [{"hash": "0102"}],
    "score": 0.5,
    "flags": {"a": "b"},
    "maybe": None,
    "extra": {"new": {"$hex": "03"}, "list": [{"$hex": "04"}, {"deep": {"$hex": ""}}]},
    "anything": [1, {"x": {"$hex": "05"}}],
    "count": 1,
}


def test_the_plain_form() -> None:
    assert to_plain(SAMPLE) == PLAIN


def test_the_way_back() -> None:
    assert from_plain(Sample, json.loads(json.dumps(PLAIN))) == SAMPLE


@given(messages_of(Sample))
def test_any_message_comes_back(message: Sample) -> None:
    assert from_plain(Sample, json.loads(json.dumps(to_plain(message)))) == message


@pytest.mark.parametrize(
    "value",
    [{"$hex": "00"}, {"$map": {}}, {"$map": {"$hex": b""}}, [{"$hex": 1}], {"$hex": {"$map": 1}}],
)
def test_objects_that_look_like_marked_bytes_stay_objects(value: Any) -> None:
    sample = msgspec.structs.replace(SAMPLE, anything=value, extra={"x": value})
    assert from_plain(Sample, json.loads(json.dumps(to_plain(sample)))) == sample


def test_messages_within_the_fields_are_taken_as_they_are() -> None:
    part = Part(hash=b"x")
    assert from_plain(Sample, {**PLAIN, "maybe": part}).maybe is part


def test_a_flag_that_is_named_twice_counts_once() -> None:
    assert from_plain(Sample, {**PLAIN, "caps": ["can_relay"] * 2}).caps is Caps.CAN_RELAY


def test_an_integer_serves_as_a_number() -> None:
    assert from_plain(Sample, {**PLAIN, "score": 1}).score == 1.0


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"pattern": "whisper"}, "fields.pattern cannot be 'whisper': choose one of "),
        ({"status": "ALL_WELL"}, "fields.status cannot be"),
        ({"anything": {"$map": []}}, r"\$map must be an object"),
        ({"nothing": 1}, "fields.nothing must be"),
        ({"absent": {}}, "fields.absent must be int, not dict"),
        ({"colour": "GREEN"}, "cannot be 'GREEN': choose one of RED"),
        ({"colour": ["RED"]}, "fields.colour cannot be"),
        ({"caps": ["can_fly"]}, "fields.caps cannot be .*: choose one of .*can_relay"),
        ({"caps": "can_relay"}, "fields.caps must be a list"),
        ({"parts": {}}, "fields.parts must be a list"),
        ({"parts": ["x"]}, r"fields.parts\[0\] must be an object"),
        (
            {"parts": [{"hash": "0g"}]},
            "hash cannot be '0g': bytes are written in hex",
        ),
        ({"parts": [{}]}, r"fields.parts\[0\].hash is missing"),
        ({"score": "high"}, "fields.score must be float, not str"),
        ({"score": True}, "fields.score must be float, not bool"),
        ({"flags": []}, "fields.flags must be an object"),
        ({"flags": {"a": 1}}, "fields.flags.a must be str, not int"),
        ({"from": None}, "fields.from must be str, not NoneType"),
        ({"count": 2}, "fields.count contradicts"),
        ({"colours": 1}, "fields.colours is not a field of Sample"),
        ({"extra": {"new": {"$hex": "0"}}}, "cannot be '0'"),
    ],
)
def test_what_does_not_fit_is_named(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(MalformedError, match=words):
        from_plain(Sample, {**PLAIN, **changes})


def test_only_an_object_is_a_message() -> None:
    with pytest.raises(MalformedError, match="fields must be an object"):
        from_plain(Sample, [])
