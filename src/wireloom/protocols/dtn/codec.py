"""DTN frames and their bytes: a bundle, or a control message by itself.

```
bundle    u32 LE headerLen | u32 LE payloadLen | signature 64 | header CBOR | payload CBOR
message   one CBOR map with a msgType
```
"""

from typing import Final

from wireloom.protocols.dtn.bundles import is_bundle, is_map, put_bundle, take_bundle
from wireloom.protocols.dtn.constants import (
    MAX_BUNDLE_SIZE,
    MSG_TYPE_KEY,
    SIGNATURE_SIZE,
    SURE_MAP_HEADS,
    SURE_SIZE,
)
from wireloom.protocols.dtn.control import (
    check_size,
    class_of,
    put_control,
    take_control,
    take_quickly,
)
from wireloom.protocols.dtn.items import places
from wireloom.protocols.dtn.maps import shape
from wireloom.protocols.dtn.messages import ALL_TYPES, Bundle, ControlMessage, Data
from wireloom.protocols.dtn.parts import BundleHeader, DtnMap
from wireloom.wire.cursor import Reader, Span, TracingReader
from wireloom.wire.errors import (
    MalformedError,
    TooLargeError,
    TruncatedError,
    UnknownTypeError,
    WireError,
)
from wireloom.wire.message import Message


def decode(raw: bytes, *, lenient: bool = False) -> Message:
    """The bundle or control message in `raw`.

    Args:
        raw: Any bytes.
        lenient: Give an `Unknown` for a type that is not known, instead of refusing it.

    Raises:
        WireError: If it is neither.
    """
    if not raw:
        raise TruncatedError("an empty frame", offset=0)
    if raw[0] in SURE_MAP_HEADS and len(raw) <= SURE_SIZE:
        message = take_quickly(raw)
        if message is not None and type(message) is not Data:
            return message
    if len(raw) > MAX_BUNDLE_SIZE:
        raise TooLargeError(f"{len(raw)} bytes, a bundle has at most {MAX_BUNDLE_SIZE}")
    if is_bundle(raw):
        return take_bundle(raw, lenient=lenient)
    if not is_map(raw):
        raise MalformedError("neither a CBOR map nor the lengths of a bundle", offset=0)
    return take_bare(raw, lenient=lenient)


def encode(message: Message) -> bytes:
    """The bytes of `message`.

    Raises:
        WireError: If `decode` would refuse them.
    """
    if isinstance(message, Bundle):
        raw = put_bundle(message)
        _check_payload(message, decode(raw))
        return raw
    if not isinstance(message, ControlMessage) or isinstance(message, Data):
        raise UnknownTypeError(f"{type(message).__name__} does not travel by itself")
    raw = put_control(message)
    decode(raw)
    return raw


def take_bare(raw: bytes, *, lenient: bool = False) -> Message:
    """The control message that is all of `raw`, without a bundle.

    Raises:
        WireError: If it is none; application data travels in bundles only.
    """
    check_size(len(raw))
    message = take_control(raw, lenient=lenient, in_bundle=False)
    if len(raw) > SURE_SIZE and isinstance(message, ControlMessage):  # R30
        check_size(len(put_control(message)))
    return message


def spans(raw: bytes) -> list[Span]:
    """Where each field of `raw` lies, up to the first fault in the header or payload."""
    if not raw:
        return []
    if not is_bundle(raw):
        return _map_spans(raw, 0, "")
    tracing = TracingReader(raw, order="little")
    try:
        header_size = tracing.u32("header_length")
        tracing.u32("payload_length")
        tracing.take(SIGNATURE_SIZE, "signature")
    except WireError:
        return tracing.spans
    reader = Reader(raw, offset=tracing.offset)
    header = reader.take(min(header_size, reader.remaining), "header")
    found = tracing.spans + _map_spans(header, tracing.offset, "header.", cls=BundleHeader)
    base = reader.offset
    return found + _map_spans(reader.rest("payload"), base, "payload.")


def _map_spans(
    raw: bytes, base: int, prefix: str, *, cls: type[DtnMap] | None = None
) -> list[Span]:
    found = places(raw)
    if cls is None:
        cls = class_of(next((place.value for place in found if place.key == MSG_TYPE_KEY), None))
    names = _ALL_NAMES if cls is None else shape(cls).names
    return [
        Span(prefix + _name(place.key, names), base + place.offset, place.size) for place in found
    ]


def _name(key: str, names: dict[str, str]) -> str:
    if key == MSG_TYPE_KEY:
        return "msg_type"
    return names.get(key, f"extra.{key}")


def _check_payload(bundle: Bundle, decoded: Message) -> None:
    """Refuses a `payload_cbor` that is not another form of the payload."""
    if bundle.payload_cbor is None or not isinstance(decoded, Bundle):
        return
    if (decoded.payload, decoded.payload_cbor) != (bundle.payload, bundle.payload_cbor):
        raise MalformedError("payload_cbor is not another form of the payload")


_ALL_NAMES: Final = {
    key: name for cls in ALL_TYPES.values() for key, name in shape(cls).names.items()
}
"""For a map whose type cannot be told."""
