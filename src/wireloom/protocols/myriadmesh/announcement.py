"""The public keys that mesh traffic announces: a DISCOVERY brings that of its source (R20)."""

from typing import Final

from wireloom.protocols.myriadmesh.integrity import node_id

KEY: Final = ("payload", "public_key")
"""Where the key stands in the protocol's column."""


def owner(public_key: bytes) -> str:
    """Who the key belongs to, as the common record names a source: its node id."""
    return node_id(public_key).hex()
