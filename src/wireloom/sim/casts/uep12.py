"""The peers of UEP-12 swarms."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, ClassVar, Final

from msgspec.structs import replace

from wireloom.performing.world import NS_PER_MS
from wireloom.protocols.uep12.constants import DEFAULT_EPOCH_MS, DEFAULT_MAX_TTL, MAX_AHEAD_MS
from wireloom.protocols.uep12.integrity import msg_hash
from wireloom.protocols.uep12.peer.flow import Flow
from wireloom.protocols.uep12.peer.requests import Post, Posted, Received, Refused
from wireloom.protocols.uep12.peer.session import PeerSession
from wireloom.protocols.uep12.peer.settings import Membership, PeerSettings
from wireloom.sim.ledger import Meant
from wireloom.sim.parts import Part, converted
from wireloom.wire.ids import Ids
from wireloom.wire.outcome import Fate, Outcome
from wireloom.wire.session import Conclude, Session, Swarm

LINK: Final = "udp"
LAST_MS: Final = (1 << 48) - 1
"""The latest time that a message can name."""


class Limits(PeerSettings, frozen=True, kw_only=True):
    """What a scenario can set of a peer: its swarm, whom it knows, and its session's settings."""

    MOST: ClassVar[dict[str, int]] = {**PeerSettings.MOST, "max_ttl": (1 << 16) - 1}

    swarm: str = "swarm"
    """Its name; those with the same are peers of each other."""

    epoch_ms: int = DEFAULT_EPOCH_MS
    max_ttl: int = DEFAULT_MAX_TTL
    known: int = 3
    """So many of those who were there before it are named to it, by chance."""


