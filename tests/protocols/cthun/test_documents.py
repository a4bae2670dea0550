"""What the JSON in chunks may be, and what it may not."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.cthun.samples import CONTROLLER, EXPIRES, GREETING, ID
from wireloom.protocols.cthun.constants import MessageType
from wireloom.protocols.cthun.documents import DATA, DEBUG, ENVELOPE, Notes
from wireloom.protocols.cthun.messages import (
    AssociateResponse,
    DestinationReport,
    ErrorMessage,
    InventoryRequest,
    InventoryResponse,
    TtlExpired,
)
from wireloom.wire.errors import MalformedError

PLAIN: dict[str, Any] = {
    "id": ID,
    "message_type": "greeting",
    "expires": EXPIRES,
    "targets": ["cth:///server"],
    "sender": CONTROLLER,
}
HOP = {"server": "cth:///server", "time": EXPIRES}


def envelope(**changes: Any) -> bytes:
    return json.dumps(PLAIN | changes).encode()


def refusal(content: bytes, *, base: int = 0) -> MalformedError:
    with pytest.raises(MalformedError) as caught:
        ENVELOPE.take(content, base=base)
    return caught.value


@pytest.mark.parametrize("name", list(PLAIN))
def test_every_field_but_the_optional_ones_is_required(name: str) -> None:
    plain = {key: value for key, value in PLAIN.items() if key != name}
    detail = refusal(json.dumps(plain).encode()).detail
    assert detail == f"envelope: Object missing required field `{name}`"


def test_unknown_fields_are_refused_by_name() -> None:
    assert "unknown field `reply_to`" in refusal(envelope(reply_to=ID)).detail
    assert "unknown field `in_reply_to`" in refusal(envelope(in_reply_to=ID)).detail


def test_a_refusal_stays_short_whatever_was_sent() -> None:
    assert len(refusal(envelope(**{"x" * 100_000: 1})).detail) < 300


@pytest.mark.parametrize(
    "changes",
    [
        {"id": None},
        {"id": 5},
        {"targets": "cth:///server"},
        {"targets": [1]},
        {"destination_report": "true"},
        {"destination_report": 1},
        {"destination_report": None},
        {"in-reply-to": None},
    ],
)
def test_a_value_of_another_type_is_refused_with_its_path(changes: dict[str, Any]) -> None:
    assert f"envelope.{next(iter(changes))}" in refusal(envelope(**changes)).detail


@pytest.mark.parametrize(
    "id_",
    [
        "",
        ID[:-1],
        ID + "0",
        ID + "\n",
        " " + ID,
        ID.replace("-", ""),
        "{" + ID + "}",
        "urn:uuid:" + ID,
        ID.replace("5", "g"),
        ID.replace("5", "٥"),
    ],
)
def test_an_id_is_a_uuid_in_full(id_: str) -> None:
    assert refusal(envelope(id=id_)).detail == "envelope.id is not a UUID"
    assert "envelope.in-reply-to is not a UUID" in refusal(envelope(**{"in-reply-to": id_})).detail


@pytest.mark.parametrize("id_", [ID.upper(), "00000000-0000-0000-0000-000000000000"])
def test_a_uuid_of_any_version_and_case_is_kept_as_written(id_: str) -> None:
    assert ENVELOPE.take(envelope(id=id_)).id == id_


@pytest.mark.parametrize("type_", ["", "a", "http://puppetlabs.com/x_y-z.v1:2", "9"])
def test_a_message_type_has_letters_digits_and_some_marks(type_: str) -> None:
    assert ENVELOPE.take(envelope(message_type=type_)).message_type == type_


@pytest.mark.parametrize("type_", ["a b", "a\n", "a\0", "a\r\nb", "é", "a*", "a?b", "\\"])
def test_a_message_type_with_any_other_character_is_refused(type_: str) -> None:
    assert (
        "envelope.message_type has other characters" in refusal(envelope(message_type=type_)).detail
    )


def test_targets_may_have_wildcards_and_may_be_none_at_all() -> None:
    assert ENVELOPE.take(envelope(targets=[])).targets == ()
    wild = ("cth://*/agent", "cth://a/*", "cth://*/*")
    assert ENVELOPE.take(envelope(targets=wild)).targets == wild


@pytest.mark.parametrize(
    "uri",
    ["", "cth://*x/agent", "cth:///agent", "cth:///*", "cth://a/b\n", "cth://a/b/c", "pcp://a/b"],
)
def test_a_target_that_is_no_uri_is_refused_with_its_index(uri: str) -> None:
    detail = refusal(envelope(targets=["cth:///server", uri])).detail
    assert detail == "envelope.targets[1] is not a Cthun URI"


@pytest.mark.parametrize("uri", ["cth://*/agent", "cth://a/*", "", "cth:///agent", "cth://a/b\n"])
def test_a_sender_is_one_node(uri: str) -> None:
    detail = refusal(envelope(sender=uri)).detail
    assert detail == "envelope.sender is not the Cthun URI of one node"


def test_a_time_of_wrong_form_and_a_day_in_no_calendar_are_refused() -> None:
    assert "is not an ISO 8601 time" in refusal(envelope(expires="2015-04-27")).detail
    error = refusal(envelope(expires="2015-02-29T00:00:00Z"), base=6)
    assert error.detail.startswith("envelope.expires '2015-02-29T00:00:00Z' is no date")
    assert error.offset == 6


@pytest.mark.parametrize(
    ("content", "what", "offset"),
    [
        (b"", "not JSON: Expecting value", 0),
        (b"{", "not JSON", 1),
        (b'{"id":"\xff"}', "not UTF-8: invalid start byte", 7),
        (b'{"id":"\xed\xa0\x80"}', "not UTF-8", 7),
        (b"{} {}", "Object missing required field", 0),
        (b'\xef\xbb\xbf{"id":1}', "not JSON", 0),
        (b"[]", "Expected `object`, got `array`", 0),
        (b"[" * 5000, "Expected `object`, got `array`", 0),
        (b'{"id":' + b"[" * 5000, "envelope.id: Expected `str`, got `array`", 0),
        (b'{"x":' + b"[" * 5000, "unknown field `x`", 0),
        (b'{"id":"\\ud800"}', "envelope: ", 0),
    ],
)
def test_what_is_not_json_of_the_schema_is_refused(content: bytes, what: str, offset: int) -> None:
    error = refusal(content, base=100)
    assert what in error.detail
    assert error.offset == 100 + offset


def test_bytes_after_the_document_are_refused() -> None:
    compact = ENVELOPE.put(GREETING)
    assert "Extra data" in refusal(compact + b"{}").detail


def test_white_space_escapes_and_key_order_are_read() -> None:
    compact = ENVELOPE.take(ENVELOPE.put(GREETING))
    fields = msgspec.json.decode(ENVELOPE.put(GREETING))
    spaced = json.dumps(dict(reversed(fields.items())), indent=3).replace("cth:", "\\u0063th:")
    assert ENVELOPE.take(spaced.replace("/", "\\/").encode()) == compact


@pytest.mark.parametrize("key", ["id", "sender", "targets", "destination_report", "expires"])
@pytest.mark.parametrize("space", [b"", b" "])
def test_a_key_that_stands_twice_is_refused(key: str, space: bytes) -> None:
    compact = ENVELOPE.put(GREETING)
    value = msgspec.json.encode(msgspec.json.decode(compact)[key])
    content = compact[:-1] + b',"' + key.encode() + b'":' + space + value + b"}"
    assert f"key '{key}' stands twice" in refusal(content).detail


@given(st.text(max_size=30), st.text(max_size=30))
def test_no_text_is_written_longer_than_it_can_be_read(first: str, second: str) -> None:
    """What the cheap test for double keys rests on."""
    shortest = json.dumps({"description": first}, ensure_ascii=False, separators=(",", ":"))
    document = DATA[MessageType.ERROR_MESSAGE]
    assert len(document.put(ErrorMessage(description=first))) <= len(shortest.encode())
    twice = shortest[:-1] + ',"description":' + json.dumps(second, ensure_ascii=False) + "}"
    with pytest.raises(MalformedError, match="stands twice"):
        document.take(twice.encode())


@pytest.mark.parametrize(
    "changes",
    [
        {"id": "\ud800"},
        {"id": 2**70},
        {"message_type": float("nan")},
        {"targets": None},
        {"targets": ("x",)},
        {"sender": object()},
        {"sender": None},
        {"destination_report": 2},
        {"in_reply_to": None},
        {"expires": "2015-13-01T00:00:00Z"},
    ],
)
def test_put_refuses_what_take_refuses(changes: dict[str, Any]) -> None:
    with pytest.raises(MalformedError, match="envelope"):
        ENVELOPE.put(msgspec.structs.replace(GREETING, **changes))


def test_put_refuses_another_document_and_endless_nesting() -> None:
    with pytest.raises(MalformedError, match="envelope is NoneType, not Envelope"):
        ENVELOPE.put(None)
    nested: list[Any] = []
    nested.append(nested)
    endless: Any = msgspec.structs.replace(GREETING, targets=nested)
    with pytest.raises(MalformedError, match="cannot be written"):
        ENVELOPE.put(endless)


@pytest.mark.parametrize(
    "hops",
    [
        None,
        {},
        [{}],
        [{"server": "cth:///server"}],
        [{"time": EXPIRES}],
        [HOP | {"more": 1}],
        [HOP | {"stage": 1}],
        [HOP | {"stage": None}],
        [HOP | {"server": "cth://*/server"}],
        [HOP | {"time": "now"}],
        [HOP, HOP | {"time": "2015-04-31T00:00:00Z"}],
    ],
)
def test_debug_refuses_hops_that_break_the_schema(hops: Any) -> None:
    with pytest.raises(MalformedError, match="debug"):
        DEBUG.take(json.dumps({"hops": hops}).encode())


@pytest.mark.parametrize("content", [b"{}", b'{"hops":[],"more":1}', b'{"hops":[],"hops":[]}'])
def test_debug_has_hops_and_nothing_else(content: bytes) -> None:
    with pytest.raises(MalformedError, match="debug"):
        DEBUG.take(content)


def test_debug_accepts_any_word_for_a_stage_and_none() -> None:
    content = json.dumps({"hops": [HOP, HOP | {"stage": "anything\n"}]}).encode()
    notes = DEBUG.take(content)
    assert [hop.stage for hop in notes.hops] == [msgspec.UNSET, "anything\n"]
    assert DEBUG.take(DEBUG.put(notes)) == notes
    assert DEBUG.put(Notes(hops=())) == b'{"hops":[]}'


GOOD: dict[MessageType, tuple[bytes, Any]] = {
    MessageType.ASSOCIATE_RESPONSE: (
        b'{"id":"%b","success":true}' % ID.encode(),
        AssociateResponse(id=ID, success=True),
    ),
    MessageType.INVENTORY_REQUEST: (
        b'{"query":["cth://*/*"]}',
        InventoryRequest(query=("cth://*/*",)),
    ),
    MessageType.INVENTORY_RESPONSE: (
        b'{"uris":["cth:///server"]}',
        InventoryResponse(uris=("cth:///server",)),
    ),
    MessageType.ERROR_MESSAGE: (b'{"description":""}', ErrorMessage(description="")),
    MessageType.DESTINATION_REPORT: (
        b'{"id":"%b","targets":[]}' % ID.encode(),
        DestinationReport(id=ID, targets=()),
    ),
    MessageType.TTL_EXPIRED: (b'{"id":"%b"}' % ID.encode(), TtlExpired(id=ID)),
}


@pytest.mark.parametrize("type_", list(GOOD))
def test_data_of_the_broker_is_a_closed_object(type_: MessageType) -> None:
    content, message = GOOD[type_]
    assert DATA[type_].take(content) == message
    assert DATA[type_].put(message) == content
    for bad in (b"{}", b"[]", b"null", b'"x"', content[:-1] + b',"more":1}', content[:-1]):
        with pytest.raises(MalformedError, match="data"):
            DATA[type_].take(bad)


@pytest.mark.parametrize(
    ("type_", "data"),
    [
        (MessageType.ASSOCIATE_RESPONSE, {"id": ID, "success": "yes"}),
        (MessageType.ASSOCIATE_RESPONSE, {"id": "x", "success": True}),
        (MessageType.INVENTORY_REQUEST, {"query": "cth://*/agent"}),
        (MessageType.INVENTORY_RESPONSE, {"uris": ["cth://*/agent"]}),
        (MessageType.DESTINATION_REPORT, {"id": ID, "targets": ["cth://*/agent"]}),
        (MessageType.ERROR_MESSAGE, {"id": "x", "description": ""}),
        (MessageType.ERROR_MESSAGE, {"id": ID, "description": None}),
    ],
)
def test_data_of_the_broker_has_the_types_of_its_schema(type_: MessageType, data: Any) -> None:
    with pytest.raises(MalformedError, match=r"data\."):
        DATA[type_].take(json.dumps(data).encode())
