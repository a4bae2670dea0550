"""Frames that are spliced are the frames that the codec would write."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.strategies import JSON_VALUES
from wireloom.protocols.signalhub import codec
from wireloom.protocols.signalhub.hub.dialects import (
    JSON,
    PACKED,
    Content,
    Dialect,
    Letter,
    written,
)
from wireloom.protocols.signalhub.messages import Application

PREFIX = b"00000000-0000-8000-8000-"
TYPES = st.text(st.characters(codec="utf-8"), min_size=1).filter(
    lambda one: not one.startswith("hub:")
)
CARRIER = "00000000-0000-4000-8000-000000000001"


@pytest.mark.parametrize("dialect", [JSON, PACKED], ids=["json", "packed"])
@pytest.mark.parametrize("answers", [None, CARRIER])
@pytest.mark.parametrize("notes", [{}, {"topic": "{t}", "n": {"deep": {}}}], ids=str)
@given(payload=JSON_VALUES, type_=TYPES, ttl=st.none() | st.integers(1, 2**40))
def test_a_letter_to_someone_is_a_message(
    dialect: Dialect,
    answers: str | None,
    notes: dict[str, Any],
    payload: Any,
    type_: str,
    ttl: int | None,
) -> None:
    source, target, hub = '@(a/"é)', "@(b/\\)", "@(hub)"
    content = Content(type_, payload, answers, 5, ttl, written(hub), CARRIER, notes)
    letter = dialect.letter(PREFIX, written(source), content)
    address = written(target)[dialect.text]
    raw = letter.to(address, 0xABC)
    assert len(raw) == letter.size + len(address)
    assert codec.decode(raw) == Application(
        id="00000000-0000-8000-8000-000000000abc",
        from_=source,
        to=target,
        pattern="tell",
        correlation_id=answers,
        timestamp=5,
        type=type_,
        payload=payload,
        metadata={"forwarded": True, "via": hub, "originalMessageId": CARRIER, **notes},
        ttl=ttl,
        signature=None,
    )


@pytest.mark.parametrize("first", [0, 1, 0xFFE, 0xFFF, 0x1000, 0xABCDEF, (1 << 48) - 9_000])
@pytest.mark.parametrize("count", [0, 1, 2, 4_097, 9_000])
def test_letters_to_many_are_as_many_letters_to_someone(first: int, count: int) -> None:
    letter = Letter(b"head-", b"-mid-", b"-tail")
    addresses = [b"%d" % number for number in range(count)]
    assert letter.to_each(addresses, first) == [
        letter.to(address, number) for number, address in enumerate(addresses, first)
    ]


def test_a_text_is_written_in_both_encodings() -> None:
    assert written("@(é)") == (b"\xa5@(\xc3\xa9)", b'"@(\xc3\xa9)"')
    assert written("@(é)")[JSON.text] == JSON.write("@(é)")
    assert written("@(é)")[PACKED.text] == PACKED.write("@(é)")
