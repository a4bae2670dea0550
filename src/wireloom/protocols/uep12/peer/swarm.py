"""One swarm that this node is a peer of: what comes in becomes part of the flow, or is refused."""

from collections.abc import Callable, Iterable
from typing import Final

from msgspec.structs import replace

from wireloom.protocols.uep12.codec import decode
from wireloom.protocols.uep12.constants import INDICATOR, Opcode
from wireloom.protocols.uep12.integrity import (
    check_fresh,
    expires_ms,
    is_proof,
    msg_hash,
    referred_expiry_ms,
    work,
)
from wireloom.protocols.uep12.messages import Content, MessageList, PullByHash, PullByTime
from wireloom.protocols.uep12.peer.answers import Answers
from wireloom.protocols.uep12.peer.compose import Composer
from wireloom.protocols.uep12.peer.confirm import Confirmations
from wireloom.protocols.uep12.peer.flow import Flow, Stored
from wireloom.protocols.uep12.peer.peers import Peer, Peers, State, Step, relay
from wireloom.protocols.uep12.peer.pulls import Pulls
from wireloom.protocols.uep12.peer.records import Kept, forgotten, stored
from wireloom.protocols.uep12.peer.requests import Posted, Received, Refused
from wireloom.protocols.uep12.peer.settings import Membership, PeerSettings
from wireloom.protocols.uep12.peer.sync import PEER_TIMER, Sync
from wireloom.protocols.uep12.recognition import Datagrams
from wireloom.wire.errors import BadPowError, MalformedError, StaleError, WireError
from wireloom.wire.message import Message
from wireloom.wire.outcome import Outcome, Reason
from wireloom.wire.session import (
    Compose,
    Conclude,
    Deliver,
    Line,
    Store,
    Turn,
    WakeAt,
)
from wireloom.wire.session import Swarm as WireSwarm

PURGE_TIMER: Final = "purge"
PURGE_COUNT: Final = 4_096
"""Messages that are forgotten in one turn."""

PURGE_AGAIN_MS: Final = 5
UNSURE_MS: Final = 60_000
"""For so long a record may be on its way to the disk."""

OWN: Final = "own"
"""Whose share is taken by what this node writes itself."""

NOBODY: Final = -1
"""The line of those who have none: this node itself."""

RUBBISH: Final = frozenset(
    {
        Reason.MALFORMED,
        Reason.UNSUPPORTED_VERSION,
        Reason.UNKNOWN_TYPE,
        Reason.TOO_LARGE,
        Reason.BAD_SIGNATURE,
        Reason.BAD_POW,
        Reason.UNAUTHENTICATED,
    }
)
"""What no honest peer sends or relays, whatever its clock and its configuration."""

_CONTENT_BEGINS: Final = bytes((INDICATOR, Opcode.CONTENT))
_CONTENT: Final = Opcode.CONTENT.name
_ACCEPTED: Final = Conclude(Outcome.ACCEPTED, None, None, _CONTENT)
_DUPLICATE: Final = Conclude(Outcome.DUPLICATE, None, None, _CONTENT)
_EXPIRED: Final = Conclude(Outcome.EXPIRED, None, None, _CONTENT)
_FULL: Final = Conclude(Outcome.REJECTED, Reason.QUEUE_FULL, None, _CONTENT)
_FRAGMENT: Final = Conclude(Outcome.QUEUED, whole=b"")
_SHUNNED: Final = Conclude(Outcome.REJECTED, Reason.RATE_LIMITED)


