"""Bundles and their bytes.

```
u32 LE headerLen | u32 LE payloadLen | signature 64 | header CBOR | payload CBOR
```

A bundle's header is written in deterministic CBOR, whatever it came in. Its payload stays
as it came, since hash, id and signature are over its bytes (R22).
"""

from collections.abc import Callable
from hashlib import sha256
from typing import NamedTuple, TypeVar

from wireloom.protocols.dtn import cbor
from wireloom.protocols.dtn.constants import (
    BUNDLE_PREFIX_SIZE,
    LENGTHS_SIZE,
    MAP_HEADS,
    MAX_HEADER_SIZE,
    MUTABLE_KEYS,
    SIGNATURE_SIZE,
    TEXT_HEADS,
)
from wireloom.protocols.dtn.control import check_size, put_control, take_control
from wireloom.protocols.dtn.maps import flat, put_map, take_map
from wireloom.protocols.dtn.messages import Bundle, ControlMessage
from wireloom.protocols.dtn.parts import BundleHeader
from wireloom.wire.cursor import Reader, Writer
from wireloom.wire.errors import (
    MalformedError,
    TooLargeError,
    TrailingBytesError,
    TruncatedError,
    WireError,
)
from wireloom.wire.message import Unknown

T = TypeVar("T")


class Envelope(NamedTuple):
    """A bundle whose payload is not read: all that a relay needs."""

    signature: bytes
    header: BundleHeader
    payload_cbor: bytes


class Payload(NamedTuple):
    """What a bundle carries."""

    message: ControlMessage | Unknown
    as_it_came: bytes | None
    """Its bytes, where it would be written in others."""


def is_bundle(raw: bytes) -> bool:
    """Whether `raw` is framed as a bundle rather than being one CBOR map (R23).

    A header has at most 4,096 bytes, so the third and fourth byte of a bundle are zero, and
    the second is not what a key begins with.
    """
    if len(raw) < LENGTHS_SIZE or not raw.startswith(b"\0\0", 2):
        return False
    if not is_map(raw):
        return True
    reader = Reader(raw, order="little")
    size = BUNDLE_PREFIX_SIZE + reader.u32("header_length") + reader.u32("payload_length")
    return size == len(raw) and raw[1] not in TEXT_HEADS


def is_map(raw: bytes) -> bool:
    """Whether `raw` begins as a CBOR map does."""
    return raw[0] in MAP_HEADS


def take_payload(payload_cbor: bytes, *, lenient: bool = False) -> Payload:
    """What a bundle carries.

    Raises:
        WireError: If it is neither a control message nor application data.
    """
    message = take_control(payload_cbor, lenient=lenient)
    if isinstance(message, Unknown) or put_control(message) == payload_cbor:
        return Payload(message, None)
    return Payload(message, payload_cbor)


def take_bundle(
    raw: bytes, *, lenient: bool = False, take: Callable[..., Payload] = take_payload
) -> Bundle | Unknown:
    """The bundle that is all of `raw`.

    Args:
        raw: Any bytes.
        lenient: Give an `Unknown` for a payload of a type that is not known.
        take: Does what `take_payload` does, and may remember what it did.

    Raises:
        WireError: If it is not one.
    """
    signature, header, payload_cbor = take_envelope(raw)
    base = len(raw) - len(payload_cbor)
    payload, as_it_came = _within(base, lambda: take(payload_cbor, lenient=lenient))
    if isinstance(payload, Unknown):
        return Unknown(type=payload.type, raw=raw)
    if header.msg_type not in (None, payload.number):
        raise MalformedError(
            f"msgType is {header.msg_type} in the header, {payload.number:d} in the payload",
            offset=base,
        )
    return Bundle(signature=signature, header=header, payload=payload, payload_cbor=as_it_came)


def put_bundle(bundle: Bundle) -> bytes:
    """The mirror of `take_bundle`; what it writes is not read back here.

    Raises:
        WireError: If it cannot be written.
    """
    payload = bundle.payload_cbor
    if payload is None:
        payload = put_control(bundle.payload)
    return put_envelope(Envelope(bundle.signature, bundle.header, payload))


def take_envelope(raw: bytes) -> Envelope:
    """The bundle that is all of `raw`, its payload checked against its hash and not read.

    Raises:
        WireError: If it is not one.
    """
    reader = Reader(raw, order="little")
    header_size = reader.u32("header_length")
    payload_size = reader.u32("payload_length")
    _check_sizes(header_size, payload_size, len(raw))
    signature = reader.take(SIGNATURE_SIZE, "signature")
    header_cbor = reader.take(header_size, "header")
    header = _within(BUNDLE_PREFIX_SIZE, lambda: take_header(header_cbor))
    base = reader.offset
    payload_cbor = reader.rest("payload")
    if sha256(payload_cbor).digest() != header.payload_hash:
        raise MalformedError("payloadHash is not the payload's hash", offset=base)
    return Envelope(signature, header, payload_cbor)


def put_envelope(envelope: Envelope) -> bytes:
    """The mirror of `take_envelope`; also how a relay sends on what it changed.

    Raises:
        WireError: If it cannot be written.
    """
    header = put_map(envelope.header)
    writer = Writer(order="little")
    writer.u32(len(header), "header_length")
    writer.u32(len(envelope.payload_cbor), "payload_length")
    writer.put(envelope.signature, "signature", size=SIGNATURE_SIZE)
    writer.put(header, "header")
    writer.put(envelope.payload_cbor, "payload")
    raw = writer.finish()
    _check_sizes(len(header), len(envelope.payload_cbor), len(raw))
    return raw


def take_header(raw: bytes) -> BundleHeader:
    """The header that is all of `raw`.

    Raises:
        MalformedError: If it is not one, or names no destination or more than one.
    """
    header = take_map(BundleHeader, raw)
    count = len(header.destinations())
    if count != 1:
        raise MalformedError(f"{count} destinations, a bundle has one", offset=0)
    return header


def immutable_header(header: BundleHeader) -> bytes:
    """The part of a header that id and signature cover (R14).

    Raises:
        MalformedError: If it cannot be written.
    """
    kept = flat(header)
    for key in MUTABLE_KEYS:
        kept.pop(key, None)
    return cbor.dump(kept)


def _check_sizes(header_size: int, payload_size: int, size: int) -> None:
    """Refuses lengths over the limits, and those that do not add up to `size`."""
    if header_size > MAX_HEADER_SIZE:
        raise TooLargeError(
            f"a header of {header_size} bytes, at most {MAX_HEADER_SIZE} are allowed", offset=0
        )
    check_size(payload_size)
    promised = BUNDLE_PREFIX_SIZE + header_size + payload_size
    detail = f"the lengths make a bundle of {promised} bytes, the frame has {size}"
    if size < promised:
        raise TruncatedError(detail, offset=size)
    if size > promised:
        raise TrailingBytesError(detail, offset=promised)


def _within(base: int, take: Callable[[], T]) -> T:
    """What `take` gives; its refusals say where they are in the whole frame."""
    try:
        return take()
    except WireError as error:
        raise error.shifted(base) from None
