"""Sealed segments of a node on their way to where the logs of many nodes come together.

A thread of its own sends them, one after the other. What cannot be sent stays here and is tried
again, after longer and longer pauses; the servers do not notice. A receipt beside the segments says
what has arrived, as pipelines do: what every receipt names may be deleted here.
"""

import logging
from errno import EEXIST
from pathlib import Path
from threading import Event, Thread
from typing import Final

from wireloom.capture.claims import Claim, ClaimedError, claim, told
from wireloom.capture.reader import batch_count
from wireloom.capture.receipts import put_receipt, take_receipt
from wireloom.capture.segment import Segment, segments
from wireloom.capture.sending import send
from wireloom.live import journal
from wireloom.remote import AnyPath, reason

SHIP_SECONDS: Final = 5.0
"""How often a node looks for what was sealed."""

MAX_PAUSE: Final = 300.0
"""How long the pause after failures gets; it doubles with each."""

_log: Final = logging.getLogger(__name__)


class Shipper:
    """Sends the sealed segments of one node.

    Args:
        folder: Where they lie.
        node: Whose they are.
        identity: That of the node's log.
        target: Where they go.
    """

    def __init__(
        self,
        folder: Path,
        node: str,
        identity: str,
        target: AnyPath,
    ) -> None:
        self.failure: Exception | None = None
        """Why segments are not shipped, while they are not; they stay here."""

        self.waiting = 0
        """Sealed segments that have not arrived yet."""

        self.shipped = 0
        """Segments that have arrived since the start."""

        self.failures = 0
        """How often sending failed since the start."""

        self.pause = SHIP_SECONDS
        """How long until the next look."""

        self._folder = folder
        self._claim = Claim(node, identity)
        self._target = target
        self._arrived = take_receipt(folder, str(target), node=node) or {}
        self._is_claimed = False
        self._stopping = Event()
        self._thread = Thread(target=self._work, name="ship", daemon=True)

    @property
    def is_at_work(self) -> bool:
        """Whether something is under way."""
        return self._thread.is_alive()

    def start(self) -> None:
        """Ships from now on."""
        self._thread.start()

    def close(self, seconds: float) -> None:
        """Ships what is sealed by now, unless that takes longer; the rest goes at the next start.

        Args:
            seconds: How long it may take.
        """
        self._stopping.set()
        self._thread.join(seconds)
        if self.waiting:
            _log.warning("%s segments are not shipped yet; the next start goes on", self.waiting)

    def _work(self) -> None:
        is_last = False
        while not is_last:
            is_last = self._stopping.is_set()  # what was sealed before is seen after
            self.look()
            if not is_last:
                self._stopping.wait(self.pause)

    def look(self) -> None:
        """Ships what is there; a failure is told once, until it is over."""
        try:
            self._ship()
        except (OSError, ValueError) as error:
            self.failures += 1
            self.pause = min(2 * self.pause, MAX_PAUSE)
            if self.failure is None:
                _log.error("segments are not shipped: %s", reason(error))
            self.failure = error
        else:
            if self.failure is not None:
                journal.note("segments are shipped again", to=str(self._target))
            self.failure, self.pause = None, SHIP_SECONDS

    def _ship(self) -> None:
        own = [one for one in segments(self._folder) if one.node == self._claim.node]
        names = {one.name for one in own}
        self._arrived = {name: count for name, count in self._arrived.items() if name in names}
        left = [one for one in own if one.sealed and one.name not in self._arrived]
        self.waiting = len(left)
        if left or not self._is_claimed:
            self._check_claim()
        for segment in left:
            self._send(segment)

    def _check_claim(self) -> None:
        node, identity = self._claim.node, self._claim.identity
        held = claim(self._target, self._claim)
        self._is_claimed = held.identity == identity
        if not self._is_claimed:
            where = told(node, held.identity, identity)
            raise ClaimedError(EEXIST, f"{self._target}: {where}; give one of them another name")

    def _send(self, segment: Segment) -> None:
        damaged = send(segment, self._target)
        if damaged:
            _log.warning("%s was shipped with %s damaged batches", segment.name, damaged)
        self._arrived[segment.name] = batch_count(segment)
        put_receipt(self._folder, str(self._target), self._arrived, node=self._claim.node)
        self.shipped += 1
        self.waiting -= 1
