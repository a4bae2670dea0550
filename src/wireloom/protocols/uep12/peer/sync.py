"""Asking peers for what they have, window by window of time.

A sweep goes from one end of a range to the other: each window begins where the last answer ended.
The first sweep of a peer is over all that may be alive, and so is one now and then; those between
are over the last moments. The first pull is also what an address proves itself with: only who got
it can echo its ticket (R19).
"""

from collections.abc import Callable
from hashlib import sha256
from itertools import count
from typing import Final

from wireloom.protocols.uep12.codec import encode
from wireloom.protocols.uep12.constants import DIALLED_CREDIT, MAX_AHEAD_MS, TICKET_SIZE, Opcode
from wireloom.protocols.uep12.messages import MessageList, PullByTime
from wireloom.protocols.uep12.peer.peers import Peer, Peers, State, tell
from wireloom.protocols.uep12.peer.pulls import Pulls
from wireloom.protocols.uep12.peer.requests import Met, Synced
from wireloom.protocols.uep12.peer.settings import Membership, PeerSettings
from wireloom.wire.errors import UnauthenticatedError
from wireloom.wire.ids import Ids
from wireloom.wire.outcome import Outcome
from wireloom.wire.session import Admit, Conclude, Deliver, Send, Turn, WakeAt

PEER_TIMER: Final = "peer"
MAX_TRIES: Final = 3
"""So often a window is asked for; then the sweep ends, until the next one."""

MAX_VAIN: Final = 2
"""After so many sweeps without an answer, a peer is a stranger again."""

RECENT_REFRESHES: Final = 4
"""How many times `refresh_ms` a sweep over the last moments goes back."""

FEW_OWED: Final = 64
"""The next window is asked for when no more than so many messages of the last one are to come."""

_LISTED: Final = Opcode.MESSAGE_LIST.name
TAKEN: Final = Conclude(Outcome.ACCEPTED, None, None, _LISTED)
LATE: Final = Conclude(Outcome.DUPLICATE, None, None, _LISTED)
"""An honest answer that comes again, or after its time."""


def tickets(secret: bytes, ids: Ids) -> Callable[[], bytes]:
    """What makes tickets that nobody can guess."""
    numbers = count()
    begin = secret + ids.prefix.encode()
    return lambda: sha256(begin + b"%d" % next(numbers)).digest()[:TICKET_SIZE]


