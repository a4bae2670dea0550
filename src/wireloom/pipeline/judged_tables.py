"""The tables that refine fills: the keys that are known, and what they prove."""

from typing import Final

from wireloom.pipeline import frame_tables
from wireloom.pipeline.tables import Column, Table

REJUDGED: Final = "rejudged"
"""Counts the slices up to which a verdict changed that had been given before."""

KEYS: Final = Table(
    "keys",
    "Public keys that the traffic itself announced; a key certifies its owner by its hash.",
    (
        Column("protocol", "string", "Where the key was seen."),
        Column("owner", "string", "Node id or UID, hex."),
        Column("public_key", "string", "Ed25519, hex."),
        Column("first_seen", "timestamp", "When it was first captured.", "UTC"),
    ),
    ("protocol", "owner"),
)

VERDICTS: Final = Table(
    "verdicts",
    "What signature or proof of work says of each distinct content.",
    (
        Column("protocol", "string", "The protocol."),
        Column("content", "string", "As in `frames`."),
        Column("signer", "string", "Who is said to have signed it."),
        Column("auth", "string", "`valid`, `invalid`, `unsigned` or `unknown_key`."),
        Column(frame_tables.SLICE, "bigint", "The micro-batch with which it was judged."),
    ),
    ("protocol", "content"),
)
