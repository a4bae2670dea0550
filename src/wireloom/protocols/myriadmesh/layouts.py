"""Where the fields of payloads lie, for frames that are read a whole batch at a time.

The layouts are those of `bodies` and `lookups`, as far as one rule gives every field's place:
fixed fields, and at most one whose size is what the payload has beyond them. A frame that no
layout fits is not wrong; the codec reads it, or says what is wrong with it.
"""

from enum import IntEnum
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from wireloom.protocols.myriadmesh.constants import (
    EXCHANGE_NONCE_SIZE,
    HASH_SIZE,
    KEY_SIZE,
    MESSAGE_ID_SIZE,
    NODE_ID_SIZE,
    TEST_ID_SIZE,
    AckType,
    Command,
    ContentType,
    ErrorCode,
    ExchangeType,
    LedgerQueryType,
    MessageType,
    QueryType,
    TestType,
)
from wireloom.protocols.myriadmesh.header import (
    ACK,
    BROADCAST,
    COMPRESSED,
    ENCRYPTED,
    RESERVED,
)
from wireloom.wire.batch import Array

_ENUMS: Final[tuple[type[IntEnum], ...]] = (
    ContentType,
    Command,
    ErrorCode,
    AckType,
    QueryType,
    LedgerQueryType,
    ExchangeType,
    TestType,
)
_NAMES: Final = [member.name for enum in _ENUMS for member in enum]

NAMES: Final = pa.array(_NAMES, pa.string())
"""The names of all codes; a `Code` gives the place of its own."""

NO_NAME: Final = 255
"""What stands for a code that is reserved."""

OPEN: Final = -1
"""The size of a field that takes what the others leave."""


class Bytes(NamedTuple):
    """Bytes, shown as hex."""

    name: str
    at: int
    size: int = OPEN


class Text(NamedTuple):
    """Text, as long as the others leave room for."""

    name: str
    at: int
    size: int = OPEN


class Number(NamedTuple):
    """An unsigned number, big-endian; one before the payload's end has a negative place."""

    name: str
    at: int
    size: int


class Count(NamedTuple):
    """Two bytes that say how long the open field is."""

    name: str
    at: int
    size: int = 2


class Load(NamedTuple):
    """A load average in hundredths."""

    name: str
    at: int
    size: int = 2


class Code(NamedTuple):
    """A member of an enum, shown by its name."""

    name: str
    at: int
    enum: type[IntEnum]
    size: int = 1


Field = Bytes | Text | Number | Count | Load | Code


class Layout(NamedTuple):
    """One kind of payload."""

    fixed: int
    """Bytes of all fields but the open one."""

    fields: tuple[Field, ...]

    @property
    def open(self) -> bool:
        """Whether there may be more bytes than the fixed ones."""
        return any(field.size == OPEN for field in self.fields)


_ID: Final = MESSAGE_ID_SIZE

