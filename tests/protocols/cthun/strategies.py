"""Any message of every type."""

import calendar
from typing import Any

from hypothesis import strategies as st

from protocols.cthun.samples import APPLICATION
from support.strategies import messages_of
from wireloom.protocols.cthun.constants import MessageType
from wireloom.protocols.cthun.messages import (
    TYPES,
    DebugChunk,
    Envelope,
    Hop,
    Packet,
)
from wireloom.wire.message import Message


@st.composite
def times(draw: st.DrawFn) -> str:
    """Any time that the calendar has, in any of the forms that are read."""
    year, month = draw(st.integers(1, 9999)), draw(st.integers(1, 12))
    day = draw(st.integers(1, calendar.monthrange(year, month)[1]))
    clock = draw(st.times()).isoformat(timespec="seconds")
    fraction = draw(st.from_regex(r"(\.[0-9]{1,9})?", fullmatch=True))
    zone = draw(st.from_regex(r"Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9]", fullmatch=True))
    return f"{year:04}-{month:02}-{day:02}T{clock}{fraction}{zone}"


DEBUG_CHUNKS = st.lists(
    messages_of(
        DebugChunk, hops=st.none() | st.lists(messages_of(Hop, time=times()), max_size=3).map(tuple)
    ),
    max_size=3,
).map(tuple)


def packets(type_: str, data: st.SearchStrategy[Any]) -> st.SearchStrategy[Packet]:
    """Any packet of one type; flags of a data chunk only where there is one."""
    envelopes = messages_of(Envelope, message_type=st.just(type_), expires=times())
    others = {"envelope": envelopes, "debug_chunks": DEBUG_CHUNKS, "trailing_bytes": st.just(b"")}
    with_data = messages_of(Packet, data=data, **others)
    if type_ in TYPES and type_ != MessageType.ASSOCIATE_REQUEST:
        return with_data
    return with_data | messages_of(Packet, data=st.none(), data_flags=st.just(0), **others)


MESSAGES: dict[str, st.SearchStrategy[Message]] = {
    **{type_: packets(type_, messages_of(cls)) for type_, cls in TYPES.items()},
    APPLICATION: packets(APPLICATION, st.binary(max_size=40)),
}