class Swarm:
    """One swarm, its flow and its peers.

    Args:
        settings: The peer's.
        membership: The swarm.
        ticket: Makes tickets.
    """

    def __init__(
        self, settings: PeerSettings, membership: Membership, ticket: Callable[[], bytes]
    ) -> None:
        self._settings = settings
        self.membership = membership
        self.flow = Flow(settings)
        self.peers = Peers(settings)
        self.pulls = Pulls(settings, membership.link, self.flow, self.peers)
        self.sync = Sync(settings, membership, self.peers, self.pulls, ticket)
        self.composer = Composer(settings, membership, self.flow)
        self.confirmations = Confirmations(settings, membership.link, self.flow, self.peers)
        self._answers = Answers(settings, self.flow, self._hold_until_kept)
        self._latest: tuple[int, Store] | None = None
        """The latest record, and when it was stored."""
        self._datagrams: dict[bool, Datagrams] = {True: Datagrams(), False: Datagrams()}
        """Fragments of those who have proven themselves, and of strangers: one cannot take the
        room of the other."""

    def restore(self, turn: Turn, kept: Iterable[tuple[Content, Kept]]) -> None:
        """Takes up what an earlier life stored, and begins."""
        for message, one in kept:
            self._keep(message, one.raw, msg_hash(one.raw), one.owner)
        self.purge(turn)

    def receive(self, turn: Turn, peer: Peer, raw: bytes) -> Conclude:
        """Takes a datagram."""
        peer.earn(len(raw))
        if peer.state is State.SHUNNED:
            return _SHUNNED
        if not raw.startswith(_CONTENT_BEGINS):
            return self._unwrap(turn, peer, raw)
        return self._hear(turn, peer, raw)

    def purge(self, turn: Turn) -> None:
        """Forgets what has expired."""
        gone = self.flow.purge(turn.now_ms, PURGE_COUNT)
        if gone:
            self._latest = None
        turn.commands += [forgotten(self.membership.name, one) for one in gone]
        is_more = len(gone) == PURGE_COUNT
        if not is_more:
            self.pulls.purge(turn.now_ms)
        due_ms = turn.now_ms + (PURGE_AGAIN_MS if is_more else self._settings.purge_ms)
        turn.commands.append(WakeAt((PURGE_TIMER, self.membership.link), due_ms))

    def post(self, turn: Turn, post_id: str, nonce: int) -> None:
        """Tells all peers a message of this side's whose work was found."""
        raw = self.composer.finish(post_id, nonce)
        if raw is None:
            return
        swarm, message, hashed = self.membership, decode(raw), msg_hash(raw)
        assert isinstance(message, Content)
        why = ""
        if expires_ms(message, epoch_ms=swarm.epoch_ms) <= turn.now_ms:
            why = "its time was over before its work was found"
        elif not self.flow.fits(OWN, len(raw)):
            why = "there is no room for it"
        if why:
            turn.commands.append(Deliver(Refused(post_id, why)))
            return
        turn.commands.append(Compose(raw, swarm.name, WireSwarm(swarm.name, swarm.epoch_ms)))
        self._append(turn, message, raw, hashed, OWN)
        relay(turn, self.peers.others(NOBODY), raw)
        turn.commands.append(Deliver(Posted(post_id, hashed)))

    def fire(self, turn: Turn, peer: Peer) -> None:
        """The time has come to ask a peer for something, or to hear it again."""
        if peer.state is State.SHUNNED:
            peer.advance(Step.FORGIVE)
        self.sync.fire(turn, peer)

    def _unwrap(self, turn: Turn, peer: Peer, raw: bytes) -> Conclude:
        """Takes a datagram that is not a whole CONTENT as it is."""
        datagrams = self._datagrams[peer.state is State.PROVEN]
        try:
            assembly = datagrams.feed(peer.line, raw, now_ms=turn.now_ms)
            if assembly is None:
                raise MalformedError("no packet of UEP-12")
        except WireError as error:
            return self._refuse(turn, peer, error)
        whole = assembly.frame
        if whole is None:
            return _FRAGMENT
        conclusion = self._hear(turn, peer, whole)
        return conclusion if whole == raw else replace(conclusion, whole=whole)

    def _hear(self, turn: Turn, peer: Peer, raw: bytes) -> Conclude:
        """Takes a whole message."""
        hashed = b""
        if raw.startswith(_CONTENT_BEGINS):
            hashed = msg_hash(raw)
            if self.flow.knows(hashed, turn.now_ms):
                self.confirmations.came(turn, hashed)
                return _DUPLICATE
        try:
            message = decode(raw)
            if isinstance(message, Content):
                conclusion = self._accept(turn, peer, message, raw, hashed)
            else:
                conclusion = self._answer(turn, peer, message)
        except WireError as error:
            self._settle(turn, hashed)
            return self._refuse(turn, peer, error)
        if peer.state is State.STRANGER:
            self.sync.meet(turn, peer)
        return conclusion

    def _answer(self, turn: Turn, peer: Peer, message: Message) -> Conclude:
        match message:
            case PullByHash():
                return self._answers.pull_by_hash(turn, peer, message)
            case PullByTime():
                return self._answers.pull_by_time(turn, peer, message)
            case MessageList():
                conclusion = self.sync.listed(turn, peer, message)
                question = peer.question
                if question is not None and peer.state is State.PROVEN:
                    peer.question = None
                    self._answers.pull_by_time(turn, peer, question)
                return conclusion
        raise MalformedError("no message of UEP-12")

    def _accept(
        self, turn: Turn, peer: Peer, message: Content, raw: bytes, hashed: bytes
    ) -> Conclude:
        """Appends a message to the flow and relays it, if it is a proper one.

        Raises:
            WireError: If it is not.
        """
        swarm = self.membership
        check_fresh(
            message, now_ms=turn.now_ms, max_ttl_epoch=swarm.max_ttl, epoch_ms=swarm.epoch_ms
        )
        if not is_proof(work(raw)):
            raise BadPowError("its work is not enough")
        self._check_parents(message, turn.now_ms)
        owner = peer.owner
        if not self.flow.fits(owner, len(raw)):
            self._settle(turn, hashed)
            return _FULL
        self._append(turn, message, raw, hashed, owner)
        self._pull_parents(turn, peer, message)
        relay(turn, self.peers.others(peer.line), raw)
        return _ACCEPTED

    def _hold_until_kept(self, turn: Turn) -> None:
        """Has what is sent in this turn wait until all that is stored is on disk.

        The latest record is put again: what waits for it waits for all records before it.
        """
        if self._latest is not None and turn.now_ms - self._latest[0] <= UNSURE_MS:
            turn.commands.append(self._latest[1])

    def _check_parents(self, message: Content, now_ms: int) -> None:
        """Refuses a message that is not younger than one that it refers to."""
        for reference in message.references:
            parent = self.flow.find(reference.msg_hash, now_ms)
            if parent is not None and parent.timestamp >= message.timestamp:
                raise StaleError("it refers to a message that is not older")

    def _append(self, turn: Turn, message: Content, raw: bytes, hashed: bytes, owner: str) -> None:
        """Stores a message and tells the application."""
        referrers = self._settle(turn, hashed)
        self._keep(message, raw, hashed, owner, referrers=referrers)
        self._latest = turn.now_ms, stored(self.membership.name, hashed, owner, raw)
        turn.commands.append(self._latest[1])
        turn.commands.append(Deliver(Received(self.membership.name, hashed, message)))

    def _settle(self, turn: Turn, hashed: bytes) -> int:
        """Pulls a message no more, whether it is taken or not; gives how many refer to it.

        Its hash is that of all its bytes: who else has it has nothing better.
        """
        want = self.pulls.came(hashed)
        if want is None:
            return 0
        asked = self.peers.get(want.line)
        if want.is_listed and asked is not None:
            self.sync.came(turn, asked)
        return want.referrers

    def _keep(
        self, message: Content, raw: bytes, hashed: bytes, owner: str, referrers: int = 0
    ) -> None:
        one = Stored(
            raw,
            timestamp=message.timestamp,
            expires_ms=expires_ms(message, epoch_ms=self.membership.epoch_ms),
            is_pushed_only=message.ttl_epoch == 0,
            owner=owner,
            referrers=referrers,
        )
        self.flow.add(hashed, one, [reference.msg_hash for reference in message.references])

    def _pull_parents(self, turn: Turn, peer: Peer, message: Content) -> None:
        """Pulls what a message refers to and is missing, as long as it has not expired."""
        if not message.references:
            return
        epoch_ms = self.membership.epoch_ms
        expiry_ms = expires_ms(message, epoch_ms=epoch_ms)
        named = [
            (one.msg_hash, referred_expiry_ms(expiry_ms, one.epoch_diff, epoch_ms=epoch_ms))
            for one in message.references
        ]
        self.pulls.want(turn, peer, named)

    def _refuse(self, turn: Turn, peer: Peer, error: WireError) -> Conclude:
        """Says why a frame is refused; hears nothing more for a while if there were too many."""
        if error.reason is Reason.EXPIRED:
            return _EXPIRED
        if error.reason in RUBBISH and peer.is_too_much(turn.now_ms):
            until_ms = self.peers.shun(peer, turn.now_ms)
            turn.commands.append(WakeAt((PEER_TIMER, peer.line), until_ms))
        return Conclude(Outcome.REJECTED, error.reason)

    def lose(self, line: Line) -> Peer | None:
        """A connection ended; gives whose it was."""
        peer = self.peers.get(line)
        if peer is not None:
            self.peers.remove(peer)
        return peer
