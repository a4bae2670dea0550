"""The tables of UEP-12: indicators, opcodes, sizes, limits, times."""

from enum import IntEnum
from typing import Final

INDICATOR: Final = 0x79
"""First byte of every UEP-12 message."""

VERSION: Final = 5
"""The only version of a CONTENT message that is spoken."""

PORT: Final = 7912
"""Where frames are said to go in an export; a swarm may use any port."""

HAS_PROOF: Final = True
"""Whether a frame carries a proof of its own: a proof of work."""


class Opcode(IntEnum):
    """What a message is."""

    CONTENT = 0x10
    MESSAGE_LIST = 0x11
    PULL_BY_HASH = 0x20
    PULL_BY_TIME = 0x21


REFERENCE_COUNT_BITS: Final = 3
"""The low bits of the count byte; the others are reserved (R8)."""

MAX_REFERENCES: Final = 4
"""Three bits could say 7; the text says 0 to 4 (R7)."""

HASH_SIZE: Final = 8
TICKET_SIZE: Final = 4

MTU: Final = 1408
"""Largest packet that is not fragmented."""

MAX_FRAGMENTS: Final = 8
MAX_MESSAGE_SIZE: Final = MTU * MAX_FRAGMENTS
"""What UEP-7 can carry: 11,264 bytes."""

MAX_PULL_HASHES: Final = 175
"""How many hashes a PULL_BY_HASH of one packet holds."""

MAX_LIST_HASHES: Final = 173
"""How many hashes a MESSAGE_LIST of one packet holds."""

POW_WORK: Final = 100_000
"""How many hashes a proof of work takes on average."""

POW_TARGET: Final = (1 << 256) // POW_WORK
"""A digest below this, read as a big-endian integer, is a proof of work (R10)."""

DEFAULT_EPOCH_MS: Final = 60_000
"""The time unit of a swarm that configures none: the seed's example of a safe one."""

MAX_AHEAD_MS: Final = 60_000
"""How far a sender's clock may be ahead."""

FRAGMENT_INDICATOR: Final = 0x66
"""First byte of a UEP-7 fragment."""

FRAGMENT_TIMEOUT_MS: Final = 10_000
"""How long an incomplete packet waits for its next fragment."""
