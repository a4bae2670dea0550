"""What can be set of a hub: every limit and every time, with the specification's defaults."""

from typing import ClassVar, Final

from wireloom.protocols.signalhub import constants
from wireloom.wire.rates import Limit, Rate
from wireloom.wire.settings import Settings

_MIN_MESSAGE_SIZE: Final = 512
"""Bytes without which nobody could connect."""


class HubSettings(Settings, frozen=True, kw_only=True):
    """The settings of one hub. A rate of None sets no limit."""

    LEAST: ClassVar = {"max_message_size": _MIN_MESSAGE_SIZE}
    MOST: ClassVar = {"max_message_size": constants.MAX_MESSAGE_SIZE}
    RISING: ClassVar = (
        ("resume_threshold", "pause_threshold"),
        ("pause_threshold", "cut_threshold"),
        ("pause_size", "cut_size"),
        ("heartbeat_interval_ms", "silence_ms"),
    )
    """A client is paused before it is cut off, and resumed when less waits for it; its heartbeats
    keep it alive."""

    secret: bytes
    """What renewal tokens are derived from: 16 bytes or more that nobody can guess."""

    address: str = constants.HUB_ADDRESS
    """The hub's own address."""

    auth: bool = False
    """Whether clients must prove who they are."""

    token_secrets: tuple[bytes, ...] = ()
    """What HS256 tokens may be signed with."""

    token_keys: tuple[bytes, ...] = ()
    """Whose EdDSA tokens are taken."""

    max_message_size: Limit = constants.MAX_MESSAGE_SIZE
    max_lines: Limit = constants.MAX_ACTORS
    max_actors: Limit = constants.MAX_ACTORS
    max_registrations: Limit = constants.MAX_REGISTRATIONS
    max_registrations_size: Limit = constants.MAX_REGISTRATIONS_SIZE
    max_subscriptions: Limit = constants.MAX_SUBSCRIPTIONS
    max_all_subscriptions: Limit = constants.MAX_ALL_SUBSCRIPTIONS
    max_queued: Limit = constants.MAX_QUEUED
    max_all_queued: Limit = constants.MAX_ALL_QUEUED
    max_queued_size: Limit = constants.MAX_QUEUED_SIZE
    max_reports: Limit = constants.MAX_REPORTS
    max_broadcasts: Limit = constants.MAX_BROADCASTS
    max_broadcasts_size: Limit = constants.MAX_BROADCASTS_SIZE
    sync_broadcast_max: Limit = constants.SYNC_BROADCAST_MAX
    slice_size: Limit = constants.SLICE_SIZE
    slice_count: Limit = constants.SLICE_COUNT
    """How many, or how large; see the constants of the same names."""

    connect_ms: Limit = constants.CONNECT_TTL_MS
    """Within this time a new connection says `hub:connect`."""

    heartbeat_interval_ms: Limit = constants.HEARTBEAT_INTERVAL_MS
    silence_ms: Limit = constants.SILENCE_MS
    max_ttl_ms: Limit = constants.MAX_TTL_MS
    slice_pause_ms: Limit = constants.SLICE_PAUSE_MS
    durable_ms: Limit = constants.DURABLE_MS
    report_ms: Limit = constants.REPORT_MS
    slow_ms: Limit = constants.SLOW_MS
    seen_ms: Limit = constants.SEEN_MS
    seen_max: Limit = constants.SEEN_MAX
    seen_size: Limit = constants.SEEN_SIZE

    pause_threshold: Limit = constants.PAUSE_THRESHOLD
    resume_threshold: Limit = constants.RESUME_THRESHOLD
    pause_size: Limit = constants.PAUSE_SIZE
    cut_threshold: Limit = constants.CUT_THRESHOLD
    cut_size: Limit = constants.CUT_SIZE

    line_rate: Rate | None = Rate(200, 1_000)
    """Frames on one connection."""

    actor_rate: Rate | None = Rate(100, 1_000)
    """Messages of one actor, over all its connections."""

    broadcast_rate: Rate | None = Rate(10, 60_000)
    """Broadcasts of one actor."""

    register_rate: Rate | None = Rate(5, 60_000)
    """Registrations of one actor; renewals are not counted."""

    discover_rate: Rate | None = Rate(10, 1_000)
    """Searches of one actor: each may look at every registration."""

    fault_rate: Rate | None = Rate(10, 60_000)
    """Frames on one connection that are no message, or not its to send; more end it (R37)."""

    def __post_init__(self) -> None:
        """Refuses what could be guessed, and values that cannot work together.

        Raises:
            ValueError: If there are any.
        """
        if len(self.secret) < constants.MIN_SECRET_SIZE:
            raise ValueError(f"a secret has {constants.MIN_SECRET_SIZE} bytes or more")
        super().__post_init__()
