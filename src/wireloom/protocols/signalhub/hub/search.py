"""Searches for actors by pattern, in steps: none keeps the hub from its other work (R53).

Only addresses that begin as the pattern does are looked at, in their order. A search that has
not seen them all when the turn's steps are used up goes on in the next one, after the others
that wait.
"""

from bisect import bisect_left, bisect_right
from collections import deque
from typing import Final

from msgspec import UNSET

from wireloom.protocols.signalhub.addresses import Glob, glob
from wireloom.protocols.signalhub.constants import (
    MAX_PAGE,
    MAX_SEARCHES,
    QUICK_PAUSE_MS,
    SEARCH_STEPS,
    Detail,
)
from wireloom.protocols.signalhub.hub.answers import Answers
from wireloom.protocols.signalhub.hub.connections import Client
from wireloom.protocols.signalhub.hub.directory import Directory, Registration, answered
from wireloom.protocols.signalhub.messages import Discover, Discovered
from wireloom.protocols.signalhub.payloads import (
    DiscoveredPayload,
)
from wireloom.wire.rates import Bucket
from wireloom.wire.session import Conclude, Turn, WakeAt
from wireloom.wire.shares import Shares

SEARCH_TIMER: Final = "search"
_STEPS_AT_ONCE: Final = SEARCH_STEPS // 8
"""What a search that waits may take before the next one has its turn."""


class Search:
    """A search that is under way."""

    __slots__ = (
        "account",
        "answers",
        "client",
        "found",
        "glob",
        "is_done",
        "last",
        "limit",
        "to",
    )

    def __init__(self, client: Client, message: Discover) -> None:
        asked = message.payload
        self.client = client
        self.account = client.account
        self.answers = message.id
        self.to = client.name(message)
        self.glob: Glob = glob(asked.pattern)
        self.limit = MAX_PAGE if asked.limit is UNSET else asked.limit
        self.last: str | None = None
        """The address that was looked at last."""
        self.found: list[Registration] = []
        self.is_done = False

    def look(self, directory: Directory, count: int) -> int:
        """Looks at the next addresses; gives how many there were."""
        addresses, prefix = directory.addresses, self.glob.first
        if self.last is None:
            begin = bisect_left(addresses, prefix)
        else:
            begin = bisect_right(addresses, self.last)
        some = addresses[begin : begin + count]
        for number, address in enumerate(some, 1):
            is_below = address.startswith(prefix)
            if is_below and self.glob.matches(address):
                self.found.append(directory.at(address))
            if not is_below or len(self.found) > self.limit:
                self.is_done = True
                return number
        self.last = some[-1] if some else self.last
        self.is_done = len(some) < count
        return len(some)


class Searches:
    """All searches that are under way.

    Args:
        answers: What answers clients.
        directory: Where it is searched.
    """

    def __init__(self, answers: Answers, directory: Directory) -> None:
        self._answers = answers
        self._directory = directory
        self._waiting: deque[Search] = deque()
        self._shares = Shares(MAX_SEARCHES, MAX_SEARCHES)
        self._budget = Bucket(SEARCH_STEPS, QUICK_PAUSE_MS)

    def begin(self, turn: Turn, client: Client, message: Discover) -> Conclude:
        """Looks for actors; answers at once if that does not take long."""
        search = Search(client, message)
        if not self._waiting:
            self._take_far(turn, search, SEARCH_STEPS)
        if search.is_done:
            self._answer(turn, search)
            return client.accepted
        if not self._shares.fits(search.account, 1, 1):
            text = "Too many searches are under way"
            return self._answers.full(turn, client, message, text, Detail.LIMIT_REACHED)
        self._shares.add(search.account, 1, 1)
        self._waiting.append(search)
        if len(self._waiting) == 1:
            self._wake(turn)
        return client.accepted

    def advance(self, turn: Turn) -> None:
        """Takes the searches that wait as far as this turn allows, each in its turn."""
        while self._waiting and round(self._budget.left(turn.now_ms)) > 0:
            search = self._waiting.popleft()
            is_wanted = search.client.is_known
            if is_wanted:
                self._take_far(turn, search, _STEPS_AT_ONCE)
            if is_wanted and not search.is_done:
                self._waiting.append(search)
                continue
            self._shares.remove(search.account, 1, 1)
            if is_wanted:
                self._answer(turn, search)
        if self._waiting:
            self._wake(turn)

    def _take_far(self, turn: Turn, search: Search, steps: int) -> None:
        """Takes a search so many steps further, or as many as are left to this turn."""
        cost = search.glob.cost
        left = min(steps, round(self._budget.left(turn.now_ms)))
        if left > 0:
            seen = search.look(self._directory, max(1, left // cost))
            self._budget.spend(turn.now_ms, max(1, seen) * cost)

    def _answer(self, turn: Turn, search: Search) -> None:
        client = search.client
        payload = DiscoveredPayload(
            actors=answered(search.found[: search.limit], text=client.text),
            has_more=len(search.found) > search.limit,
        )
        self._answers.tell(turn, client, Discovered, payload, answers=search.answers, to=search.to)

    def _wake(self, turn: Turn) -> None:
        turn.commands.append(WakeAt((SEARCH_TIMER,), turn.now_ms + QUICK_PAUSE_MS))
