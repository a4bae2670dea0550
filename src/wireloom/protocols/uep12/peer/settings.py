"""What an operator can set of a peer: its swarms, and every limit and time."""

from typing import ClassVar

from msgspec import Struct

from wireloom.protocols.uep12.constants import (
    ANSWER_SIZE,
    DEFAULT_EPOCH_MS,
    DEFAULT_MAX_TTL,
    DELIVERED_COUNT,
    MAX_MESSAGE_SIZE,
    MTU,
    PEER_COUNT,
    POST_COUNT,
    PULL_COUNT,
    PULL_MS,
    PURGE_MS,
    REFRESH_MS,
    REMEMBER_MS,
    RUBBISH_COUNT,
    SHUN_MS,
    STORED_COUNT,
    STORED_SIZE,
    SWEEP_MS,
    TICKET_MS,
    WANTED_COUNT,
)
from wireloom.wire.settings import Settings


class Membership(Struct, frozen=True, kw_only=True):
    """One swarm that a node is a peer of: what its peers have agreed on, and who they are."""

    name: str = "swarm"
    """What captures, metrics and people call it."""

    link: str = "udp"
    """The link that its frames come and go on (R17)."""

    epoch_ms: int = DEFAULT_EPOCH_MS
    """The unit of lifetimes."""

    max_ttl: int = DEFAULT_MAX_TTL
    """How many of them a message may ask for."""

    peers: tuple[str, ...] = ()
    """Addresses of peers to reach out to."""

    @property
    def max_lifetime_ms(self) -> int:
        """How long a message lives at most."""
        return max(1, self.max_ttl) * self.epoch_ms


class PeerSettings(Settings, frozen=True, kw_only=True):
    """The settings of a peer. Limits are for each swarm.

    Raises:
        ValueError: If two swarms have one name or one link, or a limit cannot work.
    """

    LEAST: ClassVar[dict[str, int]] = {
        "max_message_size": MTU,
        "answer_size": MAX_MESSAGE_SIZE,
        "pull_ms": 10,
        "ticket_ms": 10,
        "refresh_ms": 10,
        "purge_ms": 10,
    }
    """With less, nothing could be asked or answered."""

    MOST: ClassVar[dict[str, int]] = {"max_message_size": MAX_MESSAGE_SIZE}

    memberships: tuple[Membership, ...] = (Membership(),)
    """The swarms; each has a flow of its own."""

    secret: bytes = b""
    """What nobody else knows: tickets are made of it."""

    max_message_size: int = MAX_MESSAGE_SIZE
    """Bytes of a datagram that is read."""

    stored_count: int = STORED_COUNT
    """Messages that are stored."""

    stored_size: int = STORED_SIZE
    """Bytes of them, with what is kept beside each."""

    wanted_count: int = WANTED_COUNT
    """Messages that are known by their hash only, and pulled."""

    max_peer_count: int = PEER_COUNT
    """Addresses that are spoken with; the oldest that has proven nothing makes way."""

    post_count: int = POST_COUNT
    """Messages of the application whose work is searched or waits to be."""

    delivered_count: int = DELIVERED_COUNT
    """So many messages, or fewer, are sent themselves in answer to a pull by time."""

    answer_size: int = ANSWER_SIZE
    """Bytes a second that one peer may ask for."""

    rubbish_count: int = RUBBISH_COUNT
    """Frames within `shun_ms` that are no proper messages, after which a peer is not heard."""

    shun_ms: int = SHUN_MS
    """For how long it is not heard."""

    pull_ms: int = PULL_MS
    """After so long without an answer, a message is pulled from another peer."""

    pull_count: int = PULL_COUNT
    """After so many pulls it counts as irretrievable."""

    ticket_ms: int = TICKET_MS
    """How long the answer to a pull by time is awaited."""

    refresh_ms: int = REFRESH_MS
    """How often each peer is asked what there was lately, and those that are away are tried."""

    sweep_ms: int = SWEEP_MS
    """How often each peer is asked for all that has not expired."""

    purge_ms: int = PURGE_MS
    """How often messages that have expired are forgotten; they are not used in any case."""

    remember_ms: int = REMEMBER_MS
    """How long the hash of a message is known after it has expired."""

    def __post_init__(self) -> None:
        """Refuses what no peer can work with; msgspec passes a ValueError on as its own."""
        super().__post_init__()
        for what in ("name", "link"):
            found = [getattr(one, what) for one in self.memberships]
            if len(set(found)) < len(found):
                raise ValueError(f"two swarms have the same {what}")
