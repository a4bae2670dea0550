"""The payloads that look things up (table, ledger, routes) and their bytes.

```
DHT_QUERY       query_type 1 | key 32
DHT_RESPONSE    count 2 | count × (length 2, result)
  a node        node_id 32 | count 1 | count × (type 1, length 1, address)
DHT_STORE       key 32 | length 2 | value | ttl 4
LEDGER_BLOCK    height 4 | previous_hash 32 | merkle_root 32 | count 2 | count × (length 2, entry)
LEDGER_QUERY    query_type 1 | height 4 or hash 32
ROUTE_REQUEST   dest_node_id 32
ROUTE_RESPONSE  dest_node_id 32 | next_hop 32 | hops 1 | cost 2
```
"""

from typing import Final

from msgspec import UNSET

from wireloom.protocols.myriadmesh.constants import (
    HASH_SIZE,
    KEY_SIZE,
    NODE_ID_SIZE,
    LedgerQueryType,
    QueryType,
)
from wireloom.protocols.myriadmesh.parts import (
    codes,
    put_adapters,
    put_blobs,
    put_code,
    take_adapters,
    take_blobs,
    take_code,
)
from wireloom.protocols.myriadmesh.payloads import (
    DhtQuery,
    DhtResponse,
    DhtStore,
    LedgerBlock,
    LedgerQuery,
    NodeResult,
    RouteRequest,
    RouteResponse,
)
from wireloom.wire.cursor import Reader, Writer
from wireloom.wire.errors import MalformedError

_QUERY_TYPES: Final = codes(QueryType)
_LEDGER_QUERY_TYPES: Final = codes(LedgerQueryType)


def take_dht_query(reader: Reader) -> DhtQuery:
    """The payload of a DHT_QUERY."""
    return DhtQuery(
        query_type=take_code(reader, _QUERY_TYPES, "payload.query_type"),
        key=reader.take(KEY_SIZE, "payload.key"),
    )


def put_dht_query(writer: Writer, payload: DhtQuery) -> None:
    """The mirror of `take_dht_query`."""
    put_code(writer, payload.query_type, QueryType, "query_type")
    writer.put(payload.key, "key", size=KEY_SIZE)


def take_dht_response(reader: Reader) -> DhtResponse:
    """The payload of a DHT_RESPONSE."""
    return DhtResponse(results=take_blobs(reader, "payload.result_count", "payload.results[]"))


def put_dht_response(writer: Writer, payload: DhtResponse) -> None:
    """The mirror of `take_dht_response`."""
    put_blobs(writer, payload.results, "result_count")


def take_dht_store(reader: Reader) -> DhtStore:
    """The payload of a DHT_STORE."""
    return DhtStore(
        key=reader.take(KEY_SIZE, "payload.key"),
        value=reader.take(reader.u16("payload.value_length"), "payload.value"),
        ttl=reader.u32("payload.ttl"),
    )


def put_dht_store(writer: Writer, payload: DhtStore) -> None:
    """The mirror of `take_dht_store`."""
    writer.put(payload.key, "key", size=KEY_SIZE)
    writer.u16(len(payload.value), "value_length")
    writer.put(payload.value, "value")
    writer.u32(payload.ttl, "ttl")


def take_ledger_block(reader: Reader) -> LedgerBlock:
    """The payload of a LEDGER_BLOCK."""
    return LedgerBlock(
        block_height=reader.u32("payload.block_height"),
        previous_hash=reader.take(HASH_SIZE, "payload.previous_hash"),
        merkle_root=reader.take(HASH_SIZE, "payload.merkle_root"),
        entries=take_blobs(reader, "payload.entry_count", "payload.entries[]"),
    )


def put_ledger_block(writer: Writer, payload: LedgerBlock) -> None:
    """The mirror of `take_ledger_block`."""
    writer.u32(payload.block_height, "block_height")
    writer.put(payload.previous_hash, "previous_hash", size=HASH_SIZE)
    writer.put(payload.merkle_root, "merkle_root", size=HASH_SIZE)
    put_blobs(writer, payload.entries, "entry_count")


def take_ledger_query(reader: Reader) -> LedgerQuery:
    """The payload of a LEDGER_QUERY (R18)."""
    query_type = take_code(reader, _LEDGER_QUERY_TYPES, "payload.query_type")
    if query_type is LedgerQueryType.BY_HEIGHT:
        return LedgerQuery(query_type=query_type, block_height=reader.u32("payload.block_height"))
    return LedgerQuery(
        query_type=query_type, block_hash=reader.take(HASH_SIZE, "payload.block_hash")
    )


def put_ledger_query(writer: Writer, payload: LedgerQuery) -> None:
    """The mirror of `take_ledger_query`."""
    put_code(writer, payload.query_type, LedgerQueryType, "query_type")
    height, block_hash = payload.block_height, payload.block_hash
    by_height = payload.query_type is LedgerQueryType.BY_HEIGHT
    if by_height and height is not UNSET and block_hash is UNSET:
        writer.u32(height, "block_height")
    elif not by_height and height is UNSET and block_hash is not UNSET:
        writer.put(block_hash, "block_hash", size=HASH_SIZE)
    else:
        raise MalformedError("a ledger query has a block_height or a block_hash, by its type")


def take_route_request(reader: Reader) -> RouteRequest:
    """The payload of a ROUTE_REQUEST (R18)."""
    return RouteRequest(dest_node_id=reader.take(NODE_ID_SIZE, "payload.dest_node_id"))


def put_route_request(writer: Writer, payload: RouteRequest) -> None:
    """The mirror of `take_route_request`."""
    writer.put(payload.dest_node_id, "dest_node_id", size=NODE_ID_SIZE)


def take_route_response(reader: Reader) -> RouteResponse:
    """The payload of a ROUTE_RESPONSE (R18)."""
    return RouteResponse(
        dest_node_id=reader.take(NODE_ID_SIZE, "payload.dest_node_id"),
        next_hop=reader.take(NODE_ID_SIZE, "payload.next_hop"),
        hops=reader.u8("payload.hops"),
        cost=reader.u16("payload.cost"),
    )


def put_route_response(writer: Writer, payload: RouteResponse) -> None:
    """The mirror of `take_route_response`."""
    writer.put(payload.dest_node_id, "dest_node_id", size=NODE_ID_SIZE)
    writer.put(payload.next_hop, "next_hop", size=NODE_ID_SIZE)
    writer.u8(payload.hops, "hops")
    writer.u16(payload.cost, "cost")


def take_node(reader: Reader) -> NodeResult:
    """A node in a DHT_RESPONSE (R18)."""
    return NodeResult(
        node_id=reader.take(NODE_ID_SIZE, "payload.node_id"), adapters=take_adapters(reader)
    )


def put_node(writer: Writer, node: NodeResult) -> None:
    """The mirror of `take_node`."""
    writer.put(node.node_id, "node_id", size=NODE_ID_SIZE)
    put_adapters(writer, node.adapters)


def decode_node(result: bytes) -> NodeResult:
    """The node in a result of a DHT_RESPONSE, which other results need not be.

    Raises:
        WireError: If it is no node.
    """
    reader = Reader(result)
    node = take_node(reader)
    reader.finish()
    return node


def encode_node(node: NodeResult) -> bytes:
    """A node as a result for a DHT_RESPONSE.

    Raises:
        WireError: If `decode_node` would refuse it.
    """
    writer = Writer()
    put_node(writer, node)
    return writer.finish()
