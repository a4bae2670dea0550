"""Payloads and their bytes, big-endian throughout; frames and batches are the codec's.

```
DATA           content_type 1 | data
CONTROL        command 1 | parameters
  ERROR        command 1 | error_code 2 | original_message_id 16 | description
  flag ACK     original_message_id 16 | ack_type 1
DISCOVERY      public_key 32 | capabilities 4 | count 1 | count × (type 1, length 1, address)
HEARTBEAT      sequence_number 4 | uptime 4 | load_average 2
KEY_EXCHANGE   exchange_type 1 | ephemeral_public_key 32 | nonce 24
TEST_REQUEST   test_type 1 | test_id 8 | length 2 | payload
TEST_RESPONSE  test_id 8 | payload
```
"""

from collections.abc import Callable
from typing import Any, Final

from wireloom.protocols.myriadmesh import lookups
from wireloom.protocols.myriadmesh.constants import (
    CAPABILITY_MASK,
    EXCHANGE_NONCE_SIZE,
    KEY_SIZE,
    LOAD_SCALE,
    MESSAGE_ID_SIZE,
    TEST_ID_SIZE,
    AckType,
    Capability,
    Command,
    ContentType,
    ErrorCode,
    ExchangeType,
    MessageType,
    TestType,
)
from wireloom.protocols.myriadmesh.parts import (
    codes,
    put_adapters,
    put_code,
    take_adapters,
    take_code,
    utf8,
)
from wireloom.protocols.myriadmesh.payloads import (
    Ack,
    Control,
    Data,
    DhtQuery,
    DhtResponse,
    DhtStore,
    Discovery,
    Error,
    Heartbeat,
    KeyExchange,
    LedgerBlock,
    LedgerQuery,
    Payload,
    RouteRequest,
    RouteResponse,
    Sealed,
    TestRequest,
    TestResponse,
)
from wireloom.wire.cursor import Reader, Writer
from wireloom.wire.errors import MalformedError

_CONTENT_TYPES: Final = {bytes([member]): member for member in ContentType}
_COMMANDS: Final = codes(Command)
_ERROR_CODES: Final = codes(ErrorCode)
_ACK_TYPES: Final = codes(AckType)
_EXCHANGE_TYPES: Final = codes(ExchangeType)
_TEST_TYPES: Final = codes(TestType)
_MAX_LOAD: Final = 0xFFFF / LOAD_SCALE


def take_data(reader: Reader) -> Data:
    """The payload of a DATA."""
    code = reader.take(1, "payload.content_type")
    content_type = _CONTENT_TYPES.get(code)
    if content_type is None:
        offset = reader.offset - 1
        raise MalformedError(f"content_type 0x{code.hex()} is reserved", offset=offset)
    return Data(content_type=content_type, data=reader.rest("payload.data"))


def put_data(writer: Writer, payload: Data) -> None:
    """The mirror of `take_data`."""
    put_code(writer, payload.content_type, ContentType, "content_type")
    writer.put(payload.data, "data")


def take_control(reader: Reader) -> Control | Error:
    """The payload of a CONTROL that is not an acknowledgement."""
    command = take_code(reader, _COMMANDS, "payload.command")
    if command is Command.ERROR:
        return take_error(reader)
    return Control(command=command, parameters=reader.rest("payload.parameters"))


def put_control(writer: Writer, payload: Control) -> None:
    """The mirror of `take_control`."""
    if payload.command is Command.ERROR:
        raise MalformedError("a CONTROL with the command ERROR has to be an Error")
    put_code(writer, payload.command, Command, "command")
    writer.put(payload.parameters, "parameters")


def take_error(reader: Reader) -> Error:
    """What follows the command ERROR."""
    return Error(
        error_code=take_code(reader, _ERROR_CODES, "payload.error_code", size=2),
        original_message_id=reader.take(MESSAGE_ID_SIZE, "payload.original_message_id"),
        error_description=reader.text(reader.remaining, "payload.error_description"),
    )


def put_error(writer: Writer, payload: Error) -> None:
    """The mirror of `take_error`, and the command."""
    put_code(writer, payload.command, Command, "command")
    put_code(writer, payload.error_code, ErrorCode, "error_code", size=2)
    writer.put(payload.original_message_id, "original_message_id", size=MESSAGE_ID_SIZE)
    writer.put(utf8(payload.error_description, "error_description"), "error_description")


def take_ack(reader: Reader) -> Ack:
    """The payload of a CONTROL with the ACK flag (R17)."""
    return Ack(
        original_message_id=reader.take(MESSAGE_ID_SIZE, "payload.original_message_id"),
        ack_type=take_code(reader, _ACK_TYPES, "payload.ack_type"),
    )


def put_ack(writer: Writer, payload: Ack) -> None:
    """The mirror of `take_ack`."""
    writer.put(payload.original_message_id, "original_message_id", size=MESSAGE_ID_SIZE)
    put_code(writer, payload.ack_type, AckType, "ack_type")


def take_discovery(reader: Reader) -> Discovery:
    """The payload of a DISCOVERY."""
    public_key = reader.take(KEY_SIZE, "payload.public_key")
    bits = reader.u32("payload.capabilities")
    return Discovery(
        public_key=public_key,
        capabilities=Capability(bits & CAPABILITY_MASK),
        reserved_capabilities=bits & ~CAPABILITY_MASK,
        adapters=take_adapters(reader),
    )


