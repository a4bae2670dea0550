"""Frames that are joined from pieces are the frames that the codec would write."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Raw
from msgspec.structs import replace

from protocols.signalhub.samples import SAMPLES
from support.strategies import JSON_VALUES, values_of
from wireloom.protocols.signalhub import codec
from wireloom.protocols.signalhub.constants import DeliveryStatus
from wireloom.protocols.signalhub.envelope import Inner, Topic
from wireloom.protocols.signalhub.hub.encodings import JSON, PACKED, Encoding, wire_text
from wireloom.protocols.signalhub.hub.outgoing import (
    UNPORTABLE,
    Forwarding,
    Outgoing,
    Template,
    is_reserved,
    notes_of,
    remaining_ms,
    template,
)
from wireloom.protocols.signalhub.hub.settings import HubSettings
from wireloom.protocols.signalhub.messages import (
    Application,
    DeliveryAck,
    Publish,
    Published,
    Send,
)
from wireloom.protocols.signalhub.metadata import SendMetadata
from wireloom.protocols.signalhub.payloads import (
    DeliveryAckPayload,
    PublishedPayload,
    PublishPayload,
    SendPayload,
)
from wireloom.wire.ids import Ids
from wireloom.wire.session import Turn

HUB, SOURCE, TARGET = "@(hub/é)", '@(a/"quoted)', "@(b/\\)"
CARRIER = "00000000-0000-4000-8000-000000000001"
SETTINGS = HubSettings(secret=b"s" * 16, address=HUB)
TYPES = st.text(st.characters(codec="utf-8"), min_size=1).filter(
    lambda one: not one.startswith("hub:")
)
MARKED = st.sampled_from(["\x7f" * 12, "\x7fto\x7f", "\x7fid\x7f", "\x7ftype\x7f"])
"""Words of an application that look like the places that are filled in."""

NUMBERS = st.integers(1, (1 << 48) - 1)
TIMES = st.integers(0, 1 << 43)
TTLS = st.none() | st.integers(1, 2**40)
IDS = Ids("boot")
OUTGOING = Outgoing(SETTINGS, IDS)


def turn_at(now_ms: int, number: int = 1) -> Turn:
    """A turn in which the next id has this number."""
    IDS.number = number - 1
    return Turn(IDS, now_ms)


def forwarding(payload: object, size: int = 1_048_576) -> Forwarding:
    inner = Inner(type="x", payload=payload)
    message = OUTGOING.forwarded(turn_at(0), "@(a)", inner, CARRIER, ttl=None, notes={})
    return Forwarding(message, size)


def expected(
    number: int, now_ms: int, type_: str, payload: Any, ttl: int | None, **notes: Any
) -> Application:
    return Application(
        id=f"{IDS.prefix}{number:012x}",
        from_=SOURCE,
        to=TARGET,
        pattern="tell",
        correlation_id=None,
        timestamp=now_ms,
        type=type_,
        payload=payload,
        metadata={"forwarded": True, "via": HUB, "originalMessageId": CARRIER, **notes},
        ttl=ttl,
        signature=None,
    )


@pytest.mark.parametrize("encoding", [JSON, PACKED], ids=["json", "packed"])
@pytest.mark.parametrize("answers", [None, CARRIER])
@pytest.mark.parametrize("notes", [{}, {"topic": "{t}", "n": {"deep": {}}}], ids=str)
@given(payload=JSON_VALUES | MARKED, type_=TYPES | MARKED, ttl=TTLS)
def test_a_template_for_someone_is_a_message(
    encoding: Encoding,
    answers: str | None,
    notes: dict[str, Any],
    payload: Any,
    type_: str,
    ttl: int | None,
) -> None:
    inner = Inner(type=type_, payload=payload)
    message = OUTGOING.forwarded(turn_at(5), SOURCE, inner, CARRIER, ttl=ttl, notes=notes)
    made = template(replace(message, correlation_id=answers), encoding)
    address = wire_text(TARGET)[encoding.text]
    raw = made.to(address, 0xABC)
    assert len(raw) == made.size + len(address)
    wanted = expected(0xABC, 5, type_, payload, ttl, **notes)
    assert codec.decode(raw) == replace(wanted, correlation_id=answers)


@pytest.mark.parametrize("first", [0, 1, 0xFFE, 0xFFF, 0x1000, 0xABCDEF, (1 << 48) - 9_000])
@pytest.mark.parametrize("count", [0, 1, 2, 4_097, 9_000])
def test_frames_for_many_are_as_many_frames_for_someone(first: int, count: int) -> None:
    made = Template(b"head-", b"-mid-", b"-tail")
    addresses = [b"%d" % number for number in range(count)]
    assert made.to_each(addresses, first) == [
        made.to(address, number) for number, address in enumerate(addresses, first)
    ]


@given(payload=JSON_VALUES | MARKED, type_=TYPES | MARKED, ttl=TTLS, number=NUMBERS, now_ms=TIMES)
def test_a_message_for_one_is_what_the_codec_writes(
    payload: Any, type_: str, ttl: int | None, number: int, now_ms: int
) -> None:
    sample = SAMPLES["hub:send"]
    assert isinstance(sample, Send)
    inner = Inner(type=type_, payload=payload)
    said = SendPayload(target_address=TARGET, message=inner)
    message = replace(sample, id=CARRIER, timestamp=now_ms, ttl=ttl, payload=said)
    source, to = wire_text(SOURCE)[True], wire_text(TARGET)[True]
    raw = OUTGOING.to_one(turn_at(now_ms, number), source, message, to)
    wanted = expected(number, now_ms, type_, payload, ttl)
    assert raw == JSON.write(wanted)
    assert codec.decode(raw) == wanted


@given(number=NUMBERS, now_ms=TIMES, topic=values_of(Topic), count=st.integers(0, 10**9))
def test_what_a_publisher_is_answered_is_what_the_codec_writes(
    number: int, now_ms: int, topic: str, count: int
) -> None:
    sample = SAMPLES["hub:publish"]
    assert isinstance(sample, Publish)
    said = PublishPayload(topic=topic, message=sample.payload.message)
    message = replace(sample, id=CARRIER, payload=said)
    turn, to = turn_at(now_ms, number), wire_text(SOURCE)[True]
    assert OUTGOING.published(turn, to, message, count) == codec.encode(
        Published(
            id=f"{IDS.prefix}{number:012x}",
            from_=HUB,
            to=SOURCE,
            pattern="tell",
            correlation_id=CARRIER,
            timestamp=now_ms,
            payload=PublishedPayload(topic=topic, subscriber_count=count),
            metadata={},
            ttl=None,
            signature=None,
        )
    )


@pytest.mark.parametrize("status", DeliveryStatus)
@given(number=NUMBERS, now_ms=TIMES)
def test_a_receipt_is_what_the_codec_writes(
    status: DeliveryStatus, number: int, now_ms: int
) -> None:
    turn, to = turn_at(now_ms, number), wire_text(SOURCE)[True]
    assert OUTGOING.receipt(turn, to, CARRIER, status) == codec.encode(
        DeliveryAck(
            id=f"{IDS.prefix}{number:012x}",
            from_=HUB,
            to=SOURCE,
            pattern="tell",
            correlation_id=CARRIER,
            timestamp=now_ms,
            payload=DeliveryAckPayload(message_id=CARRIER, delivered_at=now_ms, status=status),
            metadata={},
            ttl=None,
            signature=None,
        )
    )


@pytest.mark.parametrize(
    ("type_", "reserved"), [("hub:", True), ("hub:send", True), ("hub", False), ("a:hub:b", False)]
)
def test_types_of_the_hub_are_reserved(type_: str, reserved: bool) -> None:
    assert is_reserved(Inner(type=type_, payload=None)) is reserved


def test_only_trace_and_priority_are_noted() -> None:
    assert notes_of(UNSET) == notes_of(SendMetadata(require_ack=True)) == {}
    assert notes_of(SendMetadata(trace_id="t")) == {"traceId": "t"}
    assert notes_of(SendMetadata(priority=2, trace_id="t")) == {"traceId": "t", "priority": 2}


def test_what_is_left_is_never_nothing() -> None:
    assert remaining_ms(None, 5) is None
    assert remaining_ms(9, 5) == 4
    assert remaining_ms(5, 5) == 1


def test_a_template_is_written_once_in_each_encoding() -> None:
    one = forwarding({"n": 1})
    assert one.template(text=True) is one.template(text=True) is not None
    assert one.template(text=False) is one.template(text=False) is not None
    assert one.template(text=True) != one.template(text=False)


def test_a_template_that_cannot_be_written_is_none() -> None:
    one = forwarding(2**70)
    assert one.template(text=True) is not None
    assert one.template(text=False) is None
    assert one.template(text=False) is None


def test_a_template_leaves_room_for_the_longest_address() -> None:
    size = forwarding("").template(text=True)
    assert size is not None
    exact = size.size + 512
    assert forwarding("", exact).template(text=True) is not None
    assert forwarding("", exact - 1).template(text=True) is None


def test_what_an_encoding_has_not_got_is_refused() -> None:
    inner = Inner(type="x", payload=[2**64])
    message = OUTGOING.forwarded(turn_at(0), "@(a)", inner, CARRIER, ttl=None, notes={})
    assert template(message, JSON).size > 0
    with pytest.raises(UNPORTABLE):
        template(message, PACKED)


def test_a_raw_value_is_written_as_it_is_in_both_encodings() -> None:
    assert PACKED.write([Raw(b"\x7f")]) == b"\x91\x7f"
    assert JSON.write([Raw(b"\x7f")]) == b"[\x7f]"
