"""Messages of the application: whom they refer to, and the search for their work."""

from collections.abc import Iterator
from hashlib import sha256
from heapq import nsmallest
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from wireloom.protocols.uep12.codec import encode
from wireloom.protocols.uep12.constants import RECENT_COUNT
from wireloom.protocols.uep12.integrity import (
    NONCE_SIZE,
    WorkInput,
    epoch_diff,
    expires_ms,
    work_input,
)
from wireloom.protocols.uep12.messages import Content, Reference
from wireloom.protocols.uep12.peer.flow import Flow, Stored
from wireloom.protocols.uep12.peer.requests import Post, Refused
from wireloom.protocols.uep12.peer.settings import Membership, PeerSettings
from wireloom.protocols.uep12.work import NONCE_SPACE, SLICE, scan
from wireloom.wire.errors import WireError
from wireloom.wire.session import Cancel, Compute, Deliver, Turn

POST_TASK: Final = "post"
HEADS_FOR_THREE: Final = 4
HEADS_FOR_FOUR: Final = 8
"""With more messages that nobody refers to, a new one refers to three, or to four."""


class Search(Struct, frozen=True):
    """The search for the nonce of one message, in parts."""

    puzzle: WorkInput
    start: int
    """A number that nobody else begins with."""

    def __call__(self, part: int) -> int | None:
        """The nonce, if it is in this part."""
        return scan(self.puzzle, (self.start + part * SLICE) % NONCE_SPACE, SLICE)


class Composer:
    """Composes the messages of one swarm.

    Args:
        settings: The peer's.
        membership: The swarm.
        flow: What they may refer to.
    """

    def __init__(self, settings: PeerSettings, membership: Membership, flow: Flow) -> None:
        self._settings = settings
        self._membership = membership
        self._flow = flow
        self._drafts: dict[str, Content] = {}
        """Messages without their work, by the id of the post."""

    def __len__(self) -> int:
        """For how many messages work is searched."""
        return len(self._drafts)

    def begin(self, turn: Turn, post: Post) -> None:
        """Has the work of a message searched."""
        why = self._refusal(post)
        draft = self._draft(post, turn.now_ms)
        try:
            puzzle = work_input(encode(draft))
        except WireError as error:
            why = why or error.detail
        if why:
            turn.commands.append(Deliver(Refused(post.id, why)))
            return
        self._drafts[post.id] = draft
        start = sha256(self._settings.secret + turn.ids.next().encode()).digest()[:NONCE_SIZE]
        job = Search(puzzle, int.from_bytes(start, "little"))
        turn.commands.append(Compute(self._task(post.id), job))

    def withdraw(self, turn: Turn, post_id: str) -> None:
        """Ends the search for a message."""
        if self._drafts.pop(post_id, None) is not None:
            turn.commands.append(Cancel(self._task(post_id)))

    def finish(self, post_id: str, nonce: int) -> bytes | None:
        """The message that a search was for, if it still is wanted."""
        draft = self._drafts.pop(post_id, None)
        return None if draft is None else encode(replace(draft, pow_nonce=nonce))

    def _task(self, post_id: str) -> tuple[str, str, str]:
        return POST_TASK, self._membership.link, post_id

    def _refusal(self, post: Post) -> str:
        """Why a message cannot be posted; empty if it can."""
        if post.id in self._drafts:
            return "a message with this id is being posted"
        if len(self._drafts) >= self._settings.post_count:
            return "too many messages wait for their work"
        if not 0 <= post.ttl_epoch <= self._membership.max_ttl:
            return f"the swarm allows 0 to {self._membership.max_ttl} epochs"
        return ""

    def _draft(self, post: Post, now_ms: int) -> Content:
        ttl_epoch = max(0, min(post.ttl_epoch, self._membership.max_ttl))
        message = Content(pow_nonce=0, timestamp=now_ms, ttl_epoch=ttl_epoch, payload=post.payload)
        epoch_ms = self._membership.epoch_ms
        expiry_ms = expires_ms(message, epoch_ms=epoch_ms)
        references = tuple(
            Reference(
                msg_hash=msg_hash,
                epoch_diff=epoch_diff(expiry_ms, parent.expires_ms, epoch_ms=epoch_ms),
            )
            for msg_hash, parent in parents(self._flow, now_ms, expiry_ms)
        )
        return replace(message, references=references)


def parents(flow: Flow, now_ms: int, expiry_ms: int) -> list[tuple[bytes, Stored]]:
    """Whom a new message refers to: least referred and recent, older, and gone when it is (R13)."""
    heads = len(flow.heads)
    count = 4 if heads > HEADS_FOR_FOUR else 3 if heads > HEADS_FOR_THREE else 2
    fit = dict(_candidates(flow, now_ms, expiry_ms))
    return nsmallest(count, fit.items(), key=lambda one: (one[1].referrers, -one[1].timestamp))


def _candidates(flow: Flow, now_ms: int, expiry_ms: int) -> Iterator[tuple[bytes, Stored]]:
    for msg_hash, stored in flow.heads.items():
        if stored.timestamp < now_ms < stored.expires_ms <= expiry_ms:
            yield msg_hash, stored
    for msg_hash, stored in flow.latest(now_ms, RECENT_COUNT, now_ms):
        if stored.expires_ms <= expiry_ms:
            yield msg_hash, stored