def put_discovery(writer: Writer, payload: Discovery) -> None:
    """The mirror of `take_discovery`."""
    if payload.capabilities & ~CAPABILITY_MASK or payload.reserved_capabilities & CAPABILITY_MASK:
        raise MalformedError("capabilities and reserved_capabilities name bits of each other")
    writer.put(payload.public_key, "public_key", size=KEY_SIZE)
    writer.u32(payload.capabilities | payload.reserved_capabilities, "capabilities")
    put_adapters(writer, payload.adapters)


def take_heartbeat(reader: Reader) -> Heartbeat:
    """The payload of a HEARTBEAT."""
    return Heartbeat(
        sequence_number=reader.u32("payload.sequence_number"),
        uptime=reader.u32("payload.uptime"),
        load_average=reader.u16("payload.load_average") / LOAD_SCALE,
    )


def put_heartbeat(writer: Writer, payload: Heartbeat) -> None:
    """The mirror of `take_heartbeat`."""
    load = payload.load_average
    if not 0 <= load <= _MAX_LOAD:
        raise MalformedError(f"load_average {load} is not from 0 to {_MAX_LOAD}")
    writer.u32(payload.sequence_number, "sequence_number")
    writer.u32(payload.uptime, "uptime")
    writer.u16(round(load * LOAD_SCALE), "load_average")


def take_key_exchange(reader: Reader) -> KeyExchange:
    """The payload of a KEY_EXCHANGE."""
    return KeyExchange(
        exchange_type=take_code(reader, _EXCHANGE_TYPES, "payload.exchange_type"),
        ephemeral_public_key=reader.take(KEY_SIZE, "payload.ephemeral_public_key"),
        nonce=reader.take(EXCHANGE_NONCE_SIZE, "payload.nonce"),
    )


def put_key_exchange(writer: Writer, payload: KeyExchange) -> None:
    """The mirror of `take_key_exchange`."""
    put_code(writer, payload.exchange_type, ExchangeType, "exchange_type")
    writer.put(payload.ephemeral_public_key, "ephemeral_public_key", size=KEY_SIZE)
    writer.put(payload.nonce, "nonce", size=EXCHANGE_NONCE_SIZE)


def take_test_request(reader: Reader) -> TestRequest:
    """The payload of a TEST_REQUEST."""
    return TestRequest(
        test_type=take_code(reader, _TEST_TYPES, "payload.test_type"),
        test_id=reader.take(TEST_ID_SIZE, "payload.test_id"),
        test_payload=reader.take(reader.u16("payload.payload_size"), "payload.test_payload"),
    )


def put_test_request(writer: Writer, payload: TestRequest) -> None:
    """The mirror of `take_test_request`."""
    put_code(writer, payload.test_type, TestType, "test_type")
    writer.put(payload.test_id, "test_id", size=TEST_ID_SIZE)
    writer.u16(len(payload.test_payload), "payload_size")
    writer.put(payload.test_payload, "test_payload")


def take_test_response(reader: Reader) -> TestResponse:
    """The payload of a TEST_RESPONSE."""
    return TestResponse(
        test_id=reader.take(TEST_ID_SIZE, "payload.test_id"),
        echo_payload=reader.rest("payload.echo_payload"),
    )


def put_test_response(writer: Writer, payload: TestResponse) -> None:
    """The mirror of `take_test_response`."""
    writer.put(payload.test_id, "test_id", size=TEST_ID_SIZE)
    writer.put(payload.echo_payload, "echo_payload")


def put_sealed(writer: Writer, payload: Sealed) -> None:
    """A payload that this node cannot or need not read."""
    writer.put(payload.ciphertext, "ciphertext")


def put_body(payload: Payload) -> bytes:
    """The bytes of a payload that holds no frames.

    Raises:
        MalformedError: If no frame can carry it.
    """
    put = PUT.get(type(payload))
    if put is None:
        raise MalformedError(f"{type(payload).__name__} is not a payload")
    writer = Writer()
    put(writer, payload)
    return writer.finish()


TAKE: Final[dict[int, Callable[[Reader], Payload]]] = {
    MessageType.DATA.value: take_data,
    MessageType.CONTROL.value: take_control,
    MessageType.DHT_QUERY.value: lookups.take_dht_query,
    MessageType.DHT_RESPONSE.value: lookups.take_dht_response,
    MessageType.DHT_STORE.value: lookups.take_dht_store,
    MessageType.DISCOVERY.value: take_discovery,
    MessageType.HEARTBEAT.value: take_heartbeat,
    MessageType.KEY_EXCHANGE.value: take_key_exchange,
    MessageType.LEDGER_BLOCK.value: lookups.take_ledger_block,
    MessageType.LEDGER_QUERY.value: lookups.take_ledger_query,
    MessageType.TEST_REQUEST.value: take_test_request,
    MessageType.TEST_RESPONSE.value: take_test_response,
    MessageType.ROUTE_REQUEST.value: lookups.take_route_request,
    MessageType.ROUTE_RESPONSE.value: lookups.take_route_response,
}

PUT: Final[dict[type[Payload], Callable[[Writer, Any], None]]] = {
    Data: put_data,
    Control: put_control,
    Error: put_error,
    Ack: put_ack,
    Sealed: put_sealed,
    DhtQuery: lookups.put_dht_query,
    DhtResponse: lookups.put_dht_response,
    DhtStore: lookups.put_dht_store,
    Discovery: put_discovery,
    Heartbeat: put_heartbeat,
    KeyExchange: put_key_exchange,
    LedgerBlock: lookups.put_ledger_block,
    LedgerQuery: lookups.put_ledger_query,
    TestRequest: put_test_request,
    TestResponse: put_test_response,
    RouteRequest: lookups.put_route_request,
    RouteResponse: lookups.put_route_response,
}
