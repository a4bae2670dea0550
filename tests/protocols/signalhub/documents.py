"""Frames that differ from a good one in one place."""

import copy
import json
from typing import Any

from protocols.signalhub.samples import SAMPLES
from wireloom.protocols.signalhub import codec

ABSENT = object()


def document(name: str, **changes: Any) -> dict[str, Any]:
    """The sample called `name` as a JSON object, changed: `payload__limit=1`."""
    whole: dict[str, Any] = copy.deepcopy(json.loads(codec.encode(SAMPLES[name])))
    for path, value in changes.items():
        *way, last = path.split("__")
        part = whole
        for key in way:
            part = part[key]
        if value is ABSENT:
            del part[last]
        else:
            part[last] = value
    return whole


def frame(name: str, **changes: Any) -> bytes:
    """That object as compact JSON."""
    return json.dumps(document(name, **changes), separators=(",", ":"), ensure_ascii=False).encode()
