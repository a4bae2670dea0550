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
from wireloom.protocols.signalhub.hub.desk import Desk
from wireloom.protocols.signalhub.hub.directory import Directory, Registration, answered
from wireloom.protocols.signalhub.hub.limits import Budget
from wireloom.protocols.signalhub.hub.roster import Connection, State
from wireloom.protocols.signalhub.messages import Discover, Discovered
from wireloom.protocols.signalhub.payloads import (
    DiscoveredPayload,
)
from wireloom.wire.session import Conclude, WakeAt
from wireloom.wire.shares import Shares

SEARCH_TIMER: Final = "search"
_STEPS_AT_ONCE: Final = SEARCH_STEPS // 8
"""What a search that waits may take before the next one has its turn."""


class Search:
    """A search that is under way."""

    __slots__ = (
        "account",
        "answers",
        "connection",
        "found",
        "glob",
        "is_done",
        "last",
        "limit",
        "to",
    )

    def __init__(self, connection: Connection, message: Discover) -> None:
        asked = message.payload
        self.connection = connection
        self.account = connection.account
        self.answers = message.id
        self.to = connection.name(message)
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
    """All searches that are under way."""

    def __init__(self, desk: Desk, directory: Directory) -> None:
        self._desk = desk
        self._directory = directory
        self._waiting: deque[Search] = deque()
        self._shares = Shares(MAX_SEARCHES, MAX_SEARCHES)
        self._budget = Budget(SEARCH_STEPS, QUICK_PAUSE_MS)

    def begin(self, connection: Connection, message: Discover) -> Conclude:
        """Looks for actors; answers at once if that does not take long."""
        search = Search(connection, message)
        if not self._waiting:
            self._take_far(search, SEARCH_STEPS)
        if search.is_done:
            self._answer(search)
            return connection.accepted
        if not self._shares.fits(search.account, 1, 1):
            text = "Too many searches are under way"
            return self._desk.full(connection, message, text, Detail.LIMIT_REACHED)
        self._shares.add(search.account, 1, 1)
        self._waiting.append(search)
        if len(self._waiting) == 1:
            self._wake()
        return connection.accepted

    def advance(self) -> None:
        """Takes the searches that wait as far as this turn allows, each in its turn."""
        while self._waiting and self._budget.left(self._desk.now_ms) > 0:
            search = self._waiting.popleft()
            is_wanted = search.connection.state is State.CONNECTED
            if is_wanted:
                self._take_far(search, _STEPS_AT_ONCE)
            if is_wanted and not search.is_done:
                self._waiting.append(search)
                continue
            self._shares.remove(search.account, 1, 1)
            if is_wanted:
                self._answer(search)
        if self._waiting:
            self._wake()

    def _take_far(self, search: Search, steps: int) -> None:
        """Takes a search so many steps further, or as many as are left to this turn."""
        now_ms, cost = self._desk.now_ms, search.glob.cost
        left = min(steps, self._budget.left(now_ms))
        if left > 0:
            seen = search.look(self._directory, max(1, left // cost))
            self._budget.spend(max(1, seen) * cost, now_ms)

    def _answer(self, search: Search) -> None:
        connection = search.connection
        payload = DiscoveredPayload(
            actors=answered(search.found[: search.limit], text=connection.text),
            has_more=len(search.found) > search.limit,
        )
        self._desk.tell(connection, Discovered, payload, answers=search.answers, to=search.to)

    def _wake(self) -> None:
        self._desk.out.append(WakeAt((SEARCH_TIMER,), self._desk.now_ms + QUICK_PAUSE_MS))
