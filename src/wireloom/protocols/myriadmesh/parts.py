"""What several payloads have in common: codes, lists of opaque items, adapters, text."""

from collections.abc import Mapping
from enum import IntEnum
from typing import TypeVar

from wireloom.protocols.myriadmesh.constants import MAX_ADDRESS_SIZE
from wireloom.protocols.myriadmesh.payloads import Adapter
from wireloom.wire.cursor import Reader, Writer
from wireloom.wire.errors import MalformedError

E = TypeVar("E", bound=IntEnum)


def codes(enum: type[E]) -> dict[int, E]:
    """The members of `enum` by number: a lookup in it is faster than a call of the enum."""
    return {int(member): member for member in enum}


def take_code(reader: Reader, known: Mapping[int, E], name: str, *, size: int = 1) -> E:
    """A number that must be one of `known`.

    Raises:
        MalformedError: If it is reserved.
    """
    offset = reader.offset
    number = int.from_bytes(reader.take(size, name), reader.order)
    member = known.get(number)
    if member is None:
        raise MalformedError(f"{name} 0x{number:0{2 * size}x} is reserved", offset=offset)
    return member


def put_code(writer: Writer, value: E, enum: type[E], name: str, *, size: int = 1) -> None:
    """The mirror of `take_code`."""
    if not isinstance(value, enum):
        raise MalformedError(f"{name} {value!r} is reserved")
    writer.put(value.to_bytes(size, writer.order), name)


def take_blobs(reader: Reader, count_name: str, name: str) -> tuple[bytes, ...]:
    """A count and as many opaque items, each behind its length (R18)."""
    count = reader.u16(count_name)
    return tuple([reader.take(reader.u16(f"{name}.length"), name) for _ in range(count)])


def put_blobs(writer: Writer, blobs: tuple[bytes, ...], count_name: str) -> None:
    """The mirror of `take_blobs`."""
    writer.u16(len(blobs), count_name)
    for blob in blobs:
        writer.u16(len(blob), "length of an item")
        writer.put(blob, "item")


def take_adapters(reader: Reader) -> tuple[Adapter, ...]:
    """A count and as many adapters."""
    count = reader.u8("payload.adapter_count")
    return tuple([take_adapter(reader) for _ in range(count)])


def put_adapters(writer: Writer, adapters: tuple[Adapter, ...]) -> None:
    """The mirror of `take_adapters`."""
    writer.u8(len(adapters), "adapter_count")
    for adapter in adapters:
        put_adapter(writer, adapter)


def take_adapter(reader: Reader) -> Adapter:
    """One way to reach a node."""
    adapter_type = reader.u8("payload.adapters[].adapter_type")
    length = reader.u8("payload.adapters[].address_length")
    return Adapter(
        adapter_type=adapter_type, address=reader.text(length, "payload.adapters[].address")
    )


def put_adapter(writer: Writer, adapter: Adapter) -> None:
    """The mirror of `take_adapter`."""
    address = utf8(adapter.address, "address")
    if len(address) > MAX_ADDRESS_SIZE:
        raise MalformedError(f"an address of {len(address)} bytes, at most {MAX_ADDRESS_SIZE}")
    writer.u8(adapter.adapter_type, "adapter_type")
    writer.u8(len(address), "address_length")
    writer.put(address, "address")


def utf8(text: str, name: str) -> bytes:
    """Text as it stands on the wire.

    Raises:
        MalformedError: If it holds half a character.
    """
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise MalformedError(f"{name} has no UTF-8: {error.reason}") from None
