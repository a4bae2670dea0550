"""Any frame of every type: plain, broadcast, compressed or sealed, signed or not."""

from typing import Any

from hypothesis import strategies as st
from msgspec.structs import replace

from support.strategies import messages_of
from wireloom.protocols.myriadmesh.codec import put_payload
from wireloom.protocols.myriadmesh.compression import deflate
from wireloom.protocols.myriadmesh.constants import (
    BROADCAST_ID,
    CAPABILITY_MASK,
    RESERVED_ID,
    Command,
    Flags,
    LedgerQueryType,
    MessageType,
)
from wireloom.protocols.myriadmesh.messages import (
    TYPES,
    Ack,
    Adapter,
    Control,
    DataBatch,
    Discovery,
    Error,
    Frame,
    Heartbeat,
    LedgerQuery,
    Payload,
    Sealed,
)
from wireloom.wire.message import Message

ADAPTERS = st.lists(messages_of(Adapter, address=st.text(max_size=60)), max_size=3).map(tuple)
COMMANDS = st.sampled_from([command for command in Command if command is not Command.ERROR])
NODE_IDS = st.binary(min_size=32, max_size=32).filter(
    lambda node: node not in (BROADCAST_ID, RESERVED_ID)
)
FREE_FLAGS = st.sampled_from(
    [
        Flags.SIGNED * signed | Flags.RELAY * relayed | Flags.ACK_REQUIRED * wanted
        for signed in (0, 1)
        for relayed in (0, 1)
        for wanted in (0, 1)
    ]
).map(Flags)


@st.composite
def frames(draw: st.DrawFn, payloads: st.SearchStrategy[Any], type_: MessageType) -> Frame:
    """Frames with any of `payloads`."""
    payload: Payload = draw(payloads)
    flags = draw(FREE_FLAGS)
    kind = draw(st.sampled_from([Flags(0), Flags.BROADCAST, Flags.COMPRESSED, Flags.ENCRYPTED]))
    if isinstance(payload, Ack):
        flags |= Flags.ACK
    if kind is Flags.ENCRYPTED:
        payload = Sealed(ciphertext=draw(st.binary(max_size=60)))
    made = draw(
        messages_of(
            Frame,
            flags=st.just(flags | kind),
            message_type=st.just(type_),
            dest_node_id=st.just(BROADCAST_ID) if kind is Flags.BROADCAST else NODE_IDS,
            payload=st.just(payload),
            signature=st.just(draw(st.binary(min_size=64, max_size=64)))
            if Flags.SIGNED in flags
            else st.none(),
            compressed=st.none(),
        )
    )
    if kind is Flags.COMPRESSED:
        plain = put_payload(replace(made, flags=flags))
        made = replace(made, compressed=deflate(plain))
    return made


PAYLOADS: dict[str, st.SearchStrategy[Any]] = {
    **{name: messages_of(cls) for name, cls in TYPES.items() if cls is not DataBatch},
    "CONTROL": messages_of(Control, command=COMMANDS) | messages_of(Error) | messages_of(Ack),
    "DISCOVERY": messages_of(
        Discovery,
        reserved_capabilities=st.integers(0, 2**32 - 1).map(lambda bits: bits & ~CAPABILITY_MASK),
        adapters=ADAPTERS,
    ),
    "HEARTBEAT": messages_of(Heartbeat, load_average=st.integers(0, 65535).map(lambda n: n / 100)),
    "LEDGER_QUERY": st.one_of(
        st.builds(
            LedgerQuery,
            query_type=st.just(LedgerQueryType.BY_HEIGHT),
            block_height=st.integers(0, 2**32 - 1),
        ),
        st.builds(
            LedgerQuery,
            query_type=st.just(LedgerQueryType.BY_HASH),
            block_hash=st.binary(min_size=32, max_size=32),
        ),
    ),
}

_SINGLE = {name: frames(payloads, MessageType[name]) for name, payloads in PAYLOADS.items()}

MESSAGES: dict[str, st.SearchStrategy[Message]] = {
    **_SINGLE,
    "DATA_BATCH": frames(
        st.lists(st.one_of(*_SINGLE.values()), max_size=3).map(
            lambda messages: DataBatch(messages=tuple(messages))
        ),
        MessageType.DATA_BATCH,
    ),
}