class Peer(Part):
    """A peer of one swarm."""

    ROLE = "peer"
    PROTOCOL = "uep12"
    IS_NODE = True
    ACTS = ("post",)
    BOUNDS: ClassVar[Mapping[str, str]] = {
        "total": "stored_count",
        "stored_bytes": "stored_size",
        "missing": "wanted_count",
        "irretrievable": "wanted_count",
        "posting": "post_count",
    }
    """The numbers of its swarm that a setting bounds, and which."""

    @classmethod
    def check(cls, name: str, limits: Mapping[str, Any], error: Callable[[str], Exception]) -> None:
        """Raises an error if these settings cannot be."""
        converted(Limits, name, limits, error)

    def settle_in(self) -> None:
        """Takes datagrams, and gets to know some who were there before."""
        self.settings = converted(Limits, self.name, self.limits, ValueError)
        self._joined_ns: int | None = None
        self._life: PeerSession | None = None
        self._has_spoken = False
        earlier = [peer.address for peer in self.mates]
        known = self.stage.world.streams.stream(f"peers {self.name}")
        self.membership = Membership(
            name=self.settings.swarm,
            link=LINK,
            epoch_ms=self.settings.epoch_ms,
            max_ttl=self.settings.max_ttl,
            peers=tuple(known.sample(earlier, min(self.settings.known, len(earlier)))),
        )
        swarm = Swarm(self.membership.name, self.membership.epoch_ms)
        self.stage.world.bind(self.machine, LINK, self.address, swarm=swarm)

    def session(self) -> Session:
        """The peer of a new life."""
        secret = f"secret of {self.boot}".encode()
        settings = replace(self.settings, memberships=(self.membership,), secret=secret)
        self._life = PeerSession(settings, Ids(self.boot))
        return self._life

    @property
    def address(self) -> str:
        """Where it takes datagrams."""
        return f"{self.name}:1"

    @property
    def mates(self) -> Sequence["Peer"]:
        """All peers of its swarm, itself included."""
        peers = (part for part in self.stage.of_role(self.ROLE) if isinstance(part, Peer))
        return [peer for peer in peers if peer.settings.swarm == self.settings.swarm]

    @property
    def lifetime_ms(self) -> int:
        """How long its messages live: whole epochs."""
        return self._ttl_epoch * self.membership.epoch_ms

    @property
    def _ttl_epoch(self) -> int:
        epochs = super().lifetime_ms // self.membership.epoch_ms
        return min(max(1, epochs), self.membership.max_ttl)

    @property
    def _flow(self) -> Flow | None:
        """What it holds, while it runs."""
        if self._life is None or not self.machine.is_up:
            return None
        return self._life.swarms[self.membership.name].flow

    # What its application is told.

    def wake(self) -> None:
        """Its session reaches out by itself."""
        self._joined_ns = self.stage.world.now_ns

    def hears(self, item: object) -> None:
        """Takes what the session tells."""
        messages = self.stage.ledger.messages
        match item:
            case Received(content=content):
                message = self.recognises(content.payload.decode(errors="replace"))
                if message is not None:
                    self.counts(message, keeper=self)
            case Posted(post_id, hashed):
                messages[post_id].frame_id = hashed.hex()
                messages[post_id].promised.update(messages[post_id].targets)
            case Refused(post_id):
                messages[post_id].failed = True

    # What it is held to.

    def says(self, raw: bytes, now_ms: int) -> None:
        """Holds a message that it sends against the books."""
        message = self.stage.ledger.find(raw)
        if message is not None and now_ms >= message.expires_ms:
            words = f"{message.id} was told {now_ms - message.expires_ms} ms after it expired"
            self.stage.broken("in_time", words, self.name, message.sender)

    def bounds(self) -> Mapping[str, int]:
        """What gauges may reach."""
        name, settings = self.membership.name, self.settings
        return {f"{name}.{one}": getattr(settings, limit) for one, limit in self.BOUNDS.items()}

    def drained(self) -> Sequence[str]:
        """The gauges that are 0 once nothing has gone wrong for a while."""
        return [f"{self.membership.name}.{one}" for one in ("missing", "posting")]

    def owed(self, message: Meant) -> Collection[str]:
        """The peers whose flow lacks a message, unless it expires about now."""
        soon_ms = self.stage.world.now_ms + MAX_AHEAD_MS
        if message.expires_ms <= soon_ms:
            return ()
        return {peer.name for peer in self.mates if not peer.holds(message, soon_ms)}

    def holds(self, message: Meant, now_ms: int) -> bool:
        """Whether a message is in its flow."""
        flow = self._flow
        return flow is not None and flow.find(bytes.fromhex(message.frame_id), now_ms) is not None

    # What `agreed` compares.

    def flow(self) -> str:
        """The name of its swarm."""
        return self.membership.name

    def held(self, now_ns: int) -> frozenset[bytes]:
        """The messages of its flow that live on for as long as clocks may differ."""
        if self._flow is None:
            return frozenset()
        found = self._flow.between(0, LAST_MS, now_ns // NS_PER_MS + MAX_AHEAD_MS)
        return frozenset(hashed for hashed, _ in found)

    @property
    def joined_ns(self) -> int | None:
        """Since when it takes part; None while it does not."""
        return self._joined_ns if self.machine.is_up else None

    # What it captures.

    def heard(self, raw: bytes, conclusion: Conclude) -> None:
        """Takes note of what became of a message here."""
        self._has_spoken = True
        message = self.stage.ledger.find(raw)
        if message is None or message.frame_id != msg_hash(raw).hex():
            return  # it carries none, or one that was damaged on its way
        match conclusion.outcome:
            case Outcome.ACCEPTED:
                message.lost.add(self.name)
            case Outcome.REJECTED:
                message.refused.setdefault(self.name, (Fate.REJECTED, conclusion.reason))
            case Outcome.EXPIRED:
                message.refused.setdefault(self.name, (Fate.EXPIRED, None))

    def composed(self, raw: bytes) -> None:
        """Takes note of a message of its own."""
        self._has_spoken = True
        message = self.stage.ledger.find(raw)
        if message is not None:
            message.frame_id = msg_hash(raw).hex()
            message.deadline_ms = message.expires_ms

    def destinations(self, message: Meant) -> list[tuple[str | None, tuple[str, ...]]]:
        """All other peers that have been heard of, whatever it says."""
        del message
        spoken = [peer for peer in self.mates if peer.has_spoken and peer is not self]
        return [(peer.name, (peer.name,)) for peer in spoken]

    @property
    def has_spoken(self) -> bool:
        """Whether its captures have anything."""
        return self._has_spoken or self.machine.counts.sent.total() > 0

    # What it does.

    def do_post(self) -> None:
        """Tells the swarm something."""
        message = self.means(self.next_id(), self.mates)
        payload = message.content.encode()
        self.asks(Post(id=message.id, payload=payload, ttl_epoch=self._ttl_epoch))


ROLES: Final = (Peer,)
