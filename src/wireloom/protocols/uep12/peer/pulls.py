"""Messages that are known by their hash only: who is asked for them, and how often.

Each is wanted once, whoever refers to it and how often, so references in a circle, or to what does
not exist, cost no more than the pulls of one message each.
"""

from collections import defaultdict, deque
from collections.abc import Iterable
from typing import Final

from wireloom.protocols.uep12.codec import encode
from wireloom.protocols.uep12.constants import MAX_PULL_HASHES
from wireloom.protocols.uep12.messages import PullByHash
from wireloom.protocols.uep12.peer.flow import Flow
from wireloom.protocols.uep12.peer.peers import Peer, Peers, tell
from wireloom.protocols.uep12.peer.settings import PeerSettings
from wireloom.wire.session import Line, Turn, WakeAt
from wireloom.wire.shares import Shares

PULLS_TIMER: Final = "pulls"


class Want:
    """One message that is missing."""

    __slots__ = ("asked_count", "expires_ms", "is_listed", "line", "owner", "referrers")

    def __init__(self, line: Line, owner: str, expires_ms: int, *, is_listed: bool) -> None:
        self.line = line
        """Who was asked last."""
        self.owner = owner
        """Whose share of the room it takes."""
        self.expires_ms = expires_ms
        self.is_listed = is_listed
        """Whether a list has named it, not a reference."""
        self.referrers = 0 if is_listed else 1
        """How many messages refer to it."""
        self.asked_count = 0


class Pulls:
    """All messages of a swarm that are missing.

    Args:
        settings: The peer's.
        link: The swarm's link: its timer is named after it.
        flow: What is there.
        peers: Who can be asked.
    """

    def __init__(self, settings: PeerSettings, link: str, flow: Flow, peers: Peers) -> None:
        self._settings = settings
        self._timer = (PULLS_TIMER, link)
        self._flow = flow
        self._peers = peers
        self._wants: dict[bytes, Want] = {}
        self._shares = Shares(settings.wanted_count, settings.wanted_count)
        self._due: deque[tuple[int, bytes, Want]] = deque()
        """When each is pulled again, earliest first."""
        self._lost: dict[bytes, int] = {}
        """What is irretrievable, and when it expires."""

    @property
    def missing_count(self) -> int:
        """How many messages are being pulled."""
        return len(self._wants)

    @property
    def irretrievable_count(self) -> int:
        """How many were pulled in vain, and have not expired."""
        return len(self._lost)

    def want(
        self, turn: Turn, peer: Peer, found: Iterable[tuple[bytes, int]], *, is_listed: bool = False
    ) -> int:
        """Pulls what a peer has named and is not there; gives of how many messages.

        Args:
            turn: The turn.
            peer: Who has named them, and is asked first.
            found: Hashes, and when the messages expire as far as is known.
            is_listed: Whether the peer says that it has them.
        """
        new = []
        for msg_hash, expires_ms in found:
            known = self._wants.get(msg_hash)
            if known is not None:
                known.referrers += not is_listed
            elif expires_ms > turn.now_ms and not self._flow.knows(msg_hash, turn.now_ms):
                want = Want(peer.line, peer.owner, expires_ms, is_listed=is_listed)
                if self._adds(msg_hash, want):
                    new.append((msg_hash, want))
        self._ask(turn, peer, new)
        return len(new)

    def came(self, msg_hash: bytes) -> Want | None:
        """A message has come; gives how it was wanted, if it was."""
        self._lost.pop(msg_hash, None)
        want = self._wants.pop(msg_hash, None)
        if want is not None:
            self._shares.remove(want.owner, 1, 1)
        return want

    def retry(self, turn: Turn) -> None:
        """Pulls again what was not answered, each from another peer."""
        asked: defaultdict[Line, list[tuple[bytes, Want]]] = defaultdict(list)
        while self._due and self._due[0][0] <= turn.now_ms:
            _, msg_hash, want = self._due.popleft()
            if self._wants.get(msg_hash) is want and not self._is_over(turn, msg_hash, want):
                peer = self._peers.after(want.line)
                asked[peer.line if peer else want.line].append((msg_hash, want))
        for line, wants in asked.items():
            self._ask(turn, self._peers.get(line), wants)
        if not asked and self._due:
            turn.commands.append(WakeAt(self._timer, self._due[0][0]))

    def purge(self, now_ms: int) -> None:
        """Forgets what has expired."""
        self._lost = {one: at_ms for one, at_ms in self._lost.items() if at_ms > now_ms}
        over = [one for one, want in self._wants.items() if want.expires_ms <= now_ms]
        for msg_hash in over:
            self.came(msg_hash)

    def _adds(self, msg_hash: bytes, want: Want) -> bool:
        """Begins to want a message, if there is room and it is not irretrievable."""
        if msg_hash in self._lost and not want.is_listed:
            return False
        if not self._shares.fits(want.owner, 1, 1):
            return False
        self._lost.pop(msg_hash, None)
        self._wants[msg_hash] = want
        self._shares.add(want.owner, 1, 1)
        return True

    def _is_over(self, turn: Turn, msg_hash: bytes, want: Want) -> bool:
        """Gives up what has expired, or was pulled too often.

        What is named by lists alone is not missed: who listed it may have lied.
        """
        if want.expires_ms > turn.now_ms and want.asked_count < self._settings.pull_count:
            return False
        self.came(msg_hash)
        if want.expires_ms > turn.now_ms and want.referrers:
            if len(self._lost) >= self._settings.wanted_count:
                del self._lost[next(iter(self._lost))]
            self._lost[msg_hash] = want.expires_ms
        return True

    def _ask(self, turn: Turn, peer: Peer | None, wants: list[tuple[bytes, Want]]) -> None:
        """Pulls messages from a peer, and again later."""
        if not wants:
            return
        for start in range(0, len(wants), MAX_PULL_HASHES):
            some = wants[start : start + MAX_PULL_HASHES]
            pull = PullByHash(msg_hashes=tuple(msg_hash for msg_hash, _ in some))
            if peer is not None and tell(turn, peer, encode(pull)):
                for _, want in some:
                    want.asked_count += 1
                    want.line = peer.line
        due_ms = turn.now_ms + self._settings.pull_ms
        self._due += [(due_ms, msg_hash, want) for msg_hash, want in wants]
        turn.commands.append(WakeAt(self._timer, self._due[0][0]))
