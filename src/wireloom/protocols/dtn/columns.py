"""DTN frames as Arrow columns.

A bundle and a message by itself share one struct: what is said stands in `payload` either
way, and only a bundle has the rest.

Every hop changes a bundle's header and no hop its payload, so that in a batch each payload
is read once.
"""

from functools import cache
from typing import Final

import pyarrow as pa

from wireloom.protocols.dtn.bundles import is_bundle, is_map, take_bundle, take_payload
from wireloom.protocols.dtn.codec import decode as decode_one
from wireloom.protocols.dtn.constants import MAX_BUNDLE_SIZE
from wireloom.protocols.dtn.messages import ALL_TYPES, Bundle, ControlMessage
from wireloom.protocols.dtn.parts import BundleHeader
from wireloom.protocols.dtn.record import summarise
from wireloom.wire.columns import decode_distinct
from wireloom.wire.extract import RowColumn, decode_all
from wireloom.wire.fields import Bytes64
from wireloom.wire.message import Message


class Row(Message, frozen=True, kw_only=True):
    """A frame as its column shows it."""

    signature: Bytes64 | None = None
    """The bundle's signature; 64 zero bytes if nobody signed it."""

    header: BundleHeader | None = None
    """The bundle's header; null for a message by itself."""

    payload: ControlMessage
    """What is said: the fields of all control messages and of application data."""

    payload_cbor: bytes | None = None
    """The payload as it came, where that is not deterministic CBOR."""


def view(message: Message) -> Row:
    """A decoded frame as a row."""
    if isinstance(message, Bundle):
        return Row(
            signature=message.signature,
            header=message.header,
            payload=message.payload,
            payload_cbor=message.payload_cbor,
        )
    assert isinstance(message, ControlMessage)  # strict decoding gives nothing else
    return Row(payload=message)


COLUMN: Final = RowColumn("dtn", Row, view, parts={"payload": tuple(ALL_TYPES.values())})


def decode(raws: pa.BinaryArray) -> pa.RecordBatch:
    """A row for each frame, with the columns of `COLUMN.schema`."""
    return decode_distinct(raws, _decode)


def _decode(raws: list[bytes]) -> pa.RecordBatch:
    return decode_all(COLUMN, _Reading().decode, summarise, raws)


class _Reading:
    """Decodes the frames of a batch, and remembers the payloads that the next ones may share."""

    def __init__(self) -> None:
        self._payload = cache(take_payload)

    def decode(self, raw: bytes) -> Message:
        """What `codec.decode` gives, and the same refusals."""
        if not raw or is_map(raw) or not is_bundle(raw) or len(raw) > MAX_BUNDLE_SIZE:
            return decode_one(raw)
        return take_bundle(raw, take=self._payload)
