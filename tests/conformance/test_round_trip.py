"""What every protocol owes its messages: out and back again, the same."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.cases import ALL, TYPES, Case
from support.wild import wilder
from wireloom.wire.errors import WireError
from wireloom.wire.message import Message
from wireloom.wire.plain import to_plain

protocols = pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
types = pytest.mark.parametrize(
    ("case", "type_"), TYPES, ids=[f"{case.name}-{type_}" for case, type_ in TYPES]
)
few = settings(max_examples=settings().max_examples // 4)


@protocols
def test_every_type_has_a_sample_and_a_strategy(case: Case) -> None:
    types = set(case.protocol.messages.TYPES)
    assert types <= set(case.samples)
    assert types <= set(case.strategies)


@types
@few
@given(data=st.data())
def test_decode_gives_back_what_was_encoded(case: Case, type_: str, data: st.DataObject) -> None:
    message = data.draw(case.strategies[type_])
    assert_round_trip(case, message)


@protocols
def test_samples_come_back(case: Case) -> None:
    for message in case.samples.values():
        assert_round_trip(case, message)


@types
@few
@given(data=st.data())
def test_plain_fields_make_the_same_message(case: Case, type_: str, data: st.DataObject) -> None:
    message = data.draw(case.strategies[type_])
    raw = case.protocol.codec.encode(message)
    decoded = case.protocol.codec.decode(raw)
    summary = case.protocol.record.summarise(decoded, raw)
    fields = json.loads(json.dumps(to_plain(decoded), allow_nan=False))
    again = case.protocol.record.from_fields(summary.type, fields)
    assert case.protocol.codec.encode(again) == raw


@types
@few
@given(data=st.data())
def test_encode_refuses_what_decode_refuses(case: Case, type_: str, data: st.DataObject) -> None:
    message = wilder(data, data.draw(case.strategies[type_]))
    try:
        raw = case.protocol.codec.encode(message)
    except WireError:
        return
    case.protocol.codec.decode(raw)


@protocols
def test_spans_cover_a_good_frame(case: Case) -> None:
    for message in case.samples.values():
        raw = case.protocol.codec.encode(message)
        spans = case.protocol.codec.spans(raw)
        assert spans
        assert all(s.offset >= 0 and s.offset + s.size <= len(raw) for s in spans)
        assert [s.offset for s in spans] == sorted(s.offset for s in spans)


def assert_round_trip(case: Case, message: Message) -> None:
    raw = case.protocol.codec.encode(message)
    decoded = case.protocol.codec.decode(raw)
    assert decoded == message
    assert case.protocol.codec.encode(decoded) == raw
