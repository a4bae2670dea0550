"""What does the hub codec's strictness cost, and how far is it from json with jsonschema?

The first peer is msgspec's own typed decoder with the very same message classes, without
size, nesting and duplicate-key checks. The second is the standard library's json with a
compiled jsonschema validator of the same rules for a hub:send.
"""

import json
from typing import Union

import msgspec
from jsonschema import Draft7Validator

from frames import frame
from timing import Figure, compare
from wireloom.protocols.signalhub import messages
from wireloom.protocols.signalhub.codec import decode

UUID = {"type": "string", "pattern": r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"}
ADDRESS = {"type": "string", "pattern": r"^@\(.+\)$"}
SEND = Draft7Validator(
    {
        "type": "object",
        "properties": {
            "id": UUID,
            "from": ADDRESS,
            "to": ADDRESS,
            "type": {"const": "hub:send"},
            "pattern": {"enum": ["tell", "ask"]},
            "correlationId": {"anyOf": [UUID, {"type": "null"}]},
            "timestamp": {"type": "integer", "minimum": 0},
            "payload": {
                "type": "object",
                "properties": {
                    "targetAddress": ADDRESS,
                    "message": {
                        "type": "object",
                        "properties": {"type": {"type": "string"}, "payload": {}},
                        "required": ["type", "payload"],
                        "additionalProperties": False,
                    },
                },
                "required": ["targetAddress", "message"],
                "additionalProperties": False,
            },
            "metadata": {
                "type": "object",
                "properties": {
                    "requireAck": {"type": "boolean"},
                    "traceId": {"type": "string"},
                    "priority": {"type": "integer", "minimum": 0, "maximum": 2},
                },
                "additionalProperties": False,
            },
            "ttl": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]},
            "signature": {"type": ["string", "null"]},
        },
        "required": ["id", "from", "to", "type", "pattern", "timestamp", "payload"],
        "additionalProperties": False,
    }
)


def measure() -> list[Figure]:
    """The figures."""
    raw = frame("signalhub", "send")
    bare = msgspec.json.Decoder(Union[messages.HUB_CLASSES]).decode  # noqa: UP007
    return [
        compare(
            "Signal Hub decode",
            lambda: decode(raw),
            lambda: bare(raw),
            peer_name="bare msgspec, same classes",
            goal=0.8,
        ),
        compare(
            "Signal Hub decode",
            lambda: decode(raw),
            lambda: SEND.validate(json.loads(raw)),
            peer_name="json + jsonschema",
            goal=30,
        ),
    ]
