"""The tables of Signal Hub: names, codes, sizes, limits, times."""

from enum import IntEnum, StrEnum
from typing import Final

PROTOCOL_VERSION: Final = "0.1.0"
"""The version that is spoken here; another one fits if its MAJOR is the same (R28)."""

PORT: Final = 8080
PATH: Final = "/hub"
"""Where a hub takes WebSocket connections."""

HAS_PROOF: Final = False
"""Whether a frame carries a proof of its own: only a token does, which a capture hides."""

HUB_PREFIX: Final = "hub:"
"""What the type of every message to or from the hub itself begins with (R20)."""

MAX_MESSAGE_SIZE: Final = 1_048_576
"""Bytes of the whole frame, inclusive; checked before anything is parsed (R8)."""

MAX_INTEGER: Final = 2**63 - 1
"""Where declared integers end: what tables of 64-bit columns can keep (R30)."""


class ErrorCode(StrEnum):
    """What went wrong, in a `hub:error`. The set is closed (R5)."""

    VERSION_MISMATCH = "version_mismatch"
    UNAUTHORIZED = "unauthorized"
    RATE_LIMITED = "rate_limited"
    UNKNOWN_ACTOR = "unknown_actor"
    MESSAGE_TOO_LARGE = "message_too_large"
    MESSAGE_EXPIRED = "message_expired"
    TIMEOUT = "timeout"
    INTERNAL_ERROR = "internal_error"


RETRYABLE: Final = frozenset({ErrorCode.RATE_LIMITED, ErrorCode.TIMEOUT, ErrorCode.INTERNAL_ERROR})
"""The codes after which the same request may succeed later."""


class DeliveryStatus(StrEnum):
    """What a `hub:delivery_ack` acknowledges."""

    DELIVERED = "delivered"
    QUEUED = "queued"


class DisconnectReason(StrEnum):
    """The usual reasons of a `hub:disconnect`. The set is open: any text may stand there."""

    CLIENT_REQUESTED = "client_requested"
    DUPLICATE_CONNECTION = "duplicate_connection"
    UNAUTHORIZED = "unauthorized"
    SERVER_SHUTDOWN = "server_shutdown"


class ContentType(StrEnum):
    """The two encodings of a frame (R14)."""

    JSON = "json"
    MSGPACK = "msgpack"


UUID_PATTERN: Final = r"\A[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\Z"

ADDRESS_PATTERN: Final = r"\A@\([^\x00-\x1f\x7f-\x9f\u2028\u2029]+\)\Z"
"""An actor's address: anything printable in `@(…)`; control characters and line ends would
forge lines in logs (R24)."""

MAX_TOPIC_SIZE: Final = 256
TOPIC_PATTERN: Final = r"\A[a-zA-Z0-9/_-]{1,256}\Z"

APPLICATION_TYPE_PATTERN: Final = r"\A(?!hub:)(?s:.+)\Z"
"""A type that is not the hub's own (R20)."""

SEMVER_PATTERN: Final = (
    r"\A(?:0|[1-9][0-9]{0,8})(?:\.(?:0|[1-9][0-9]{0,8})){2}"
    r"(?:-(?:0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)"
    r"(?:\.(?:0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*))*)?"
    r"(?:\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?\Z"
)
"""Semantic Versioning 2.0.0, its three numbers of at most nine digits (R28)."""

MAX_SEMVER_SIZE: Final = 256
"""Characters of a version: more than any tool writes, few enough for any check."""

MAX_GLOB_SIZE: Final = 256
"""Characters of a discovery pattern: as many as a topic may have (R27)."""

MIN_TTL_SECONDS: Final = 60
MAX_TTL_SECONDS: Final = 3600
DEFAULT_TTL_SECONDS: Final = 300
"""How long a registration lives that asks for no time."""

MAX_PAGE: Final = 100
"""Actors in one answer; what is asked for if no limit is given, too."""

MAX_PRIORITY: Final = 2
"""The least urgent of the three priorities; 0 is the most urgent (R15)."""

HEARTBEAT_INTERVAL_MS: Final = 25_000
"""Time between two heartbeats of a client."""

DEAD_AFTER_MS: Final = 10_000
"""Without an answer for so long, a client takes its connection for dead."""

CONNECT_TTL_MS: Final = 5_000
REQUEST_TTL_MS: Final = 5_000
"""The `ttl` of register, discover, list_actors, renew, subscribe and queue_stats (R10)."""

MAX_STRANGER_FRAMES: Final = 5
MAX_STRANGER_SIZE: Final = 65_536
MAX_STRANGER_PARTS: Final = 1_024
"""How many frames, how large ones and with how many lists and objects, a client may send before it
has said who it is: a connect has four, and with the longest token a few kilobytes (R55)."""

SEND_TTL_MS: Final = 30_000
"""The `ttl` of a send: how long delivery may take (R10)."""

HEARTBEAT_TTL_MS: Final = 10_000

MAX_ACTORS: Final = 50_000
"""Registrations that one hub holds."""

SYNC_BROADCAST_MAX: Final = 100
"""Up to so many recipients a broadcast is delivered at once; more are queued (R7)."""

REPLAY_WINDOW_MS: Final = 300_000
"""Messages older than this are refused as replays (R32)."""

