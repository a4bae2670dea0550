"""What a MyriadMesh frame can carry, fields in wire order."""

from typing import Annotated, ClassVar, Final

from msgspec import UNSET, Meta, UnsetType

from wireloom.protocols.myriadmesh.constants import (
    LOAD_SCALE,
    MAX_ADAPTERS,
    MAX_ADDRESS_SIZE,
    AckType,
    AdapterType,
    Capability,
    Command,
    ContentType,
    ErrorCode,
    ExchangeType,
    LedgerQueryType,
    MessageType,
    QueryType,
    TestType,
)
from wireloom.wire.fields import U8, U16, U32, Bytes8, Bytes16, Bytes24, Bytes32
from wireloom.wire.message import Message

Blobs = Annotated[tuple[bytes, ...], Meta(max_length=0xFFFF, extra={"size": "n × (2 B + …)"})]
"""Opaque items, each behind its length (R18)."""

_ADAPTER_NAMES: Final = {int(adapter): adapter.name for adapter in AdapterType}


class Payload(Message, frozen=True, kw_only=True):
    """What a frame of some type carries."""

    message_type: ClassVar[MessageType]
    """The type whose frames carry it; a `Sealed` has none of its own."""


class Sealed(Payload, frozen=True, kw_only=True):
    """The payload of an encrypted frame, of whatever type, until `sealing.open` opens it."""

    ciphertext: bytes
    """XSalsa20-Poly1305: a 16-byte tag and as many bytes as the payload has."""


class Data(Payload, frozen=True, kw_only=True):
    """An application's message."""

    message_type: ClassVar[MessageType] = MessageType.DATA

    content_type: ContentType
    """What `data` is; only the application looks whether that is true (R29)."""

    data: bytes
    """The application's bytes."""


class Control(Payload, frozen=True, kw_only=True):
    """A command between nodes, other than ERROR."""

    message_type: ClassVar[MessageType] = MessageType.CONTROL

    command: Command
    """PING, PONG, ROUTE_UPDATE or NODE_STATUS."""

    parameters: bytes = b""
    """Opaque; a PONG echoes those of its PING (R19)."""


class Error(Payload, frozen=True, kw_only=True):
    """A CONTROL with the command ERROR: a message was not served."""

    message_type: ClassVar[MessageType] = MessageType.CONTROL
    command: ClassVar[Command] = Command.ERROR
    derived: ClassVar[tuple[str, ...]] = ("command",)

    error_code: ErrorCode
    """Why."""

    original_message_id: Bytes16
    """The message in question."""

    error_description: str = ""
    """For a person."""


class Ack(Payload, frozen=True, kw_only=True):
    """A CONTROL frame with the ACK flag: an acknowledgement, which has no command byte."""

    message_type: ClassVar[MessageType] = MessageType.CONTROL

    original_message_id: Bytes16
    """The message that is acknowledged."""

    ack_type: AckType
    """How far it came."""


class DhtQuery(Payload, frozen=True, kw_only=True):
    """Looks something up in the distributed hash table."""

    message_type: ClassVar[MessageType] = MessageType.DHT_QUERY

    query_type: QueryType
    """What to find."""

    key: Bytes32
    """Where to look."""


class DhtResponse(Payload, frozen=True, kw_only=True):
    """What a DHT_QUERY found."""

    message_type: ClassVar[MessageType] = MessageType.DHT_RESPONSE
    derived: ClassVar[tuple[str, ...]] = ("result_count",)

    results: Blobs
    """Nodes (see `NodeResult`), values or routes, by what was asked."""

    @property
    def result_count(self) -> int:
        """How many results there are."""
        return len(self.results)


class DhtStore(Payload, frozen=True, kw_only=True):
    """Stores a value in the distributed hash table."""

    message_type: ClassVar[MessageType] = MessageType.DHT_STORE
    derived: ClassVar[tuple[str, ...]] = ("value_length",)

    key: Bytes32
    """Under what."""

    value: Annotated[bytes, Meta(max_length=0xFFFF)]
    """What, at most 65,535 bytes."""

    ttl: U32
    """For how long, in seconds."""

    @property
    def value_length(self) -> int:
        """How many bytes the value has."""
        return len(self.value)


class Adapter(Message, frozen=True, kw_only=True):
    """One way to reach a node."""

    derived: ClassVar[tuple[str, ...]] = ("adapter_name", "address_length")

    adapter_type: U8
    """The adapter's kind as a plain number, see `AdapterType`; those without a name are kept."""

    address: Annotated[str, Meta(max_length=MAX_ADDRESS_SIZE, extra={"size": "n B, UTF-8"})]
    """Kind and place, as in `ipv4:192.0.2.1:4001`; at most 255 bytes (R30)."""

    @property
    def adapter_name(self) -> str:
        """The kind's name, UNKNOWN for a number that has none."""
        return _ADAPTER_NAMES.get(self.adapter_type, AdapterType.UNKNOWN.name)

    @property
    def address_length(self) -> int:
        """How many bytes the address has."""
        return len(self.address.encode(errors="surrogatepass"))


