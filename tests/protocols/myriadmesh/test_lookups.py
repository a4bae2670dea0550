import pytest
from msgspec import UNSET, UnsetType

from protocols.myriadmesh.samples import ADAPTERS, PEER
from wireloom.protocols.myriadmesh.bodies import TAKE, put_body
from wireloom.protocols.myriadmesh.constants import LedgerQueryType, MessageType, QueryType
from wireloom.protocols.myriadmesh.lookups import decode_node, encode_node
from wireloom.protocols.myriadmesh.messages import (
    DhtQuery,
    DhtResponse,
    DhtStore,
    LedgerBlock,
    LedgerQuery,
    NodeResult,
    Payload,
    RouteRequest,
    RouteResponse,
)
from wireloom.wire.cursor import Reader
from wireloom.wire.errors import MalformedError, TrailingBytesError, TruncatedError

KEY = bytes(range(32))

FORMS: list[tuple[MessageType, Payload, str]] = [
    (
        MessageType.DHT_QUERY,
        DhtQuery(query_type=QueryType.FIND_ROUTE, key=KEY),
        "03" + KEY.hex(),
    ),
    (MessageType.DHT_RESPONSE, DhtResponse(results=()), "0000"),
    (MessageType.DHT_RESPONSE, DhtResponse(results=(b"ab", b"")), "0002 0002 6162 0000"),
    (
        MessageType.DHT_STORE,
        DhtStore(key=KEY, value=b"ab", ttl=3600),
        KEY.hex() + "0002 6162 00000e10",
    ),
    (
        MessageType.LEDGER_BLOCK,
        LedgerBlock(block_height=7, previous_hash=KEY, merkle_root=b"\x0d" * 32, entries=(b"e",)),
        "00000007" + KEY.hex() + "0d" * 32 + "0001 0001 65",
    ),
    (
        MessageType.LEDGER_QUERY,
        LedgerQuery(query_type=LedgerQueryType.BY_HEIGHT, block_height=7),
        "01 00000007",
    ),
    (
        MessageType.LEDGER_QUERY,
        LedgerQuery(query_type=LedgerQueryType.BY_HASH, block_hash=KEY),
        "02" + KEY.hex(),
    ),
    (MessageType.ROUTE_REQUEST, RouteRequest(dest_node_id=KEY), KEY.hex()),
    (
        MessageType.ROUTE_RESPONSE,
        RouteResponse(dest_node_id=KEY, next_hop=b"\x0f" * 32, hops=3, cost=500),
        KEY.hex() + "0f" * 32 + "03 01f4",
    ),
]


@pytest.mark.parametrize(("type_", "payload", "form"), FORMS)
def test_a_payload_has_its_form_in_both_directions(
    type_: MessageType, payload: Payload, form: str
) -> None:
    raw = bytes.fromhex(form)
    assert put_body(payload) == raw
    reader = Reader(raw)
    assert TAKE[type_](reader) == payload
    reader.finish()


@pytest.mark.parametrize(
    ("type_", "form"),
    [
        (MessageType.DHT_QUERY, "00" * 33),
        (MessageType.DHT_QUERY, "04" + "00" * 32),
        (MessageType.LEDGER_QUERY, "00" * 5),
        (MessageType.LEDGER_QUERY, "03" + "00" * 32),
    ],
)
def test_a_reserved_query_type_is_refused(type_: MessageType, form: str) -> None:
    with pytest.raises(MalformedError, match=r"query_type .* is reserved"):
        TAKE[type_](Reader(bytes.fromhex(form)))


@pytest.mark.parametrize(
    ("query_type", "height", "block_hash"),
    [
        (LedgerQueryType.BY_HEIGHT, UNSET, KEY),
        (LedgerQueryType.BY_HEIGHT, 7, KEY),
        (LedgerQueryType.BY_HEIGHT, UNSET, UNSET),
        (LedgerQueryType.BY_HASH, 7, UNSET),
        (LedgerQueryType.BY_HASH, 7, KEY),
        (LedgerQueryType.BY_HASH, UNSET, UNSET),
    ],
)
def test_a_ledger_query_has_what_its_type_says_and_no_more(
    query_type: LedgerQueryType, height: int | UnsetType, block_hash: bytes | UnsetType
) -> None:
    query = LedgerQuery(query_type=query_type, block_height=height, block_hash=block_hash)
    with pytest.raises(MalformedError, match="block_height or a block_hash"):
        put_body(query)


def test_a_stored_value_has_at_most_65535_bytes() -> None:
    assert len(put_body(DhtStore(key=KEY, value=bytes(65535), ttl=0))) == 32 + 2 + 65535 + 4
    with pytest.raises(MalformedError, match="value_length 65536"):
        put_body(DhtStore(key=KEY, value=bytes(65536), ttl=0))


def test_a_node_comes_back_from_a_result() -> None:
    node = NodeResult(node_id=PEER, adapters=ADAPTERS)
    raw = encode_node(node)
    assert raw.startswith(PEER + b"\x02\x01\x13ipv4:")
    assert decode_node(raw) == node
    assert decode_node(raw).adapter_count == 2


def test_a_result_that_is_no_node_is_refused() -> None:
    with pytest.raises(TruncatedError):
        decode_node(PEER)
    with pytest.raises(TrailingBytesError):
        decode_node(PEER + b"\0\0")
