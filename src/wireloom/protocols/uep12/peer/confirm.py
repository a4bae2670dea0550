"""Evidence that a message has arrived: some other peer gives it back when it is pulled.

UEP-12 acknowledges nothing. Who wants to leave after a message was told pushes it again, pulls it
by its hash, and goes when a copy comes.
"""

from typing import Final

from wireloom.protocols.uep12.codec import encode
from wireloom.protocols.uep12.messages import PullByHash
from wireloom.protocols.uep12.peer.flow import Flow
from wireloom.protocols.uep12.peer.peers import Peers, tell
from wireloom.protocols.uep12.peer.requests import Confirmed
from wireloom.protocols.uep12.peer.settings import PeerSettings
from wireloom.wire.session import Deliver, Turn, WakeAt

CONFIRM_TIMER: Final = "confirm"
CONFIRM_MS: Final = 500
"""How long a copy is awaited."""


class Confirmations:
    """The messages of a swarm of which a copy is awaited.

    Args:
        settings: The peer's.
        link: The swarm's link: its timer is named after it.
        flow: Where they are.
        peers: Who is asked.
    """

    def __init__(self, settings: PeerSettings, link: str, flow: Flow, peers: Peers) -> None:
        self._settings = settings
        self._timer = (CONFIRM_TIMER, link)
        self._flow = flow
        self._peers = peers
        self._awaited: dict[bytes, None] = {}

    def begin(self, turn: Turn, msg_hash: bytes) -> None:
        """Wants a copy of a message."""
        if len(self._awaited) < self._settings.post_count:
            self._awaited[msg_hash] = None
            self.ask(turn)

    def came(self, turn: Turn, msg_hash: bytes) -> None:
        """A copy came."""
        if msg_hash in self._awaited:
            del self._awaited[msg_hash]
            turn.commands.append(Deliver(Confirmed(msg_hash)))

    def ask(self, turn: Turn) -> None:
        """Pushes and pulls what is awaited, and does so again after a while."""
        for msg_hash in tuple(self._awaited):
            stored = self._flow.find(msg_hash, turn.now_ms)
            if stored is None:
                del self._awaited[msg_hash]
                continue
            for peer in self._peers.proven:
                tell(turn, peer, stored.raw)
                tell(turn, peer, encode(PullByHash(msg_hashes=(msg_hash,))))
        if self._awaited:
            turn.commands.append(WakeAt(self._timer, turn.now_ms + CONFIRM_MS))