LAYOUTS: Final[dict[str, Layout]] = {
    "sealed": Layout(0, (Bytes("ciphertext", 0),)),
    "DATA": Layout(1, (Code("content_type", 0, ContentType), Bytes("data", 1))),
    "CONTROL": Layout(1, (Code("command", 0, Command), Bytes("parameters", 1))),
    "error": Layout(
        3 + _ID,
        (
            Code("command", 0, Command),
            Code("error_code", 1, ErrorCode, 2),
            Bytes("original_message_id", 3, _ID),
            Text("error_description", 3 + _ID),
        ),
    ),
    "ack": Layout(_ID + 1, (Bytes("original_message_id", 0, _ID), Code("ack_type", _ID, AckType))),
    "DHT_QUERY": Layout(
        1 + KEY_SIZE, (Code("query_type", 0, QueryType), Bytes("key", 1, KEY_SIZE))
    ),
    "DHT_STORE": Layout(
        KEY_SIZE + 6,
        (
            Bytes("key", 0, KEY_SIZE),
            Count("value_length", KEY_SIZE),
            Bytes("value", KEY_SIZE + 2),
            Number("ttl", -4, 4),
        ),
    ),
    "HEARTBEAT": Layout(
        10, (Number("sequence_number", 0, 4), Number("uptime", 4, 4), Load("load_average", 8))
    ),
    "KEY_EXCHANGE": Layout(
        1 + KEY_SIZE + EXCHANGE_NONCE_SIZE,
        (
            Code("exchange_type", 0, ExchangeType),
            Bytes("ephemeral_public_key", 1, KEY_SIZE),
            Bytes("nonce", 1 + KEY_SIZE, EXCHANGE_NONCE_SIZE),
        ),
    ),
    "LEDGER_QUERY": Layout(
        5, (Code("query_type", 0, LedgerQueryType), Number("block_height", 1, 4))
    ),
    "by hash": Layout(
        1 + HASH_SIZE,
        (Code("query_type", 0, LedgerQueryType), Bytes("block_hash", 1, HASH_SIZE)),
    ),
    "TEST_REQUEST": Layout(
        3 + TEST_ID_SIZE,
        (
            Code("test_type", 0, TestType),
            Bytes("test_id", 1, TEST_ID_SIZE),
            Count("payload_size", 1 + TEST_ID_SIZE),
            Bytes("test_payload", 3 + TEST_ID_SIZE),
        ),
    ),
    "TEST_RESPONSE": Layout(
        TEST_ID_SIZE, (Bytes("test_id", 0, TEST_ID_SIZE), Bytes("echo_payload", TEST_ID_SIZE))
    ),
    "ROUTE_REQUEST": Layout(NODE_ID_SIZE, (Bytes("dest_node_id", 0, NODE_ID_SIZE),)),
    "ROUTE_RESPONSE": Layout(
        2 * NODE_ID_SIZE + 3,
        (
            Bytes("dest_node_id", 0, NODE_ID_SIZE),
            Bytes("next_hop", NODE_ID_SIZE, NODE_ID_SIZE),
            Number("hops", 2 * NODE_ID_SIZE, 1),
            Number("cost", 2 * NODE_ID_SIZE + 1, 2),
        ),
    ),
}
"""By the type's name where a frame of that type has it unless a flag or its first byte says
otherwise."""

_KINDS: Final = {name: number for number, name in enumerate(LAYOUTS, start=1)}

BY_KIND: Final = dict(enumerate(LAYOUTS.values(), start=1))
"""A kind is the number of a layout; 0 is none."""

BRANCHES: Final = (
    (_KINDS["CONTROL"], int(Command.ERROR), _KINDS["error"]),
    (_KINDS["LEDGER_QUERY"], int(LedgerQueryType.BY_HASH), _KINDS["by hash"]),
)
"""Kinds that become another one if the payload begins with this byte."""


def _kind(type_: MessageType, bits: int) -> int:
    """The kind of a frame by its header, 0 where the codec has to look at it."""
    broken = bits & RESERVED or (bits & ACK and type_ is not MessageType.CONTROL)
    if broken or (bits & BROADCAST and bits & ENCRYPTED):
        return 0
    if bits & ENCRYPTED:
        return _KINDS["sealed"]
    if bits & COMPRESSED:
        return 0
    return _KINDS["ack"] if bits & ACK else _KINDS.get(type_.name, 0)


def _kinds() -> Array:
    table = np.zeros((256, 256), np.uint8)
    for type_ in MessageType:
        table[type_] = [_kind(type_, bits) for bits in range(256)]
    return table.reshape(-1)


KIND_OF: Final = _kinds()
"""The kind by type × 256 + flags."""


def _places(enum: type[IntEnum]) -> Array:
    table = np.full(256, NO_NAME, np.uint8)
    first = sum(len(one) for one in _ENUMS[: _ENUMS.index(enum)])
    for place, member in enumerate(enum, start=first):
        table[member] = place
    return table


PLACES: Final = {enum: _places(enum) for enum in _ENUMS}
"""The place in `NAMES` of each code below 256, or `NO_NAME`."""


def _columns() -> dict[str, dict[int, Field]]:
    columns: dict[str, dict[int, Field]] = {}
    for kind, layout in BY_KIND.items():
        for field in layout.fields:
            columns.setdefault(field.name, {})[kind] = field
    return columns


COLUMNS: Final = _columns()
"""The fields of each name, by kind; they are of one class and differ in place, size and enum."""
