"""Signal Hub messages as Arrow columns.

What the hub's own messages say is typed, and stands in the structs `payload` and
`metadata`; what is free stands as JSON in columns of its own.
"""

from typing import Any, Final, get_args, get_type_hints

import pyarrow as pa
from msgspec import UNSET, UnsetType

from wireloom.protocols.signalhub.codec import decode as decode_one
from wireloom.protocols.signalhub.envelope import Part, SharedMessage
from wireloom.protocols.signalhub.messages import HUB_CLASSES
from wireloom.protocols.signalhub.record import summarise
from wireloom.wire.columns import decode_distinct
from wireloom.wire.extract import RowColumn, decode_all
from wireloom.wire.message import Message


class Row(SharedMessage, frozen=True, kw_only=True):
    """A message as its column shows it: the envelope, and what is in it by kind."""

    payload: Part | None
    """What one of the hub's messages says: the fields of all of them."""

    payload_json: Any
    """What an application's message says."""

    metadata: Part | None
    """What is said about it where the type declares that: the fields of all that do."""

    metadata_json: dict[str, Any] | None | UnsetType
    """What is said about it where that is free."""


def view(message: Message) -> Row:
    """A decoded message as a row."""
    assert isinstance(message, SharedMessage)  # strict decoding gives nothing else
    payload, metadata = message.payload, message.metadata
    payload_typed, metadata_typed = isinstance(payload, Part), isinstance(metadata, Part)
    return Row(
        payload=payload if payload_typed else None,
        payload_json=UNSET if payload_typed else payload,
        metadata=metadata if metadata_typed else None,
        metadata_json=UNSET if metadata_typed else metadata,
        id=message.id,
        from_=message.from_,
        to=message.to,
        pattern=message.pattern,
        correlation_id=message.correlation_id,
        timestamp=message.timestamp,
        ttl=message.ttl,
        signature=message.signature,
    )


def _parts(name: str) -> tuple[type[Message], ...]:
    """The classes that a field has in the hub's messages, each once."""
    hints = [get_type_hints(cls)[name] for cls in HUB_CLASSES]
    options = [option for hint in hints for option in (hint, *get_args(hint))]
    return tuple(
        dict.fromkeys(one for one in options if isinstance(one, type) and issubclass(one, Part))
    )


COLUMN: Final = RowColumn(
    "signalhub", Row, view, parts={name: _parts(name) for name in ("payload", "metadata")}
)


def decode(raws: pa.BinaryArray) -> pa.RecordBatch:
    """A row for each frame, with the columns of `COLUMN.schema`."""
    return decode_distinct(raws, _decode)


def _decode(raws: list[bytes]) -> pa.RecordBatch:
    return decode_all(COLUMN, decode_one, summarise, raws)
