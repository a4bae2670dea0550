"""What an operator can set of a broker: who it is, what it trusts, and every limit."""

from typing import ClassVar

from wireloom.protocols.cthun.constants import (
    ASSOCIATION_TIMEOUT_MS,
    BROKER_TTL_MS,
    BROKER_URI,
    BURST_COUNT,
    CROWDED_SIZE,
    EARLY_COUNT,
    EARLY_SIZE,
    HELD_COUNT,
    HELD_SIZE,
    IDLE_TIMEOUT_MS,
    MAX_CONNECTION_COUNT,
    MAX_ENVELOPE_SIZE,
    MAX_LIFETIME_MS,
    MAX_MESSAGE_SIZE,
    MAX_QUERY_COUNT,
    MAX_REDELIVERY_MS,
    MAX_REQUEST_SIZE,
    MAX_TARGET_COUNT,
    MAX_TYPE_SIZE,
    MAX_URI_SIZE,
    MIN_REDELIVERY_MS,
    REPORT_WAIT_MS,
    SEEN_COUNT,
    SLICE_SIZE,
    STALLED_COUNT,
    STALLED_SIZE,
    UNREAD_SIZE,
)
from wireloom.protocols.cthun.uris import is_server, is_wildcard, parse
from wireloom.wire.errors import MalformedError
from wireloom.wire.settings import Settings


class BrokerSettings(Settings, frozen=True, kw_only=True):
    """The settings of a broker.

    Raises:
        ValueError: If the URI is not that of one broker, or a limit cannot work.
    """

    LEAST: ClassVar[dict[str, int]] = {
        "max_message_size": 256,
        "max_envelope_size": 256,
        "early_size": 256,
        "association_timeout_ms": 100,
        "idle_timeout_ms": 1_000,
    }
    """With less, nobody could associate or stay."""

    MOST: ClassVar[dict[str, int]] = {
        "max_message_size": MAX_MESSAGE_SIZE,
        "max_uri_size": MAX_URI_SIZE,
    }

    uri: str = BROKER_URI
    """What the broker calls itself in the notes it makes: `cth://<its name>/server`."""

    trust_sender: bool = False
    """Whether a client without a certificate may be whoever it says it is."""

    association_timeout_ms: int = ASSOCIATION_TIMEOUT_MS
    """A connection that is not associated by then is closed."""

    idle_timeout_ms: int = IDLE_TIMEOUT_MS
    """A connection on which nothing went either way for so long is closed."""

    broker_ttl_ms: int = BROKER_TTL_MS
    """Lifetime of the broker's own messages."""

    min_redelivery_ms: int = MIN_REDELIVERY_MS
    """The shortest wait before the next attempt at a delivery."""

    max_redelivery_ms: int = MAX_REDELIVERY_MS
    """The longest."""

    report_wait_ms: int = REPORT_WAIT_MS
    """How long the news of an expiry waits for a sender that is away."""

    max_message_size: int = MAX_MESSAGE_SIZE
    """Bytes in a message as a client sends it."""

    max_envelope_size: int = MAX_ENVELOPE_SIZE
    """Bytes in the envelope of a message, and in all its debug chunks together."""

    max_request_size: int = MAX_REQUEST_SIZE
    """Bytes in the data of a message for the broker itself."""

    max_type_size: int = MAX_TYPE_SIZE
    """Characters in a message type."""

    max_query_count: int = MAX_QUERY_COUNT
    """Patterns in an inventory request."""

    early_count: int = EARLY_COUNT
    """Frames that a client may send before it is associated."""

    early_size: int = EARLY_SIZE
    """Bytes in each of them."""

    max_connection_count: int = MAX_CONNECTION_COUNT
    """Connections at a time."""

    max_uri_size: int = MAX_URI_SIZE
    """Characters in the URI of a client, and in a target."""

    max_target_count: int = MAX_TARGET_COUNT
    """Targets that one message names."""

    seen_count: int = SEEN_COUNT
    """Message ids that are remembered at least."""

    held_count: int = HELD_COUNT
    """Messages that are held, each counted once for every client it is held for."""

    held_size: int = HELD_SIZE
    """Bytes of them: whole records, with all that is kept for each client."""

    max_lifetime_ms: int = MAX_LIFETIME_MS
    """How long a message is held at most, whatever its envelope says."""

    burst_count: int = BURST_COUNT
    """Held messages that are delivered or reported in one turn."""

    stalled_count: int = STALLED_COUNT
    """Frames waiting to leave for a client from which on messages for it are held."""

    stalled_size: int = STALLED_SIZE
    """Bytes waiting, likewise."""

    slice_size: int = SLICE_SIZE
    """Bytes of messages for several clients, or that waited, that leave within 16 ms."""

    crowded_size: int = CROWDED_SIZE
    """Bytes waiting to leave for all clients, from which on only what is small leaves in slices."""

    unread_size: int = UNREAD_SIZE
    """Bytes that the broker says to a client that does not read before it cuts the client."""

    def __post_init__(self) -> None:
        """Refuses what no broker can work with; msgspec passes a ValueError on as its own."""
        try:
            parse(self.uri)
        except MalformedError as error:
            raise ValueError(error.detail) from None
        if is_wildcard(self.uri) or not is_server(self.uri) or len(self.uri) > MAX_URI_SIZE:
            raise ValueError(f"{self.uri!r:.80} is not the URI of one broker")
        super().__post_init__()
        if self.min_redelivery_ms > self.max_redelivery_ms:
            raise ValueError("min_redelivery_ms must not be above max_redelivery_ms")
