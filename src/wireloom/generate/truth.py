"""What became of every message that was generated, by the rules of the fates table.

Each conversation opens a row for every message and destination that somebody meant to be
delivered, and proves states as it schedules the frames that are evidence for them. Evidence
that would come after the end is not captured, so it proves nothing.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Any, Final

from wireloom.capture.frame import CapturedFrame
from wireloom.generate.timeline import END_MS, END_US
from wireloom.registry import NAMES
from wireloom.wire.outcome import Fate, Outcome, Reason

TRUTH: Final = "truth.jsonl"
COUNTS: Final = "truth-counts.json"


_STRENGTH: Final = {state: -rank for rank, state in enumerate(Fate)}


class Row:
    """One message and one destination.

    Args:
        protocol: The message's protocol.
        message_id: Its id, as text.
        destination: For whom it is, as text; None where it cannot be named.
        deadline_ms: After which it is lost without evidence, in ms since 1970.
    """

    __slots__ = ("_proven", "_reason", "deadline_ms", "destination", "message_id", "protocol")

    def __init__(
        self, protocol: str, message_id: str, destination: str | None, deadline_ms: int
    ) -> None:
        self.protocol = protocol
        self.message_id = message_id
        self.destination = destination
        self.deadline_ms = deadline_ms
        self._proven: Fate | None = None
        self._reason: Reason | None = None

    def prove(self, state: Fate, at_us: int, reason: Reason | None = None) -> None:
        """Evidence for `state` at an instant; a stronger one stays, the first of equals too."""
        if at_us > END_US:
            return
        if self._proven is None or _STRENGTH[state] > _STRENGTH[self._proven]:
            self._proven, self._reason = state, reason

    @property
    def state(self) -> Fate:
        """The strongest state with evidence; without any, the deadline decides."""
        if self._proven is not None:
            return self._proven
        return Fate.IN_FLIGHT if self.deadline_ms >= END_MS else Fate.LOST

    @property
    def reason(self) -> Reason | None:
        """Why it was rejected."""
        return self._reason if self.state is Fate.REJECTED else None

    def line(self) -> dict[str, Any]:
        """The row as it stands in the truth file."""
        return {
            "protocol": self.protocol,
            "message_id": self.message_id,
            "destination": self.destination,
            "state": self.state,
            "reason": self.reason,
        }


class Truth:
    """All rows, and the numbers that go with them."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self._captured: Counter[str] = Counter()
        self._quarantined: Counter[str] = Counter()
        self._noted: Counter[str] = Counter()

    def open(
        self, protocol: str, message_id: str, destination: str | None, *, deadline_ms: int, at: int
    ) -> Row:
        """A new row for a message first seen at `at` (µs); unrecorded if that is after the end."""
        row = Row(protocol, message_id, destination, deadline_ms)
        if at <= END_US:
            self.rows.append(row)
        return row

    def captured(self, frame: CapturedFrame) -> None:
        """Counts a frame that goes into the log."""
        self._captured[str(frame.protocol)] += 1
        if frame.outcome is Outcome.DUPLICATE:
            self._noted["duplicates"] += 1

    def damaged(self, protocol: str) -> None:
        """Counts a frame that no decoder takes."""
        self._quarantined[protocol] += 1
        self._noted["damaged"] += 1

    def forged(self) -> None:
        """Counts a frame that decodes and proves nothing."""
        self._noted["forged"] += 1

    def counts(self) -> dict[str, Any]:
        """Frames by protocol, the books, and how many messages of which kind there are."""
        books = {name: dict.fromkeys(Fate, 0) for name in NAMES}
        for row in self.rows:
            books[row.protocol][row.state] += 1
        frames = {name: self._captured[name] - self._quarantined[name] for name in NAMES}
        return {
            "captured": self._captured.total(),
            "frames": frames,
            "quarantine": {name: self._quarantined[name] for name in NAMES},
            "books": books,
            "messages": len({(row.protocol, row.message_id) for row in self.rows}),
            "duplicates": self._noted["duplicates"],
            "forged": self._noted["forged"],
            "damaged": self._noted["damaged"],
        }

    def save(self, folder: Path) -> None:
        """Writes both files.

        Raises:
            OSError: If the folder cannot be written.
        """
        rows = sorted(self.rows, key=lambda r: (r.protocol, r.message_id, r.destination or ""))
        with (folder / TRUTH).open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(row.line()) + "\n" for row in rows)
        (folder / COUNTS).write_text(json.dumps(self.counts(), indent=2) + "\n", encoding="utf-8")