TOKEN_ISSUER: Final = "signal-hub"  # noqa: S105, an issuer's name is no password
TOKEN_AUDIENCE: Final = "signal-hub"  # noqa: S105, nor is an audience's
"""What `aud` of a token may say instead of the hub's address (R29)."""

LAST_SECOND: Final = 253_402_300_799
"""The end of the year 9999, in seconds since 1970: where calendars end."""

TOKEN_MAX_AGE_S: Final = 86_400
"""Seconds after which a token is too old, whatever its `exp` says (R29)."""

MAX_TOKEN_SIZE: Final = 8_192
"""Characters of a token: what common web servers allow a header."""

BEARER: Final = "bearer "
"""May stand before a token, in any case."""

HUB_ADDRESS: Final = "@(cloudflare/signal-hub)"
"""What a hub calls itself if it is told nothing else."""

MIN_SECRET_SIZE: Final = 16
"""Bytes of the secret behind renewal tokens: 128 bits are beyond guessing."""

MAX_ADDRESS_SIZE: Final = 512
"""Bytes of an address, written as JSON, that a hub keeps or puts into a frame (R43)."""

MAX_NAME_SIZE: Final = 256
"""Characters of an application's type, a `traceId`, a capability or a token that a hub takes: as
many as a topic may have (R54)."""

MAX_CAPABILITIES: Final = 64
"""Capabilities that a hub takes of one client or actor: each is an entry in its index (R54)."""

MAX_REGISTRATION_SIZE: Final = 8_192
"""Bytes of one registration, written as JSON: a page of 100 still fits into a frame (R43)."""

MAX_REGISTRATIONS: Final = 100
MAX_SUBSCRIPTIONS: Final = 100
"""Of one actor (R43)."""

MAX_ALL_SUBSCRIPTIONS: Final = 100_000
MAX_REGISTRATIONS_SIZE: Final = 268_435_456
"""Of all actors together; the latter in bytes, 5 KiB for each of the most there may be (R43)."""

RENEWAL_STEP_MS: Final = 10_000
"""Heartbeats renew a registration once in this time at most (R47)."""

MAX_QUEUED: Final = 100
"""Messages of one sender that wait for one actor; of all senders, twice as many (R38)."""

MAX_ALL_QUEUED: Final = 100_000
MAX_QUEUED_SIZE: Final = 67_108_864
"""Messages and reports that wait for all actors together, and the bytes that they take (R38)."""

MAX_TTL_MS: Final = 86_400_000
"""How long a message may wait, whatever its lifetime: a day, as long as a token is good (R52)."""

MAX_REPORTS: Final = 100
REPORT_MS: Final = 3_600_000
"""How many failures the hub keeps for a sender that is away, and how long (R39)."""

MAX_BROADCASTS: Final = 100
MAX_BROADCASTS_SIZE: Final = 67_108_864
"""Messages to many that are under way at the same time, and the bytes that they take (R53)."""

SLICE_SIZE: Final = 4_194_304
SLICE_COUNT: Final = 2_048
SLICE_PAUSE_MS: Final = 16
"""Bytes and recipients that a message to many may reach in one turn, and the time until its next
slice, so that others get their turn and the capture keeps up (R53)."""

QUICK_PAUSE_MS: Final = 4
"""In this time as many bytes again may leave for many at once, as long as each message fits into a
slice; and as many steps of searches may be done (R53)."""

PAUSE_THRESHOLD: Final = 1_000
RESUME_THRESHOLD: Final = 500
"""Frames that wait for a reader: above the first it is paused, below the second resumed (R40)."""

PAUSE_SIZE: Final = 4_194_304
CUT_SIZE: Final = 16_777_216
CUT_THRESHOLD: Final = 10_000
SLOW_MS: Final = 30_000
"""Bytes, frames and time of a pause after which a slow reader is cut off (R40)."""

SILENCE_MS: Final = 60_000
"""Two heartbeats and the time for an answer: a client that is silent for longer is dead (R36)."""

DURABLE_MS: Final = 86_400_000
"""How long durable subscriptions outlive the connection of an actor without registration (R42)."""

SEEN_MS: Final = 60_000
SEEN_MAX: Final = 10_000
SEEN_SIZE: Final = 8_388_608
"""How long, for how many messages and in how many bytes, a hub remembers its answers (R35)."""

SEARCH_STEPS: Final = 8_192
MAX_SEARCHES: Final = 1_000
"""Pieces of patterns that all searches look for in one turn, some two milliseconds, and searches
that may be under way (R53)."""

OUTBOUND_QUEUE_FULL: Final = "outbound_queue_full"
"""Why a hub pauses a client."""

SLOW_CONSUMER: Final = "slow_consumer"
HEARTBEAT_TIMEOUT: Final = "heartbeat_timeout"
CONNECT_TIMEOUT: Final = "connect_timeout"
"""Reasons of a `hub:disconnect` beside the usual ones (R36, R40)."""


class CloseCode(IntEnum):
    """How a hub closes a WebSocket (R37)."""

    NORMAL = 1000
    GOING_AWAY = 1001
    POLICY = 1008
    TRY_AGAIN_LATER = 1013


class Detail(StrEnum):
    """What `details.reason` of a `hub:error` says where the code says too little (R5)."""

    INVALID_MESSAGE = "invalid_message"
    UNKNOWN_TYPE = "unknown_type"
    QUEUE_FULL = "queue_full"
    LIMIT_REACHED = "limit_reached"
    NOT_PORTABLE = "not_portable"
