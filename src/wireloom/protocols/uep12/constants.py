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

MESSAGE_KIND: Final = "uep12-message"
UNREADABLE_KIND: Final = "uep12-unreadable"
"""What a peer stores: messages, and records that it could not read."""

DEFAULT_MAX_TTL: Final = 1_440
"""How many epochs a message may ask for, where a swarm configures nothing: a day of minutes."""

RECENT_COUNT: Final = 32
"""So many of the latest messages may be referred to, besides those that nobody refers to yet."""

DIALLED_CREDIT: Final = MTU
"""Bytes that a peer whom the operator has named may get before it has proven its address."""

MAX_CREDIT: Final = 64 * 1024
"""What an address that has not proven itself may have left of the bytes that it sent."""

STORED_COUNT: Final = 1_000_000
STORED_SIZE: Final = 1024 * 1024 * 1024
WANTED_COUNT: Final = 65_536
PEER_COUNT: Final = 1_000
POST_COUNT: Final = 64
DELIVERED_COUNT: Final = 4
ANSWER_SIZE: Final = 16 * 1024 * 1024
RUBBISH_COUNT: Final = 32
SHUN_MS: Final = 30_000
PULL_MS: Final = 5_000
PULL_COUNT: Final = 10
TICKET_MS: Final = 5_000
REFRESH_MS: Final = 15_000
SWEEP_MS: Final = 600_000
PURGE_MS: Final = 60_000
REMEMBER_MS: Final = 600_000
"""Limits and times of a peer; see its settings."""
