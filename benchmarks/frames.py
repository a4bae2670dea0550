"""The frames that are measured: those of vectors/."""

import json
from pathlib import Path

VECTORS = Path(__file__).parents[1] / "vectors"


def frame(protocol: str, name: str) -> bytes:
    """The vector called `name`."""
    for line in (VECTORS / f"{protocol}.jsonl").read_text().splitlines():
        vector = json.loads(line)
        if vector["name"] == name:
            return bytes.fromhex(vector["hex"])
    raise KeyError(name)
