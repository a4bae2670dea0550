"""Messages to many that do not leave in one turn, because they are large or the many are (R53).

They wait in queues: one for each topic, one for all broadcasts. Within a queue they keep their
order; the queues take turns. A turn ends when its bytes or its recipients are used up.
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Hashable, Sequence
from typing import Final, NamedTuple

from wireloom.protocols.signalhub.constants import MAX_ADDRESS_SIZE
from wireloom.protocols.signalhub.hub.connections import Clients, State
from wireloom.protocols.signalhub.hub.directory import Registration
from wireloom.protocols.signalhub.hub.outgoing import Forwarding, Outgoing, Template
from wireloom.protocols.signalhub.hub.settings import HubSettings
from wireloom.protocols.signalhub.hub.topics import Audience, Topics
from wireloom.wire.outcome import Outcome
from wireloom.wire.session import Line, Spread, Turn, WakeAt
from wireloom.wire.shares import Shares

SLICE_TIMER: Final = "slice"
BROADCASTS: Final = None
"""The queue of all broadcasts; that of a topic has its name."""

_AT_ONCE: Final = 256
"""Recipients that a message reaches before the next queue has its turn."""

_LAST_SLICES: Final = 16
"""How many slices leave at once when the hub stops; what is more is lost."""

_CONNECTED: Final = State.CONNECTED
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
    def reach(self, turn: Turn, outgoing: Outgoing, begin: int, end: int) -> int:
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

    def reach(self, turn: Turn, outgoing: Outgoing, begin: int, end: int) -> int:
        """Sends to those that are connected now and read what they get."""
        groups: tuple[Audience, Audience] = (Audience([], []), Audience([], []))
        for target in self._targets[begin:end]:
            there = target.owner.client
            if there is not None and there.state is _CONNECTED:
                lines, addresses = groups[there.text]
                lines.append(there.line)
                addresses.append(target.wire[there.text])
        size = 0
        for text in (True, False):
            template = self._forwarding.template(text=text)
            if template is not None and groups[text].lines:
                size += sum(map(len, spread(turn, outgoing, template, groups[text], text=text)))
        return size


class Group(NamedTuple):
    """Who gets a publication in one encoding."""

    template: Template | None
    """None if the encoding cannot carry it."""

    audience: Audience
    text: bool


class Subscribers(NamedTuple):
    """Who wants the messages of a topic, and where to look who still does."""

    clients: Clients
    topics: Topics
    topic: str

    def want(self, line: Line) -> bool:
        """Whether the client on a line is still subscribed, and reads what it gets."""
        there = self.clients.lines.get(line)
        return (
            there is not None
            and there.state is _CONNECTED
            and self.topics.has(there.actor, self.topic)
        )


class Publishing(Job):
    """A publication to the subscribers that speak one encoding."""

    def __init__(
        self, subscribers: Subscribers, group: Group, account: str, ends_ms: int | None
    ) -> None:
        size = 0 if group.template is None else group.template.size
        count = len(group.audience.lines)
        super().__init__(subscribers.topic, account, ends_ms, count, size)
        self._subscribers = subscribers
        self._group = group

    def reach(self, turn: Turn, outgoing: Outgoing, begin: int, end: int) -> int:
        """Sends to those that are still connected and subscribed, and read what they get."""
        template, (lines, addresses), text = self._group
        some = Audience([], [])
        for index in range(begin, end):
            if self._subscribers.want(lines[index]):
                some.lines.append(lines[index])
                some.addresses.append(addresses[index])
        if template is None or not some.lines:
            return 0
        return sum(map(len, spread(turn, outgoing, template, some, text=text)))


def spread(
    turn: Turn, outgoing: Outgoing, template: Template, audience: Audience, *, text: bool
) -> list[bytes]:
    """Sends a message to some; gives the frames."""
    lines, addresses = audience
    frames = template.to_each(addresses, turn.ids.number + 1)
    turn.ids.number += len(frames)
    turn.commands.append(Spread(lines, frames, text, _FORWARDED))
    outgoing.meter.add(len(frames), turn.now_ms)
    return frames


class Slices:
    """All messages to many that are under way.

    Args:
        settings: The hub's.
        outgoing: What writes frames.
    """

    def __init__(self, settings: HubSettings, outgoing: Outgoing) -> None:
        self._settings = settings
        self._outgoing = outgoing
        self.queues: dict[Hashable, deque[Job]] = {}
        """Those that are not empty; the first is the next."""
        self.pending = 0
        """Recipients that are still to be reached."""
        self.shares = Shares(settings.max_broadcasts, settings.max_broadcasts_size)

    def offer(self, turn: Turn, jobs: Sequence[Job]) -> bool:
        """Takes messages that are one for their sender; gives whether its share had room."""
        account, size = jobs[0].account, sum(job.size for job in jobs)
        if not self.shares.fits(account, len(jobs), size):
            return False
        self.shares.add(account, len(jobs), size)
        if not self.queues:
            self._wake(turn)
        for job in jobs:
            self.queues.setdefault(job.queue, deque()).append(job)
            self.pending += job.count
        return True

    def advance(self, turn: Turn) -> None:
        """Takes all queues one turn further."""
        count, budget = self._settings.slice_count, self._outgoing.budget
        while self.queues and count > 0 and (left := round(budget.left(turn.now_ms))) > 0:
            count -= self._step(turn, count, left)[0]
        if self.queues:
            self._wake(turn)

    def finish(self, turn: Turn) -> None:
        """Lets out what is under way, as far as some slices go."""
        left = _LAST_SLICES * self._settings.slice_size
        while self.queues and left > 0:
            left -= self._step(turn, _AT_ONCE, left)[1]

    def _step(self, turn: Turn, count: int, left: int) -> tuple[int, int]:
        """Takes the next queue further; gives how many recipients and bytes that were."""
        name, queue = next(iter(self.queues.items()))
        job = queue[0]
        count = min(count, _AT_ONCE, max(1, left // job.frame_size), job.count - job.reached)
        size = 0
        if job.ends_ms is not None and job.ends_ms < turn.now_ms:
            count = job.count - job.reached
        else:
            size = job.reach(turn, self._outgoing, job.reached, job.reached + count)
            self._outgoing.budget.spend(turn.now_ms, size)
        job.reached += count
        self.pending -= count
        del self.queues[name]
        if job.reached == job.count:
            queue.popleft()
            self.shares.remove(job.account, 1, job.size)
        if queue:
            self.queues[name] = queue
        return count, size

    def _wake(self, turn: Turn) -> None:
        at_ms = turn.now_ms + self._settings.slice_pause_ms
        turn.commands.append(WakeAt((SLICE_TIMER,), at_ms))
