"""The public keys that DTN traffic announces: every bundle brings that of its source."""

from typing import Final

from wireloom.wire.keys import uid

KEY: Final = ("header", "src_pub")
"""Where the key stands in the protocol's column."""


def owner(public_key: bytes) -> str:
    """Who the key belongs to, as the common record names a source: its UID."""
    return uid(public_key).hex()
