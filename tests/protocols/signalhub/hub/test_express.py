"""What is joined from parts is what is written otherwise."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.strategies import JSON_VALUES, values_of
from wireloom.protocols.signalhub import codec
from wireloom.protocols.signalhub.constants import DeliveryStatus
from wireloom.protocols.signalhub.envelope import Inner, Topic
from wireloom.protocols.signalhub.hub.dialects import JSON, Content, written
from wireloom.protocols.signalhub.hub.express import Express
from wireloom.protocols.signalhub.messages import DeliveryAck, Published
from wireloom.protocols.signalhub.payloads import (
    DeliveryAckPayload,
    PublishedPayload,
)

HUB, SOURCE, TARGET = "@(hub/é)", '@(a/"quoted)', "@(b/\\)"
PREFIX = "00000000-0000-8000-8000-"
CARRIER = "00000000-0000-4000-8000-000000000001"
EXPRESS = Express(written(HUB)[True], PREFIX.encode())
NUMBERS = st.integers(1, (1 << 48) - 1)
TIMES = st.integers(0, 1 << 43)


@given(
    payload=JSON_VALUES,
    type_=st.text(st.characters(codec="utf-8"), min_size=1),
    ttl=st.none() | st.integers(1, 2**40),
    number=NUMBERS,
    now_ms=TIMES,
)
def test_a_message_for_one_is_a_letter_to_one(
    payload: Any, type_: str, ttl: int | None, number: int, now_ms: int
) -> None:
    EXPRESS.at(now_ms)
    source, to = written(SOURCE)[True], written(TARGET)[True]
    inner = Inner(type=type_, payload=payload)
    raw = EXPRESS.message(number, source, to, inner, CARRIER.encode(), ttl)
    about = Content(type_, payload, None, now_ms, ttl, written(HUB), CARRIER, {})
    assert raw == JSON.letter(PREFIX.encode(), written(SOURCE), about).to(to, number)


@given(number=NUMBERS, now_ms=TIMES, topic=values_of(Topic), count=st.integers(0, 10**9))
def test_what_a_publisher_hears_is_what_the_codec_writes(
    number: int, now_ms: int, topic: str, count: int
) -> None:
    EXPRESS.at(now_ms)
    to = written(SOURCE)[True]
    assert EXPRESS.published(number, to, CARRIER.encode(), topic.encode(), count) == codec.encode(
        Published(
            id=f"{PREFIX}{number:012x}",
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
    EXPRESS.at(now_ms)
    raw = EXPRESS.receipt(number, written(SOURCE)[True], CARRIER.encode(), status)
    assert raw == codec.encode(
        DeliveryAck(
            id=f"{PREFIX}{number:012x}",
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
