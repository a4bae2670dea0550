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
    GOING_AWAY = 1001
    """The broker stops, or nothing was heard for too long."""

    UNAVAILABLE = 1011
    """The broker is not running, or has no room."""


class Complaint(StrEnum):
    """What the broker says in an error_message or in a refused association."""

    UNDECODABLE = "Could not decode message"
    NOT_AUTHENTICATED = "Message not authenticated"
    NOT_AUTHORIZED = "Message not authorized"
    UNHANDLED = "Message type not handled by the broker"
    TOO_MANY_TARGETS = "Message has too many targets"
    QUEUE_FULL = "Message queue is full"
    ALREADY_ASSOCIATED = "Session already associated"
    URI_TOO_LONG = "URI is too long"
    EXPIRED = "Message expired"
    ANSWER_TOO_LARGE = "Answer is too large to be sent"
    TYPE_TOO_LONG = "Message type is too long"
    TARGET_TOO_LONG = "Target is too long"
    TOO_MANY_PATTERNS = "Inventory request has too many patterns"
    BUSY = "Too much was asked at once"


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
MAX_URI_SIZE: Final = 1_024
"""Characters in the name of a client: every report and inventory repeats it (R42)."""

MAX_TARGET_COUNT: Final = 2_000
MAX_TYPE_SIZE: Final = 256
"""Characters in a message type: the broker remembers some of them."""

MAX_ENVELOPE_SIZE: Final = 256 * 1024
"""Bytes in the envelope of a message that the broker takes, and in all its notes (R49)."""

MAX_NOTE_COUNT: Final = 1_024
"""Debug chunks on a message that the broker takes (R49)."""

MAX_REQUEST_SIZE: Final = 256 * 1024
"""Bytes in the data of a message for the broker itself (R49)."""

MAX_QUERY_COUNT: Final = 1_000
"""Patterns in an inventory request (R50)."""

EARLY_COUNT: Final = 8
"""Frames that a client may send before it is associated (R51)."""

EARLY_SIZE: Final = 64 * 1024
"""Bytes in each of them."""

MAX_CONNECTION_COUNT: Final = 100_000
SEEN_COUNT: Final = 20_000
"""Message ids that are remembered at least, to tell repetitions (R34): as many as a processor has
near at hand."""

HELD_COUNT: Final = 100_000
"""Messages that wait for absent clients, each counted once for every client (R32)."""

HELD_SIZE: Final = 256 * 1024 * 1024
MAX_LIFETIME_MS: Final = 24 * 3_600_000
"""How long a message waits at most, whatever its envelope says (R47)."""

REPORT_WAIT_MS: Final = 10 * 60_000
"""How long the news of an expiry waits for a sender that is away (R33)."""

BURST_COUNT: Final = 500
"""Messages that one turn delivers late or reports expired, so that others get theirs."""

STALLED_COUNT: Final = 16_384
"""Frames that wait to leave for a client before more of them are held back (R36)."""

STALLED_SIZE: Final = 4 * 1024 * 1024
SLICE_SIZE: Final = 4 * 1024 * 1024
"""What leaves at once of messages for several clients, or that waited (R48)."""

CROWDED_SIZE: Final = 128 * 1024 * 1024
"""With more waiting to leave for all clients together, the broker sends with care (R48)."""

SMALL_SIZE: Final = 64 * 1024
"""A message that may leave even then."""

UNREAD_SIZE: Final = 1024 * 1024
"""What the broker itself still says to a client that does not read (R36)."""

HELD_KIND: Final = "cthun-held"
"""The records of messages that wait for their receivers."""

DONE_KIND: Final = "cthun-done"
"""The records of who has got them."""

UNREADABLE_KIND: Final = "cthun-unreadable"
"""Records of these kinds that could not be read."""

NOTICE_KIND: Final = "cthun-notice"
"""The records of expiries that wait for their senders."""

PORT: Final = 8090
PATH: Final = "/cthun/"
"""Before the protocol was renamed; later brokers use port 8142 and `LATER_PATH`."""

LATER_PATH: Final = "/pcp"

HAS_PROOF: Final = False
"""Whether a frame carries a proof of its own: who sends is proved by the TLS connection."""
