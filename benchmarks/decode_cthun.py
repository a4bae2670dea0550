"""Is the Cthun codec ten times as fast as the standard library's json with jsonschema?

The peer splits the chunks with struct, loads envelope and data with json and validates them
with compiled jsonschema validators: the same checks, the usual way.
"""

import json
import struct

from jsonschema import Draft7Validator

from frames import frame
from timing import Figure, compare
from wireloom.protocols.cthun.codec import decode

URI = {"type": "string", "pattern": r"^cth://[^/]*/[^/]+$"}
ENVELOPE = Draft7Validator(
    {
        "type": "object",
        "properties": {
            "id": {
                "type": "string",
                "pattern": r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$",
            },
            "message_type": {"type": "string", "pattern": r"^[\w\-.:/]+$"},
            "expires": {
                "type": "string",
                "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$",
            },
            "targets": {"type": "array", "items": URI},
            "sender": URI,
            "destination_report": {"type": "boolean"},
            "in-reply-to": {"type": "string"},
        },
        "required": ["id", "message_type", "expires", "targets", "sender"],
        "additionalProperties": False,
    }
)
QUERY = Draft7Validator(
    {
        "type": "object",
        "properties": {"query": {"type": "array", "items": URI}},
        "required": ["query"],
        "additionalProperties": False,
    }
)


def peer(raw: bytes) -> tuple[object, object]:
    """The usual way."""
    chunks, offset = [], 1
    while offset < len(raw):
        kind, size = struct.unpack_from(">Bi", raw, offset)
        chunks.append((kind & 15, raw[offset + 5 : offset + 5 + size]))
        offset += 5 + size
    envelope, query = json.loads(chunks[0][1]), json.loads(chunks[1][1])
    ENVELOPE.validate(envelope)
    QUERY.validate(query)
    return envelope, query


def measure() -> list[Figure]:
    """The figures."""
    raw = frame("cthun", "inventory_request")
    return [
        compare(
            "Cthun decode",
            lambda: decode(raw),
            lambda: peer(raw),
            peer_name="json + jsonschema",
            goal=10,
        )
    ]
