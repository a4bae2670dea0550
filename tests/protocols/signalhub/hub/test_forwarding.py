"""What recipients get, by itself."""

import pytest
from msgspec import UNSET

from wireloom.protocols.signalhub.envelope import Inner
from wireloom.protocols.signalhub.hub.desk import Desk
from wireloom.protocols.signalhub.hub.dialects import JSON, PACKED, written
from wireloom.protocols.signalhub.hub.forwarding import (
    UNPORTABLE,
    Forwarding,
    content,
    is_reserved,
    noted,
    remaining_ms,
)
from wireloom.protocols.signalhub.hub.settings import HubSettings
from wireloom.protocols.signalhub.metadata import (
    SendMetadata,
)
from wireloom.wire.ids import Ids

ID = "00000000-0000-4000-8000-000000000001"


def forwarding(payload: object, size: int = 1_048_576) -> Forwarding:
    desk = Desk(HubSettings(secret=b"s" * 16, max_message_size=size), Ids("boot"))
    about = content(desk, Inner(type="x", payload=payload), ID, None, {})
    return Forwarding(desk, written("@(a)"), about)


@pytest.mark.parametrize(
    ("type_", "reserved"), [("hub:", True), ("hub:send", True), ("hub", False), ("a:hub:b", False)]
)
def test_types_of_the_hub_are_reserved(type_: str, reserved: bool) -> None:
    assert is_reserved(Inner(type=type_, payload=None)) is reserved


def test_only_trace_and_priority_are_noted() -> None:
    assert noted(UNSET) == noted(SendMetadata(require_ack=True)) == {}
    assert noted(SendMetadata(trace_id="t")) == {"traceId": "t"}
    assert noted(SendMetadata(priority=2, trace_id="t")) == {"traceId": "t", "priority": 2}


def test_what_is_left_is_never_nothing() -> None:
    assert remaining_ms(None, 5) is None
    assert remaining_ms(9, 5) == 4
    assert remaining_ms(5, 5) == 1


def test_a_letter_is_written_once_in_each_encoding() -> None:
    one = forwarding({"n": 1})
    assert one.letter(text=True) is one.letter(text=True) is not None
    assert one.letter(text=False) is one.letter(text=False) is not None
    assert one.letter(text=True) != one.letter(text=False)


def test_a_letter_that_cannot_be_written_is_none() -> None:
    one = forwarding(2**70)
    assert one.letter(text=True) is not None
    assert one.letter(text=False) is None
    assert one.letter(text=False) is None


def test_a_letter_leaves_room_for_the_longest_address() -> None:
    size = forwarding("").letter(text=True)
    assert size is not None
    exact = size.size + 512
    assert forwarding("", exact).letter(text=True) is not None
    assert forwarding("", exact - 1).letter(text=True) is None


def test_what_an_encoding_has_not_got_is_refused() -> None:
    desk = Desk(HubSettings(secret=b"s" * 16), Ids("boot"))
    about = content(desk, Inner(type="x", payload=[2**64]), ID, None, {})
    assert JSON.letter(desk.id_head, written("@(a)"), about).size > 0
    with pytest.raises(UNPORTABLE):
        PACKED.letter(desk.id_head, written("@(a)"), about)
