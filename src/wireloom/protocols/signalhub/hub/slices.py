"""Messages to many that do not leave in one turn, because they are large or the many are (R53).

They wait in queues: one for each topic, one for all broadcasts. Within a queue they keep their
order; the queues take turns. A turn ends when its bytes or its recipients are used up.
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Hashable, Sequence
from typing import Final, NamedTuple

from wireloom.protocols.signalhub.constants import MAX_ADDRESS_SIZE
from wireloom.protocols.signalhub.hub.desk import Desk
from wireloom.protocols.signalhub.hub.dialects import Letter
from wireloom.protocols.signalhub.hub.directory import Registration
from wireloom.protocols.signalhub.hub.forwarding import Forwarding
from wireloom.protocols.signalhub.hub.topics import Audience, Topics
from wireloom.wire.outcome import Outcome
from wireloom.wire.session import Spread, WakeAt
from wireloom.wire.shares import Shares

SLICE_TIMER: Final = "slice"
BROADCASTS: Final = None
"""The queue of all broadcasts; that of a topic has its name."""

_AT_ONCE: Final = 256
"""Recipients that a message reaches before the next queue has its turn."""

_LAST_SLICES: Final = 16
"""How many slices leave at once when the hub stops; what is more is lost."""

_FORWARDED: Final = Outcome.FORWARDED
"""Named once: the interpreter looks up a member of an enum slowly."""

_JOB_SIZE: Final = 2_048
_TARGET_SIZE: Final = 16
"""Bytes that a job takes beside its frames, and that each recipient takes."""


class Job(ABC):
    """One message on its way to many.

    Args:
        queue: Where it waits.
        account: Whose share it takes.
        ends_ms: When its lifetime is over.
        count: How many recipients it has.
        size: Bytes of what they get.
    """

    def __init__(
        self, queue: Hashable, account: str, ends_ms: int | None, count: int, size: int
    ) -> None:
        self.queue = queue
        self.account = account
        self.ends_ms = ends_ms
        self.count = count
        self.reached = 0
        """Recipients that are behind it."""
        self.frame_size = size + MAX_ADDRESS_SIZE
        """Bytes of a frame, at most."""
        self.size = _JOB_SIZE + 2 * size + _TARGET_SIZE * count
        """Bytes that it takes in memory."""

    @abstractmethod
    def reach(self, desk: Desk, begin: int, end: int) -> int:
        """Sends to some of its recipients, those that can take it; gives how many bytes."""


class Broadcasting(Job):
    """A broadcast to registered actors."""

    def __init__(
        self,
        forwarding: Forwarding,
        targets: Sequence[Registration],
        account: str,
        ends_ms: int | None,
    ) -> None:
        super().__init__(BROADCASTS, account, ends_ms, len(targets), forwarding.seal())
        self._forwarding = forwarding
        self._targets = targets

    def reach(self, desk: Desk, begin: int, end: int) -> int:
        """Sends to those that are connected now and read what they get."""
        groups: tuple[Audience, Audience] = (Audience([], []), Audience([], []))
        for target in self._targets[begin:end]:
            there = target.owner.connection
            if there is not None and not there.paused:
                lines, addresses = groups[there.text]
                lines.append(there.line)
                addresses.append(target.written[there.text])
        size = 0
        for text in (True, False):
            letter = self._forwarding.letter(text=text)
            if letter is not None and groups[text].lines:
                size += sum(map(len, spread(desk, letter, groups[text], text=text)))
        return size


class Group(NamedTuple):
    """Who gets a publication in one encoding."""

    letter: Letter | None
    """None if the encoding cannot carry it."""

    audience: Audience
    text: bool


class Publishing(Job):
    """A publication to the subscribers that speak one encoding."""

    def __init__(
        self,
        topics: Topics,
        topic: str,
        group: Group,
        account: str,
        ends_ms: int | None,
    ) -> None:
        size = 0 if group.letter is None else group.letter.size
        super().__init__(topic, account, ends_ms, len(group.audience.lines), size)
        self._topics = topics
        self._topic = topic
        self._group = group

    def reach(self, desk: Desk, begin: int, end: int) -> int:
        """Sends to those that are still connected and subscribed, and read what they get."""
        letter, (lines, addresses), text = self._group
        some = Audience([], [])
        for index in range(begin, end):
            there = desk.roster.lines.get(lines[index])
            if there and not there.paused and self._topics.has(there.actor, self._topic):
                some.lines.append(lines[index])
                some.addresses.append(addresses[index])
        if letter is None or not some.lines:
            return 0
        return sum(map(len, spread(desk, letter, some, text=text)))


def spread(desk: Desk, letter: Letter, audience: Audience, *, text: bool) -> list[bytes]:
    """Sends a letter to some; gives the frames."""
    lines, addresses = audience
    frames = letter.to_each(addresses, desk.ids.number + 1)
    desk.ids.number += len(frames)
    desk.out.append(Spread(lines, frames, text, _FORWARDED))
    desk.meter.add(len(frames), desk.now_ms)
    return frames


class Slices:
    """All messages to many that are under way."""

    def __init__(self, desk: Desk) -> None:
        settings = desk.settings
        self._desk = desk
        self.queues: dict[Hashable, deque[Job]] = {}
        """Those that are not empty; the first is the next."""
        self.pending = 0
        """Recipients that are still to be reached."""
        self.shares = Shares(settings.max_broadcasts, settings.max_broadcasts_size)

    def offer(self, jobs: Sequence[Job]) -> bool:
        """Takes messages that are one for their sender; gives whether its share had room."""
        account, size = jobs[0].account, sum(job.size for job in jobs)
        if not self.shares.fits(account, len(jobs), size):
            return False
        self.shares.add(account, len(jobs), size)
        if not self.queues:
            self._wake()
        for job in jobs:
            self.queues.setdefault(job.queue, deque()).append(job)
            self.pending += job.count
        return True

    def advance(self) -> None:
        """Takes all queues one turn further."""
        desk = self._desk
        count = desk.settings.slice_count
        while self.queues and count > 0 and (left := desk.budget.left(desk.now_ms)) > 0:
            count -= self._step(count, left)[0]
        if self.queues:
            self._wake()

    def finish(self) -> None:
        """Lets out what is under way, as far as some slices go."""
        left = _LAST_SLICES * self._desk.settings.slice_size
        while self.queues and left > 0:
            left -= self._step(_AT_ONCE, left)[1]

    def _step(self, count: int, left: int) -> tuple[int, int]:
        """Takes the next queue further; gives how many recipients and bytes that were."""
        desk = self._desk
        name, queue = next(iter(self.queues.items()))
        job = queue[0]
        count = min(count, _AT_ONCE, max(1, left // job.frame_size), job.count - job.reached)
        size = 0
        if job.ends_ms is not None and job.ends_ms < desk.now_ms:
            count = job.count - job.reached
        else:
            size = job.reach(desk, job.reached, job.reached + count)
            desk.budget.spend(size, desk.now_ms)
        job.reached += count
        self.pending -= count
        del self.queues[name]
        if job.reached == job.count:
            queue.popleft()
            self.shares.remove(job.account, 1, job.size)
        if queue:
            self.queues[name] = queue
        return count, size

    def _wake(self) -> None:
        desk = self._desk
        at_ms = desk.now_ms + desk.settings.slice_pause_ms
        desk.out.append(WakeAt((SLICE_TIMER,), at_ms))
