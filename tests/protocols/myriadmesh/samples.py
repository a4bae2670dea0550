"""One frame of every type, and of every kind that matters."""

from typing import Any

from msgspec.structs import replace

from wireloom.protocols.myriadmesh.constants import (
    BROADCAST_ID,
    AckType,
    AdapterType,
    Capability,
    Command,
    ContentType,
    ErrorCode,
    ExchangeType,
    Flags,
    LedgerQueryType,
    QueryType,
    TestType,
)
from wireloom.protocols.myriadmesh.integrity import node_id, sign
from wireloom.protocols.myriadmesh.lookups import encode_node
from wireloom.protocols.myriadmesh.messages import (
    Ack,
    Adapter,
    Control,
    Data,
    DataBatch,
    DhtQuery,
    DhtResponse,
    DhtStore,
    Discovery,
    Error,
    Frame,
    Heartbeat,
    KeyExchange,
    LedgerBlock,
    LedgerQuery,
    NodeResult,
    Payload,
    RouteRequest,
    RouteResponse,
    TestRequest,
    TestResponse,
)
from wireloom.protocols.myriadmesh.sealing import compress, seal_frame
from wireloom.wire.keys import SigningKey
from wireloom.wire.message import Message

KEY = SigningKey(bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"))
"""The key of RFC 8032, section 7.1, test 1."""

SOURCE = node_id(KEY.public)
PEER = b"\x03" * 32
NOW_MS = 1_704_067_200_000


def frame(payload: Payload, /, **changes: Any) -> Frame:
    """An unsigned frame with `payload` from SOURCE to PEER."""
    made = Frame(
        message_type=payload.message_type,
        priority=160,
        ttl=10,
        message_id=b"\x01" * 16,
        source_node_id=SOURCE,
        dest_node_id=PEER,
        timestamp=NOW_MS,
        payload=payload,
    )
    return replace(made, **changes)


DATA = Data(content_type=ContentType.TEXT, data=b"Hello, MyriadMesh!")
ADAPTERS = (
    Adapter(adapter_type=AdapterType.ETHERNET.value, address="ipv4:127.0.0.1:4001"),
    Adapter(adapter_type=0x42, address="späť"),
)
HEARTBEAT = Heartbeat(sequence_number=9, uptime=3600, load_average=1.25)
LONG = frame(Data(content_type=ContentType.RAW, data=bytes(300)))

SAMPLES: dict[str, Message] = {
    "DATA": sign(frame(DATA), KEY),
    "DATA sealed": sign(seal_frame(frame(DATA), b"k" * 32), KEY),
    "DATA compressed": sign(compress(LONG), KEY),
    "DATA compressed and sealed": seal_frame(compress(LONG), b"k" * 32),
    "DATA to all": frame(DATA, flags=Flags.BROADCAST, dest_node_id=BROADCAST_ID),
    "CONTROL": frame(Control(command=Command.PING, parameters=b"abc")),
    "CONTROL error": frame(
        Error(
            error_code=ErrorCode.TTL_EXCEEDED,
            original_message_id=b"\x07" * 16,
            error_description="zu weit für uns",
        )
    ),
    "CONTROL ack": frame(
        Ack(original_message_id=b"\x07" * 16, ack_type=AckType.DELIVERED), flags=Flags.ACK
    ),
    "DHT_QUERY": frame(DhtQuery(query_type=QueryType.FIND_NODE, key=b"\x08" * 32)),
    "DHT_RESPONSE": frame(
        DhtResponse(results=(encode_node(NodeResult(node_id=PEER, adapters=ADAPTERS)), b"", b"x"))
    ),
    "DHT_STORE": frame(DhtStore(key=b"\x08" * 32, value=b"value", ttl=3600)),
    "DISCOVERY": sign(
        frame(
            Discovery(
                public_key=KEY.public,
                capabilities=Capability.RELAY | Capability.CACHE | Capability.VERSION_1,
                reserved_capabilities=0x8000_0010,
                adapters=ADAPTERS,
            ),
            flags=Flags.BROADCAST,
            dest_node_id=BROADCAST_ID,
        ),
        KEY,
    ),
    "HEARTBEAT": frame(HEARTBEAT),
    "KEY_EXCHANGE": frame(
        KeyExchange(
            exchange_type=ExchangeType.INITIATE,
            ephemeral_public_key=b"\x0a" * 32,
            nonce=b"\x0b" * 24,
        )
    ),
    "LEDGER_BLOCK": frame(
        LedgerBlock(
            block_height=7,
            previous_hash=b"\x0c" * 32,
            merkle_root=b"\x0d" * 32,
            entries=(b"first", b"second"),
        )
    ),
    "LEDGER_QUERY": frame(LedgerQuery(query_type=LedgerQueryType.BY_HEIGHT, block_height=7)),
    "LEDGER_QUERY by hash": frame(
        LedgerQuery(query_type=LedgerQueryType.BY_HASH, block_hash=b"\x0c" * 32)
    ),
    "TEST_REQUEST": frame(
        TestRequest(test_type=TestType.THROUGHPUT, test_id=b"\x0e" * 8, test_payload=b"payload")
    ),
    "TEST_RESPONSE": frame(TestResponse(test_id=b"\x0e" * 8, echo_payload=b"payload")),
    "ROUTE_REQUEST": frame(RouteRequest(dest_node_id=PEER)),
    "ROUTE_RESPONSE": frame(
        RouteResponse(dest_node_id=PEER, next_hop=b"\x0f" * 32, hops=3, cost=500)
    ),
    "DATA_BATCH": frame(DataBatch(messages=(sign(frame(DATA), KEY), frame(HEARTBEAT)))),
    "DATA_BATCH compressed": compress(frame(DataBatch(messages=(compress(LONG), LONG, LONG)))),
}
