"""A peer of a swarm and those that it speaks with, in a test that reads like a transcript.

    stage = Stage()
    ada, bob = stage.meets("ada"), stage.meets("bob")
    news = stage.content("news")
    ada.says(news)
    stage.concludes("accepted")
    bob.gets(news)
    ada.gets()

Proofs of work are searched for a target that is easier by far; see `easy` in the conftest here.
"""

import itertools
from collections import deque
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from support.harness import Harness, Place, Remote, Simulated
from wireloom.protocols.uep12.codec import decode, encode
from wireloom.protocols.uep12.constants import MTU
from wireloom.protocols.uep12.integrity import msg_hash, work_input
from wireloom.protocols.uep12.messages import (
    Content,
    MessageList,
    PullByHash,
    PullByTime,
    Reference,
)
from wireloom.protocols.uep12.packets import split
from wireloom.protocols.uep12.peer.requests import Post
from wireloom.protocols.uep12.peer.session import PeerSession
from wireloom.protocols.uep12.peer.settings import Membership, PeerSettings
from wireloom.protocols.uep12.work import scan
from wireloom.wire.ids import Ids
from wireloom.wire.message import Message
from wireloom.wire.outcome import Outcome, Reason
from wireloom.wire.session import (
    Closed,
    Command,
    Conclude,
    Deliver,
    FrameReceived,
    Requested,
    Send,
)

START_MS = 1_700_000_000_000
EPOCH_MS = 60_000
TEA = Membership(name="tea", link="sim", epoch_ms=EPOCH_MS, max_ttl=100)
SETTINGS = PeerSettings(memberships=(TEA,), secret=b"nobody knows")


class Other(Remote):
    """Another peer, or whoever speaks in the name of an address."""

    def __init__(self, stage: "Stage", name: str) -> None:
        self.stage = stage
        self.name = name
        self.inbox: deque[bytes] = deque()

    def takes(self, frame: Send) -> None:
        assert frame.text is False
        self.inbox.append(frame.raw)

    def says(self, message: Message | bytes) -> "Other":
        """Sends a message, in fragments if it has to."""
        whole = message if isinstance(message, bytes) else encode(message)
        for packet in split(whole) if len(whole) > MTU else [whole]:
            self.stage.happens(FrameReceived(self.line, packet))
        return self

    def leaves(self) -> None:
        self.stage.happens(Closed(self.line, 1001))

    def gets(self, *messages: Message | bytes) -> None:
        """What it has got by now is exactly this, in this order."""
        wanted = [one if isinstance(one, bytes) else encode(one) for one in messages]
        assert list(self.inbox) == wanted, [decode(raw) for raw in self.inbox]
        self.inbox.clear()

    def is_asked(self) -> PullByTime:
        """The next thing that it has got is a pull by time."""
        pull = decode(self.inbox.popleft())
        assert isinstance(pull, PullByTime)
        return pull

    def is_pulled(self) -> tuple[bytes, ...]:
        """The next thing that it has got is a pull by hash."""
        pull = decode(self.inbox.popleft())
        assert isinstance(pull, PullByHash)
        return pull.msg_hashes

    def is_told(self) -> MessageList:
        """The next thing that it has got is a list."""
        told = decode(self.inbox.popleft())
        assert isinstance(told, MessageList)
        return told

    def lists(self, pull: PullByTime, *contents: bytes, **changes: Any) -> "Other":
        """Answers a pull by time."""
        told = MessageList(
            ticket=pull.ticket,
            start_time=pull.start_time,
            end_time=pull.end_time,
            msg_hashes=tuple(map(msg_hash, contents)),
        )
        return self.says(replace(told, **changes))


class Stage(Harness[Other]):
    """A peer, and others.

    Args:
        settings: The peer's.
        place: Where it runs; without sockets if it is not given.
    """

    session: PeerSession

    def __init__(self, settings: PeerSettings = SETTINGS, *, place: Place | None = None) -> None:
        self.settings = settings
        self.delivered: deque[object] = deque()
        self._hosts = itertools.count(1)
        self._nonces = itertools.count()
        super().__init__(self._made, place or Simulated(START_MS))

    def _made(self, life: int) -> PeerSession:
        return PeerSession(self.settings, Ids(f"boot {life}"))

    def stranger(self, name: str, peer: str = "") -> Other:
        """An address from which a datagram comes for the first time."""
        peer = peer or f"192.0.2.{next(self._hosts)}:5412"
        return self.connects(Other(self, name), peer)

    def meets(self, name: str, peer: str = "") -> Other:
        """A peer that has proven itself, has nothing of its own, and knows what is here."""
        other = self.stranger(name, peer)
        other.says(PullByHash(msg_hashes=(b"nonesuch",) * 2))
        other.lists(other.is_asked())
        other.gets()
        self.conclusions.clear()
        self.delivered.clear()
        return other

    def content(
        self, text: str = "", *parents: bytes, at: int = 0, ttl: int = 10, **more: Any
    ) -> bytes:
        """A message with its work, `at` ms from now, that refers to others."""
        diff = more.pop("diff", 0)
        message = Content(
            pow_nonce=0,
            timestamp=self.now_ms + at,
            ttl_epoch=ttl,
            references=tuple(Reference(msg_hash=one, epoch_diff=diff) for one in parents),
            payload=text.encode(),
            **more,
        )
        return proven(message)

    def posts(self, text: str, *, ttl: int = 10, post_id: str = "post") -> None:
        """The application posts a message."""
        self.happens(Requested(Post(id=post_id, payload=text.encode(), ttl_epoch=ttl)))

    def concludes(self, outcome: str, reason: str | None = None) -> None:
        """What became of the oldest frame not yet spoken of."""
        concluded = self.conclusions.popleft()
        assert concluded.outcome is Outcome(outcome), concluded
        assert concluded.reason is (None if reason is None else Reason(reason))

    def delivers(self, kind: type[Any]) -> Any:
        """The next item for the application."""
        item = self.delivered.popleft()
        assert isinstance(item, kind), item
        return item

    def counts(self, **numbers: float) -> None:
        """The gauges of the swarm are these."""
        gauges = self.session.gauges()
        assert {name: gauges[f"tea.{name}"] for name in numbers} == numbers

    def notes(self, command: Command) -> None:
        super().notes(command)
        if isinstance(command, Deliver):
            self.delivered.append(command.item)


def proven(message: Content) -> bytes:
    """The bytes of a message with its work."""
    nonce = scan(work_input(encode(message)), 0, 1 << 32)
    assert nonce is not None
    return encode(replace(message, pow_nonce=nonce))


def outcomes(conclusions: Sequence[Conclude]) -> list[str]:
    return [one.outcome.value for one in conclusions]