class Sync:
    """The sweeps of one swarm.

    Args:
        settings: The peer's.
        membership: The swarm.
        peers: Who is asked.
        pulls: Pulls what peers have and is missing here.
        ticket: Makes tickets.
    """

    def __init__(
        self,
        settings: PeerSettings,
        membership: Membership,
        peers: Peers,
        pulls: Pulls,
        ticket: Callable[[], bytes],
    ) -> None:
        self._settings = settings
        self._membership = membership
        self._peers = peers
        self._pulls = pulls
        self._ticket = ticket
        self.is_synced = False
        """Whether a peer has been asked for the whole flow, and has given all that it has."""

    def meet(self, turn: Turn, peer: Peer) -> None:
        """Asks a peer that nothing is asked of yet, be it that it may prove itself."""
        if not peer.sweep.is_under_way:
            self._begin(turn, peer)

    def listed(self, turn: Turn, peer: Peer, message: MessageList) -> Conclude:
        """Takes the answer to a pull: the peer has proven itself, and tells what it has.

        Raises:
            UnauthenticatedError: If its ticket was never given to the peer.
        """
        sweep, now_ms = peer.sweep, turn.now_ms
        if message.ticket != sweep.ticket:
            if message.ticket in sweep.spent:
                return LATE
            raise UnauthenticatedError("nobody was asked with this ticket")
        sweep.spend()
        sweep.tries = sweep.vain_count = 0
        if self._peers.prove(peer):
            turn.commands.append(Admit(peer.line))
            turn.commands.append(Deliver(Met(self._membership.name, peer.address)))
        expires_ms = now_ms + self._membership.max_lifetime_ms
        named = [(one, expires_ms) for one in message.msg_hashes]
        sweep.owed = self._pulls.want(turn, peer, named, is_listed=True)
        is_progress = bool(named) and message.end_time >= sweep.start_ms
        if not is_progress and message.end_time < sweep.until_ms:
            self._end(turn, peer)
            return TAKEN
        sweep.start_ms = max(message.end_time, sweep.start_ms) + 1
        due_ms = now_ms + self._settings.ticket_ms
        turn.commands.append(WakeAt((PEER_TIMER, peer.line), due_ms))
        self._go_on(turn, peer)
        return TAKEN

    def came(self, turn: Turn, peer: Peer) -> None:
        """A message that a peer has listed has come."""
        peer.sweep.owed = max(0, peer.sweep.owed - 1)
        self._go_on(turn, peer)

    def fire(self, turn: Turn, peer: Peer) -> None:
        """Something did not come, or it is time for the next sweep."""
        sweep = peer.sweep
        sweep.owed = 0
        if sweep.ticket is not None:
            sweep.spend()
            sweep.tries += 1
            if sweep.tries >= MAX_TRIES or (peer.state is State.STRANGER and peer.dial is None):
                self._fail(turn, peer)
                return
        if sweep.is_under_way:
            self._go_on(turn, peer)
        elif peer.state is State.PROVEN or peer.dial is not None:
            self._begin(turn, peer)

    def _begin(self, turn: Turn, peer: Peer) -> None:
        sweep, now_ms, settings = peer.sweep, turn.now_ms, self._settings
        whole_ms = sweep.whole_ms
        sweep.is_whole = whole_ms is None or now_ms - whole_ms >= settings.sweep_ms
        span_ms = self._membership.max_lifetime_ms
        if not sweep.is_whole:
            span_ms = min(span_ms, MAX_AHEAD_MS + RECENT_REFRESHES * settings.refresh_ms)
        sweep.start_ms = max(0, now_ms - span_ms)
        sweep.until_ms = now_ms + MAX_AHEAD_MS
        sweep.tries = sweep.owed = 0
        if peer.dial is not None:
            peer.credit = max(peer.credit, DIALLED_CREDIT)
        sweep.is_under_way = True
        self._go_on(turn, peer)

    def _go_on(self, turn: Turn, peer: Peer) -> None:
        """Asks for the next window, or ends the sweep, once nearly all of the last has come."""
        sweep = peer.sweep
        if not sweep.is_under_way or sweep.ticket is not None:
            return
        if sweep.start_ms <= sweep.until_ms:
            if sweep.owed <= FEW_OWED:
                self._ask(turn, peer)
        elif not sweep.owed:
            self._finish(turn, peer)

    def _ask(self, turn: Turn, peer: Peer) -> None:
        sweep, ticket = peer.sweep, self._ticket()
        pull = PullByTime(ticket=ticket, start_time=sweep.start_ms, end_time=sweep.until_ms)
        if peer.dial is not None:  # nobody else has given this address: asking is no answer
            turn.commands.append(Send(peer.line, encode(pull)))
        elif not tell(turn, peer, encode(pull)):
            sweep.is_under_way = False
            return
        sweep.ticket = ticket
        due_ms = turn.now_ms + self._settings.ticket_ms
        turn.commands.append(WakeAt((PEER_TIMER, peer.line), due_ms))

    def _finish(self, turn: Turn, peer: Peer) -> None:
        """All that a peer has of the range is here."""
        if peer.sweep.is_whole:
            peer.sweep.whole_ms = turn.now_ms
            if not self.is_synced:
                self.is_synced = True
                turn.commands.append(Deliver(Synced(self._membership.name)))
        self._end(turn, peer)

    def _fail(self, turn: Turn, peer: Peer) -> None:
        """A peer did not answer; who does so again and again has to prove itself anew."""
        peer.sweep.vain_count += 1
        if peer.sweep.vain_count >= MAX_VAIN and peer.state is State.PROVEN:
            self._peers.doubt(peer)
        self._end(turn, peer)

    def _end(self, turn: Turn, peer: Peer) -> None:
        """The sweep is over; another one follows later."""
        peer.sweep.is_under_way = False
        due_ms = turn.now_ms + self._settings.refresh_ms
        turn.commands.append(WakeAt((PEER_TIMER, peer.line), due_ms))
