"""Any message of every type."""

import calendar
from typing import Any

import msgspec
from hypothesis import strategies as st

from protocols.cthun.samples import APPLICATION
from support.strategies import messages_of
from wireloom.protocols.cthun.constants import MessageType
from wireloom.protocols.cthun.forms import ADDRESS, ID, TARGET, Form
from wireloom.protocols.cthun.messages import TYPES, DebugChunk, Envelope, Hop, Packet
from wireloom.wire.message import Message


def texts(form: Form) -> st.SearchStrategy[str]:
    """Any text of a form."""
    return st.from_regex(form.pattern, fullmatch=True)


def lists(items: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    """Up to three of them."""
    return st.lists(items, max_size=3).map(tuple)


@st.composite
def times(draw: st.DrawFn) -> str:
    """Any time that the calendar has, in any of the forms that are read."""
    year, month = draw(st.integers(1, 9999)), draw(st.integers(1, 12))
    day = draw(st.integers(1, calendar.monthrange(year, month)[1]))
    clock = draw(st.times()).isoformat(timespec="seconds")
    fraction = draw(st.from_regex(r"(\.[0-9]{1,9})?", fullmatch=True))
    zone = draw(st.from_regex(r"Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9]", fullmatch=True))
    return f"{year:04}-{month:02}-{day:02}T{clock}{fraction}{zone}"


HOPS = messages_of(Hop, server=texts(ADDRESS), time=times())
DEBUG_CHUNKS = lists(messages_of(DebugChunk, hops=st.none() | lists(HOPS)))

DATA_FIELDS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    MessageType.ASSOCIATE_REQUEST: {},
    MessageType.ASSOCIATE_RESPONSE: {"id": texts(ID)},
    MessageType.INVENTORY_REQUEST: {"query": lists(texts(TARGET))},
    MessageType.INVENTORY_RESPONSE: {"uris": lists(texts(ADDRESS))},
    MessageType.ERROR_MESSAGE: {"id": st.just(msgspec.UNSET) | texts(ID)},
    MessageType.DESTINATION_REPORT: {"id": texts(ID), "targets": lists(texts(ADDRESS))},
    MessageType.TTL_EXPIRED: {"id": texts(ID)},
}


def envelopes(type_: str) -> st.SearchStrategy[Envelope]:
    """Any envelope of one type."""
    return messages_of(
        Envelope,
        id=texts(ID),
        message_type=st.just(type_),
        expires=times(),
        targets=lists(texts(TARGET)),
        sender=texts(ADDRESS),
        in_reply_to=st.just(msgspec.UNSET) | texts(ID),
    )


def packets(type_: str, data: st.SearchStrategy[Any]) -> st.SearchStrategy[Packet]:
    """Any packet of one type; flags of a data chunk only where there is one."""
    others = {
        "envelope": envelopes(type_),
        "debug_chunks": DEBUG_CHUNKS,
        "trailing_bytes": st.just(b""),
    }
    with_data = messages_of(Packet, data=data, **others)
    if type_ in TYPES and type_ != MessageType.ASSOCIATE_REQUEST:
        return with_data
    return with_data | messages_of(Packet, data=st.none(), data_flags=st.just(0), **others)


MESSAGES: dict[str, st.SearchStrategy[Message]] = {
    **{
        type_: packets(type_, messages_of(cls, **DATA_FIELDS[type_]))
        for type_, cls in TYPES.items()
    },
    APPLICATION: packets(APPLICATION, st.binary(max_size=40)),
}
