"""What the peers of a swarm say: messages as they spread, pulls, lists and echoes."""

from collections import deque
from collections.abc import Sequence
from typing import Any, Final

from wireloom.generate.scene import Conversations, Kind, Scene
from wireloom.generate.swarm import SWARMS, PlannedMessage, Role, Swarm
from wireloom.generate.timeline import MINUTE_US, SECOND_US
from wireloom.generate.truth import Row
from wireloom.protocols.uep12.codec import encode
from wireloom.protocols.uep12.constants import HASH_SIZE, TICKET_SIZE
from wireloom.protocols.uep12.integrity import expires_ms, is_proof, work
from wireloom.protocols.uep12.messages import Content, MessageList, PullByHash, PullByTime
from wireloom.wire.outcome import Direction, Fate, Outcome, Reason

LINK: Final = "udp"
FANOUT: Final = 2
"""To how many peers one passes a message on."""

LISTED: Final = 8
SPREAD_US: Final = 7 * MINUTE_US
"""After so long, all who get a message in time have it."""


class SpreadMessage:
    """A message that spreads, and who has it.

    Args:
        message: The message.
        rows: What is accounted of it, by peer.
    """

    def __init__(self, message: PlannedMessage, rows: dict[str, Row]) -> None:
        self.message = message
        self.rows = rows
        self.holders: list[str] = []
        self.expiry_us = expires_ms(message.content, epoch_ms=message.swarm.epoch_ms) * 1000


