"""What peers are told who ask: messages by their hashes, and messages of a range of time.

No answer to an address that has proven nothing is larger than what came from it. The answer to a
pull by time ends with a list, so that who asks knows how much of the range was told (R18).
"""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final

from wireloom.protocols.uep12.codec import encode
from wireloom.protocols.uep12.constants import HASH_SIZE, MAX_LIST_HASHES, Opcode
from wireloom.protocols.uep12.messages import MessageList, PullByHash, PullByTime
from wireloom.protocols.uep12.peer.flow import Flow, Stored
from wireloom.protocols.uep12.peer.peers import Peer, State, tell
from wireloom.protocols.uep12.peer.settings import PeerSettings
from wireloom.wire.outcome import Outcome, Reason
from wireloom.wire.session import Conclude, Turn

LIST_SIZE: Final = 19
"""Bytes of a list without hashes."""

MAX_COUNT: Final = 255
"""What a byte can count: hashes of messages with one and the same time, which no range divides."""

Found = list[tuple[bytes, Stored]]


class Answers:
    """Answers the pulls of a swarm.

    Args:
        settings: The peer's.
        flow: What there is.
        hold: Has what is sent in a turn wait until all that is stored is on disk.
    """

    def __init__(self, settings: PeerSettings, flow: Flow, hold: Callable[[Turn], None]) -> None:
        self._settings = settings
        self._flow = flow
        self._hold = hold

    def pull_by_hash(self, turn: Turn, peer: Peer, pull: PullByHash) -> Conclude:
        """Sends the messages that are asked for, as far as they are here and may be sent."""
        name = Opcode.PULL_BY_HASH.name
        found = list(self._pulled(turn, dict.fromkeys(pull.msg_hashes)))
        told = self._tell_all(turn, peer, found)
        if found and not told:
            return Conclude(Outcome.REJECTED, Reason.RATE_LIMITED, None, name)
        return Conclude(Outcome.ACCEPTED, None, None, name)

    def pull_by_time(self, turn: Turn, peer: Peer, pull: PullByTime) -> Conclude:
        """Lists the messages of a range in their order, and sends them if they are few (R11)."""
        name = Opcode.PULL_BY_TIME.name
        room = self._room(peer)
        if room < 1:
            peer.question = pull
            return Conclude(Outcome.QUEUED, None, None, name)
        if peer.asked.take(turn.now_ms, LIST_SIZE):
            return Conclude(Outcome.REJECTED, Reason.RATE_LIMITED, None, name)
        found, end_ms = self._window(turn, pull, min(room, MAX_LIST_HASHES))
        if peer.state is State.PROVEN and len(found) <= self._settings.delivered_count:
            self._tell_all(turn, peer, found)
        hashes = tuple(msg_hash for msg_hash, _ in found)
        peer.asked.spend(turn.now_ms, HASH_SIZE * len(hashes))
        answer = MessageList(
            ticket=pull.ticket, start_time=pull.start_time, end_time=end_ms, msg_hashes=hashes
        )
        tell(turn, peer, encode(answer))
        return Conclude(Outcome.ACCEPTED, None, None, name)

    def _room(self, peer: Peer) -> int:
        """How many hashes a peer may be told now; if none, its question waits for its proof."""
        if peer.state is State.PROVEN:
            return MAX_LIST_HASHES
        return (peer.credit - LIST_SIZE) // HASH_SIZE

    def _window(self, turn: Turn, pull: PullByTime, room: int) -> tuple[Found, int]:
        """The messages that fit into a list, and up to which time these are all there are."""
        in_range = self._flow.between(pull.start_time, pull.end_time, turn.now_ms)
        found = list(islice(in_range, MAX_COUNT + 1))
        if len(found) <= room:
            return found, pull.end_time
        cut_ms = found[room][1].timestamp
        whole = [one for one in found[:room] if one[1].timestamp < cut_ms]
        if whole:
            return whole, cut_ms - 1
        most = MAX_COUNT if room == MAX_LIST_HASHES else room
        return [one for one in found if one[1].timestamp == cut_ms][:most], cut_ms

    def _pulled(self, turn: Turn, hashes: dict[bytes, None]) -> Iterator[tuple[bytes, Stored]]:
        for msg_hash in hashes:
            stored = self._flow.find(msg_hash, turn.now_ms)
            if stored is not None and not stored.is_pushed_only:
                yield msg_hash, stored

    def _tell_all(self, turn: Turn, peer: Peer, found: Found) -> int:
        """Sends messages while a peer may get more; gives how many.

        Who gets one takes it for kept, so it does not leave before it is on disk.
        """
        if found:
            self._hold(turn)
        for number, (_, stored) in enumerate(found):
            is_much = peer.asked.take(turn.now_ms, len(stored.raw)) > 0
            if is_much or not tell(turn, peer, stored.raw):
                return number
        return len(found)