class Discovery(Payload, frozen=True, kw_only=True):
    """A node tells its key, its abilities and how to reach it."""

    message_type: ClassVar[MessageType] = MessageType.DISCOVERY
    derived: ClassVar[tuple[str, ...]] = ("adapter_count",)

    public_key: Bytes32
    """Ed25519; its hash must be the frame's source."""

    capabilities: Capability = Capability(0)
    """What the node can do and which versions it speaks."""

    reserved_capabilities: U32 = 0
    """Bits 4 to 7 and 16 to 31 of the same four bytes: 0 when composing, kept when receiving."""

    adapters: Annotated[tuple[Adapter, ...], Meta(max_length=MAX_ADAPTERS)] = ()
    """Ways to reach the node, at most 255."""

    @property
    def adapter_count(self) -> int:
        """How many adapters there are."""
        return len(self.adapters)


class NodeResult(Message, frozen=True, kw_only=True):
    """A node as a result in a DHT_RESPONSE."""

    derived: ClassVar[tuple[str, ...]] = ("adapter_count",)

    node_id: Bytes32
    """The node."""

    adapters: Annotated[tuple[Adapter, ...], Meta(max_length=MAX_ADAPTERS)] = ()
    """Ways to reach it, at most 255."""

    @property
    def adapter_count(self) -> int:
        """How many adapters there are."""
        return len(self.adapters)


class Heartbeat(Payload, frozen=True, kw_only=True):
    """A node is alive; the only type that needs no signature, and proves little without (R21)."""

    message_type: ClassVar[MessageType] = MessageType.HEARTBEAT

    sequence_number: U32
    """Counts the sender's heartbeats."""

    uptime: U32
    """In seconds."""

    load_average: Annotated[float, Meta(ge=0, le=0xFFFF / LOAD_SCALE, extra={"size": "2 B, ×100"})]
    """0 to 655.35, in hundredths."""


class KeyExchange(Payload, frozen=True, kw_only=True):
    """One step of an X25519 key exchange."""

    message_type: ClassVar[MessageType] = MessageType.KEY_EXCHANGE

    exchange_type: ExchangeType
    """Which step."""

    ephemeral_public_key: Bytes32
    """X25519; in a CONFIRM the confirmation stands in its place (R26)."""

    nonce: Bytes24
    """Random, and echoed by the answers."""


class LedgerBlock(Payload, frozen=True, kw_only=True):
    """A block of the ledger."""

    message_type: ClassVar[MessageType] = MessageType.LEDGER_BLOCK
    derived: ClassVar[tuple[str, ...]] = ("entry_count",)

    block_height: U32
    """The block's place in the chain."""

    previous_hash: Bytes32
    """The hash of the block before."""

    merkle_root: Bytes32
    """The root over the entries, not checked here."""

    entries: Blobs
    """Opaque entries."""

    @property
    def entry_count(self) -> int:
        """How many entries there are."""
        return len(self.entries)


class LedgerQuery(Payload, frozen=True, kw_only=True):
    """Asks for a block, by its height or by its hash."""

    message_type: ClassVar[MessageType] = MessageType.LEDGER_QUERY

    query_type: LedgerQueryType
    """Which of the two follows."""

    block_height: U32 | UnsetType = UNSET
    """The block's place in the chain; only with BY_HEIGHT."""

    block_hash: Bytes32 | UnsetType = UNSET
    """The block's hash; only with BY_HASH."""


class TestRequest(Payload, frozen=True, kw_only=True):
    """Asks for an echo, to measure a link."""

    __test__: ClassVar[bool] = False
    message_type: ClassVar[MessageType] = MessageType.TEST_REQUEST
    derived: ClassVar[tuple[str, ...]] = ("payload_size",)

    test_type: TestType
    """What is measured."""

    test_id: Bytes8
    """Chosen by the asker and echoed."""

    test_payload: Annotated[bytes, Meta(max_length=0xFFFF)]
    """What is to be echoed."""

    @property
    def payload_size(self) -> int:
        """How many bytes are to be echoed."""
        return len(self.test_payload)


class TestResponse(Payload, frozen=True, kw_only=True):
    """The echo of a TEST_REQUEST."""

    __test__: ClassVar[bool] = False
    message_type: ClassVar[MessageType] = MessageType.TEST_RESPONSE

    test_id: Bytes8
    """From the request."""

    echo_payload: bytes
    """From the request."""


class RouteRequest(Payload, frozen=True, kw_only=True):
    """Asks for a route."""

    message_type: ClassVar[MessageType] = MessageType.ROUTE_REQUEST

    dest_node_id: Bytes32
    """Where it should lead."""


class RouteResponse(Payload, frozen=True, kw_only=True):
    """A route, in answer to a ROUTE_REQUEST."""

    message_type: ClassVar[MessageType] = MessageType.ROUTE_RESPONSE

    dest_node_id: Bytes32
    """Where it leads."""

    next_hop: Bytes32
    """The node to hand frames to."""

    hops: U8
    """How many hops it takes."""

    cost: U16
    """The smaller the better."""