class SwarmConversations(Conversations):
    """All that peers say.

    Args:
        scene: Where they are.
        messages: The messages in order of time.
    """

    protocol = "uep12"

    def __init__(self, scene: Scene, messages: Sequence[PlannedMessage]) -> None:
        self._messages = messages
        self._coming: deque[SpreadMessage] = deque()
        self._spreading: dict[str, list[SpreadMessage]] = {swarm.name: [] for swarm in SWARMS}
        super().__init__(scene)

    def kinds(self) -> Sequence[Kind]:
        """What is said beside the messages themselves."""
        return (
            (3, self.pulled),
            (2, self.pulled_in_vain),
            (3, self.pulled_by_time),
            (4, self.echoed),
        )

    def opening(self, at: int) -> None:
        """Every peer asks what there was lately, which is nothing; then messages spread.

        All of them are scheduled now, each for its own time.
        """
        for swarm in SWARMS:
            for number, peer in enumerate(swarm.peers):
                begin = at + number * SECOND_US // 4
                self._pull_by_time(swarm, (peer, swarm.peers[number - 1]), begin, [])
        for message in self._messages:
            self._coming.append(self._tell(message))

    def converse(self, at: int) -> None:
        """Something about the messages that have spread by now."""
        while self._coming and self._coming[0].message.at + SPREAD_US <= at:
            spread = self._coming.popleft()
            self._spreading[spread.message.swarm.name].append(spread)
        super().converse(at)

    def forge(self, at: int) -> None:
        """A message without the work that it takes."""
        swarm = self.rng.choice(SWARMS)
        raw = self._without_work(at)
        sender, receiver = self.rng.sample(swarm.peers, 2)
        verdict = self.scene.judged(Reason.BAD_POW)
        seen_at = self.scene.after(at, 1, SECOND_US)
        if self._see(seen_at, swarm, receiver, Direction.IN, raw, peer=sender, **verdict):
            self.scene.truth.forged()

    def pulled(self, at: int) -> None:
        """A peer asks for a message by its hash, and gets what it has meanwhile."""
        spread = self._alive(at)
        if spread is None:
            self.pulled_in_vain(at)
            return
        asker, asked = self.rng.sample(spread.holders, 2)
        answer = (spread.message.raw, Outcome.DUPLICATE)
        pull = PullByHash(msg_hashes=(spread.message.hash,))
        self._ask(spread.message.swarm, (asker, asked), encode(pull), at, answer)

    def pulled_in_vain(self, at: int) -> None:
        """A peer asks for messages that nobody has."""
        swarm = self.rng.choice(SWARMS)
        hashes = tuple(self.rng.randbytes(HASH_SIZE) for _ in range(self.rng.randint(1, 3)))
        asker, asked = self.rng.sample(swarm.peers, 2)
        self._ask(swarm, (asker, asked), encode(PullByHash(msg_hashes=hashes)), at)

    def pulled_by_time(self, at: int) -> None:
        """A peer asks what there was lately, and gets a list."""
        swarm = self.rng.choice(SWARMS)
        asker, asked = self.rng.sample(swarm.peers, 2)
        lately = [
            spread
            for spread in self._spreading[swarm.name]
            if asked in spread.holders and spread.expiry_us > at
        ]
        self._pull_by_time(swarm, (asker, asked), at, lately[-LISTED:])

    def echoed(self, at: int) -> None:
        """A peer pushes a message to another that has it already."""
        spread = self._alive(at)
        if spread is None:
            self.pulled_in_vain(at)
            return
        sender, receiver = self.rng.sample(spread.holders, 2)
        self._hop(
            spread.message.swarm, (sender, receiver), spread.message.raw, at, Outcome.DUPLICATE
        )

    def _alive(self, at: int) -> SpreadMessage | None:
        """A message that at least two peers have and may still speak of."""
        swarm = self.rng.choice(SWARMS)
        found = [
            spread
            for spread in self._spreading[swarm.name][-20:]
            if spread.expiry_us > at and len(spread.holders) > 1
        ]
        return self.rng.choice(found) if found else None

    def _tell(self, message: PlannedMessage) -> SpreadMessage:
        """A message spreads as its role says."""
        swarm, at = message.swarm, message.at
        composer, *others = self.rng.sample(swarm.peers, len(swarm.peers))
        deadline_ms = expires_ms(message.content, epoch_ms=swarm.epoch_ms)
        rows = {
            peer: self.scene.row(message.hash.hex(), peer, deadline_ms=deadline_ms, at=at)
            for peer in others
        }
        spread = SpreadMessage(message, rows)
        spread.holders.append(composer)
        self._see(at, swarm, composer, Direction.LOCAL, message.raw, outcome=Outcome.ACCEPTED)
        match message.role:
            case Role.AHEAD:
                self._refuse(spread, others, Reason.FUTURE, at)
                self._spread(spread, others[:3], at + 6 * MINUTE_US)
            case Role.GREEDY:
                self._refuse(spread, others, Reason.TTL_EXCEEDED, at)
            case Role.SHORT | Role.PATIENT:
                self._spread(spread, others[2:], at)
            case Role.LATE:
                late_at = self._spread(spread, others[1:], at)
                self._recover(spread, others[0], max(late_at, spread.expiry_us + MINUTE_US))
            case _:
                self._recover(
                    spread, others[0], self._spread(spread, others[1:], at) + 5 * SECOND_US
                )
        return spread

    def _spread(self, spread: SpreadMessage, peers: Sequence[str], at: int) -> int:
        """A message goes from those who have it to `peers`; gives the last instant."""
        swarm, raw = spread.message.swarm, spread.message.raw
        for peer in peers:
            senders = self.rng.sample(spread.holders, min(FANOUT, len(spread.holders)))
            outcome = self.rng.choice((Outcome.ACCEPTED, Outcome.DELIVERED))
            for sender in senders:
                at = self._hop(swarm, (sender, peer), raw, at, outcome)
                self._note(spread, peer, outcome, at)
                outcome = Outcome.DUPLICATE
            spread.holders.append(peer)
        return at

    def _refuse(self, spread: SpreadMessage, peers: Sequence[str], reason: Reason, at: int) -> None:
        composer = spread.holders[0]
        for peer in peers:
            route = (composer, peer)
            swarm, raw = spread.message.swarm, spread.message.raw
            at = self._hop(swarm, route, raw, at, Outcome.REJECTED, reason=reason)
            spread.rows[peer].prove(Fate.REJECTED, at, reason)

    def _recover(self, spread: SpreadMessage, peer: str, at: int) -> None:
        """A peer that missed a message pulls it; too late, if its lifetime is over."""
        outcome = Outcome.EXPIRED if at >= spread.expiry_us else Outcome.ACCEPTED
        pull = encode(PullByHash(msg_hashes=(spread.message.hash,)))
        route = (peer, self.rng.choice(spread.holders))
        at = self._ask(spread.message.swarm, route, pull, at, (spread.message.raw, outcome))
        self._note(spread, peer, outcome, at)
        if outcome is Outcome.ACCEPTED:
            spread.holders.append(peer)

    def _note(self, spread: SpreadMessage, peer: str, outcome: Outcome, at: int) -> None:
        if outcome in (Outcome.ACCEPTED, Outcome.DELIVERED):
            spread.rows[peer].prove(Fate.DELIVERED, at)
        elif outcome is Outcome.EXPIRED:
            spread.rows[peer].prove(Fate.EXPIRED, at)

    def _pull_by_time(
        self, swarm: Swarm, route: tuple[str, str], at: int, found: Sequence[SpreadMessage]
    ) -> None:
        now_ms = at // 1000
        ticket = self.rng.randbytes(TICKET_SIZE)
        window = {"start_time": now_ms - 3_600_000, "end_time": now_ms}
        hashes = tuple(spread.message.hash for spread in found)
        listed = encode(MessageList(ticket=ticket, msg_hashes=hashes, **window))
        pull = encode(PullByTime(ticket=ticket, **window))
        self._ask(swarm, route, pull, at, (listed, Outcome.ACCEPTED))

    def _ask(
        self,
        swarm: Swarm,
        route: tuple[str, str],
        question: bytes,
        at: int,
        answer: tuple[bytes, Outcome] | None = None,
    ) -> int:
        """A question to a peer and, if it has any, its answer; gives the last instant."""
        asker, asked = route
        self._see(at, swarm, asker, Direction.LOCAL, question, outcome=Outcome.ACCEPTED)
        at = self._hop(swarm, route, question, at, Outcome.ACCEPTED)
        if answer is None:
            return at
        raw, outcome = answer
        return self._hop(swarm, (asked, asker), raw, at, outcome)

    def _hop(
        self,
        swarm: Swarm,
        route: tuple[str, str],
        raw: bytes,
        at: int,
        outcome: Outcome,
        **more: Any,
    ) -> int:
        """One transmission and its reception; gives the instant of the latter."""
        sender, receiver = route
        at = self.scene.after(at, 200, 3_000)
        self._see(at, swarm, sender, Direction.OUT, raw, peer=receiver)
        at = self.scene.after(at, 2_000, 60_000)
        self._see(at, swarm, receiver, Direction.IN, raw, peer=sender, outcome=outcome, **more)
        return at

    def _see(
        self, at: int, swarm: Swarm, peer_name: str, direction: Direction, raw: bytes, **more: Any
    ) -> bool:
        more |= {"link": LINK, "swarm": swarm.name, "epoch_ms": swarm.epoch_ms}
        return self.scene.see(at, peer_name, direction, raw, **more)

    def _without_work(self, at: int) -> bytes:
        while True:
            content = Content(
                pow_nonce=self.rng.getrandbits(64),
                timestamp=at // 1000,
                ttl_epoch=10,
                payload=self.rng.randbytes(40),
            )
            raw = encode(content)
            if not is_proof(work(raw)):
                return raw
