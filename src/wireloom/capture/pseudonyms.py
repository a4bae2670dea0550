"""Pseudonyms for names, which only the holder of a key can link to them.

The same name has the same pseudonym everywhere, so that traffic can still be followed. Within
frames a pseudonym is as long as its name, so that frames decode as before: addresses of the hub
and common names of the broker. The ids of the other protocols are hashes of keys.
"""

import hmac
from functools import lru_cache
from hashlib import shake_256
from typing import Any, Final

from wireloom.capture.redaction import redactions

DIGITS: Final = 16
"""Hex digits of a pseudonym: two of a million names collide with a chance of 1 in 37 million."""

LETTERS: Final = b"abcdefghijklmnopqrstuvwxyz234567"
"""The letters of a pseudonym within a frame: five bits each."""

NAMES: Final = ("node", "peer", "swarm")
"""The columns that hold names."""


class Pseudonyms:
    """Pseudonyms under one key.

    Args:
        key: The secret of HMAC-SHA256.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key
        self.of = lru_cache(maxsize=65_536)(self._of)

        self.within = lru_cache(maxsize=65_536)(self._within)

    def applied(self, row: dict[str, Any]) -> dict[str, Any]:
        """A captured frame with all names replaced, those within the frame too."""
        named = {key: self.of(row[key]) for key in NAMES if row[key] is not None}
        raw = row["raw"]
        for redaction in redactions(row["protocol"]):
            raw = redaction.rename(raw, self.within)
        return {**row, **named, "raw": raw}

    def _within(self, name: bytes) -> bytes:
        """A pseudonym as long as its name."""
        seed = hmac.digest(self._key, name, "sha256")
        return bytes(LETTERS[one % len(LETTERS)] for one in shake_256(seed).digest(len(name)))

    def _of(self, name: str) -> str:
        return hmac.digest(self._key, name.encode(), "sha256").hex()[:DIGITS]
