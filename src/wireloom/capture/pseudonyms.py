"""Names replaced by others that only the holder of a key could link to them.

The same name has the same pseudonym wherever it stands, so that traffic can still be
followed. What frames say inside is not changed.
"""

import hmac
from functools import lru_cache
from typing import Any, Final

DIGITS: Final = 16
"""Hex digits of a pseudonym: among a million names two are alike once in 37 million times."""


class Pseudonyms:
    """Pseudonyms under one key.

    Args:
        key: The secret of HMAC-SHA256.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key
        self.of = lru_cache(maxsize=65_536)(self._of)

    def applied(self, row: dict[str, Any]) -> dict[str, Any]:
        """A captured frame with its node and its peer replaced."""
        peer = row["peer"]
        return {
            **row,
            "node": self.of(row["node"]),
            "peer": None if peer is None else self.of(peer),
        }

    def _of(self, name: str) -> str:
        return hmac.digest(self._key, name.encode(), "sha256").hex()[:DIGITS]
