"""The five protocols as the conformance suite sees them: codec, samples, strategies, vectors."""

import json
import os
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from wireloom.registry import NAMES, WireProtocol, protocol
from wireloom.wire.message import Message

ROOT = Path(__file__).parents[2]
CASES = int(os.environ.get("TEST_CASES", "5000"))
"""How many damaged frames a protocol is given."""


class Case:
    """One protocol with its test data."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.protocol: WireProtocol = protocol(name)

    @property
    def samples(self) -> dict[str, Message]:
        """One message of every type, and of every kind that matters."""
        samples: dict[str, Message] = import_module(f"protocols.{self.name}.samples").SAMPLES
        return samples

    @property
    def strategies(self) -> dict[str, st.SearchStrategy[Message]]:
        """How to make any message of every type."""
        made: dict[str, st.SearchStrategy[Message]]
        made = import_module(f"protocols.{self.name}.strategies").MESSAGES
        return made

    @property
    def frames(self) -> list[bytes]:
        """Good frames: the samples' and the vectors'."""
        encoded = [self.protocol.codec.encode(message) for message in self.samples.values()]
        return encoded + [bytes.fromhex(v["hex"]) for v in vectors(self.name) if _is_frame(v)]


@cache
def case(name: str) -> Case:
    """The protocol called `name` with its test data."""
    return Case(name)


@cache
def vectors(name: str) -> list[dict[str, Any]]:
    """The lines of `vectors/<name>.jsonl`."""
    text = (ROOT / "vectors" / f"{name}.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


def _is_frame(vector: dict[str, Any]) -> bool:
    return vector.get("check", "decode") == "decode" and bool(vector["expect"]["ok"])


ALL = [case(name) for name in NAMES]
TYPES = [(one, name) for one in ALL for name in one.protocol.messages.TYPES]
"""Every message type of every protocol."""
