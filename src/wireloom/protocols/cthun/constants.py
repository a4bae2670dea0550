"""The tables of Cthun: chunk types, message types, limits, times, close codes."""

from enum import IntEnum, StrEnum
from typing import Final

VERSION: Final = 1
"""The only version that any implementation sends (R3)."""


class ChunkType(IntEnum):
    """What a chunk holds: the low four bits of its descriptor."""

    ENVELOPE = 1
    DATA = 2
    DEBUG = 3


class MessageType(StrEnum):
    """The message types that the broker itself takes part in."""

    ASSOCIATE_REQUEST = "http://puppetlabs.com/associate_request"
    ASSOCIATE_RESPONSE = "http://puppetlabs.com/associate_response"
    INVENTORY_REQUEST = "http://puppetlabs.com/inventory_request"
    INVENTORY_RESPONSE = "http://puppetlabs.com/inventory_response"
    ERROR_MESSAGE = "http://puppetlabs.com/error_message"
    DESTINATION_REPORT = "http://puppetlabs.com/destination_report"
    TTL_EXPIRED = "http://puppetlabs.com/ttl_expired"


class Stage(StrEnum):
    """Where in the broker a hop was noted; other words are allowed."""

    ACCEPTED = "accepted"
    ACCEPT_TO_QUEUE = "accept-to-queue"
    REDELIVERY = "redelivery"
    DELIVER = "deliver"


class CloseCode(IntEnum):
    """Why the broker closes a WebSocket."""

    SUPERSEDED = 4000
    """Another connection associated with the same URI."""

    ASSOCIATION_UNSUCCESSFUL = 4002
    NO_CERTIFICATE = 4003
    UNAVAILABLE = 1011
    """The broker is not running, or has no room."""


TYPE_BITS: Final = 4
"""The low bits of a descriptor; the high ones are reserved and kept as flags."""

TYPE_MASK: Final = (1 << TYPE_BITS) - 1
MAX_FLAGS: Final = 15

VERSION_SIZE: Final = 1
CHUNK_HEADER_SIZE: Final = 5
"""A descriptor of one byte and a size of four."""

MAX_MESSAGE_SIZE: Final = 64 * 1024 * 1024
"""The broker's default of 64 MB (R14). No chunk can be larger than its message."""

MAX_DEBUG_CHUNKS: Final = 65_536
"""An empty one has 5 bytes on the wire and far more in memory (R15)."""

MAX_TRAILING_SIZE: Final = CHUNK_HEADER_SIZE - 1
"""Lenient decoding keeps what is too short to be a chunk (R6)."""

SCHEME: Final = "cth"
SERVER_TYPE: Final = "server"
"""Reserved for brokers: no client may claim it."""

WILDCARD: Final = "*"
BROKER_URI: Final = "cth:///server"
"""The broker at the other end of the connection, whatever its name."""

MIN_REDELIVERY_MS: Final = 1_000
MAX_REDELIVERY_MS: Final = 15_000

BROKER_TTL_MS: Final = 3_000
"""Lifetime of what the broker composes itself."""

DEFAULT_TTL_MS: Final = 5_000
"""Lifetime of a message whose sender chose none."""

ASSOCIATION_TTL_MS: Final = 10_000
ASSOCIATION_TIMEOUT_MS: Final = 15_000
"""How long a client waits for the response to its associate_request."""

PING_INTERVAL_MS: Final = 120_000
MAX_MISSED_PINGS: Final = 2
"""After so many the connection counts as dead."""

IDLE_TIMEOUT_MS: Final = 15 * 60_000
PORT: Final = 8090
PATH: Final = "/cthun/"
"""Before the protocol was renamed; later brokers use port 8142 and `/pcp`."""
