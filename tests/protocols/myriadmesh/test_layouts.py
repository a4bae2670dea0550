"""The tables by which payloads are read a batch at a time."""

import pytest

from wireloom.protocols.myriadmesh.constants import ContentType, Flags, LedgerQueryType, MessageType
from wireloom.protocols.myriadmesh.layouts import (
    BRANCHES,
    BY_KIND,
    COLUMNS,
    KIND_OF,
    LAYOUTS,
    NAMES,
    NO_NAME,
    OPEN,
    PLACES,
)


def kind(type_: int, flags: int = 0) -> int:
    return int(KIND_OF[type_ << 8 | flags])


def test_a_plain_frame_has_the_layout_of_its_type() -> None:
    assert BY_KIND[kind(MessageType.DATA)] is LAYOUTS["DATA"]
    assert BY_KIND[kind(MessageType.HEARTBEAT, Flags.SIGNED)] is LAYOUTS["HEARTBEAT"]
    assert BY_KIND[kind(MessageType.CONTROL, Flags.ACK)] is LAYOUTS["ack"]


@pytest.mark.parametrize("type_", MessageType)
def test_an_encrypted_frame_is_sealed_whatever_its_type_and_compression(type_: MessageType) -> None:
    assert BY_KIND[kind(type_, Flags.ENCRYPTED)] is LAYOUTS["sealed"]
    assert BY_KIND[kind(type_, Flags.ENCRYPTED | Flags.COMPRESSED)] is LAYOUTS["sealed"]


@pytest.mark.parametrize(
    ("type_", "flags"),
    [
        (MessageType.DATA, Flags.RESERVED),
        (MessageType.DATA, Flags.ACK),
        (MessageType.DATA, Flags.ACK | Flags.ENCRYPTED),
        (MessageType.DATA, Flags.COMPRESSED),
        (MessageType.DATA, Flags.BROADCAST | Flags.ENCRYPTED),
        (MessageType.DATA_BATCH, Flags(0)),
        (MessageType.DISCOVERY, Flags(0)),
        (0x00, Flags(0)),
        (0x10, Flags.ENCRYPTED),
        (0xFF, Flags(0)),
    ],
)
def test_what_is_out_of_the_ordinary_has_no_layout(type_: int, flags: Flags) -> None:
    assert kind(type_, flags) == 0


def test_the_first_byte_tells_kinds_of_one_type_apart() -> None:
    names = dict(enumerate(LAYOUTS, start=1))
    assert [(names[kind], byte, names[other]) for kind, byte, other in BRANCHES] == [
        ("CONTROL", 5, "error"),
        ("LEDGER_QUERY", 2, "by hash"),
    ]


@pytest.mark.parametrize("name", LAYOUTS)
def test_fields_fill_the_fixed_part_of_a_layout(name: str) -> None:
    layout = LAYOUTS[name]
    opened = [field for field in layout.fields if field.size == OPEN]
    assert layout.open == bool(opened)
    assert len(opened) <= 1
    assert sum(field.size for field in layout.fields if field.size != OPEN) == layout.fixed


def test_every_code_has_the_place_of_its_name() -> None:
    for enum, places in PLACES.items():
        assert {
            code: NAMES[place].as_py() for code, place in enumerate(places) if place != NO_NAME
        } == {int(member): member.name for member in enum}
    assert PLACES[ContentType][5] == NO_NAME
    assert len(NAMES) < NO_NAME


def test_no_enum_uses_the_code_that_larger_ones_are_cut_to() -> None:
    assert all(places[255] == NO_NAME for places in PLACES.values())


def test_columns_gather_the_fields_of_one_name() -> None:
    kinds = {name: number for number, name in enumerate(LAYOUTS, start=1)}
    assert set(COLUMNS["original_message_id"]) == {kinds["error"], kinds["ack"]}
    assert COLUMNS["query_type"][kinds["LEDGER_QUERY"]].enum is LedgerQueryType  # type: ignore[union-attr]


def test_fields_of_one_column_are_of_one_class() -> None:
    for fields in COLUMNS.values():
        assert len({type(field) for field in fields.values()}) == 1
