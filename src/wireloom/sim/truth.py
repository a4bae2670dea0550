"""What really became of every message of a play, as its nodes could know it.

It follows from what applications meant and were told, not from captured frames: the pipeline's
books on the captures of a play have to say the same. A message that left its server for a
destination counts as delivered there, even if the connection ended before it arrived: no receiver
confirms.
"""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from wireloom.capture.frame import from_batch
from wireloom.capture.reader import Damage, read
from wireloom.registry import NAMES, protocol
from wireloom.sim.ledger import Meant
from wireloom.sim.parts import Part
from wireloom.sim.play import Play
from wireloom.wire.errors import WireError
from wireloom.wire.outcome import Fate, Reason

TRUTH: Final = "truth.jsonl"
COUNTS: Final = "truth-counts.json"
CAPTURES: Final = "captures"
"""The files of the generator's truth; a play's have the same form."""


class Row(NamedTuple):
    """One message and one destination."""

    protocol: str
    message_id: str
    destination: str | None
    state: Fate
    reason: Reason | None


def truth(play: Play, horizon_ms: int) -> list[Row]:
    """The fates of all messages that a node has seen.

    Args:
        play: A play that is over.
        horizon_ms: When the last frame was captured: what has no fate by then is in flight or lost.
    """
    for machine, raw in play.world.under_way():
        machine.misses(raw)
    parts = {part.name: part for part in play.parts}
    seen = (one for one in play.ledger.messages.values() if one.deadline_ms is not None)
    rows = [row for message in seen for row in _rows(message, parts, horizon_ms)]
    return sorted(rows, key=lambda row: (row.protocol, row.message_id, row.destination or ""))


def save(play: Play, folder: Path, horizon_ms: int) -> None:
    """Writes the truth and its counts.

    Raises:
        OSError: If the folder cannot be written.
    """
    rows = truth(play, horizon_ms)
    with (folder / TRUTH).open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row._asdict()) + "\n" for row in rows)
    counts = json.dumps(_counts(play, rows, folder), indent=2)
    (folder / COUNTS).write_text(f"{counts}\n", encoding="utf-8")


def _rows(message: Meant, parts: dict[str, Part], horizon_ms: int) -> Iterator[Row]:
    sender = parts[message.sender]
    protocol, known_as = sender.PROTOCOL, message.frame_id or message.id
    for destination, names in sender.destinations(message):
        told = message.told or next(filter(None, map(message.refused.get, names)), None)
        if destination is None:
            has_left = message.reached is True
        else:
            has_left = any(name in message.arrived or name in message.lost for name in names)
        if has_left:
            yield Row(protocol, known_as, destination, Fate.DELIVERED, None)
        elif told is not None:
            yield Row(protocol, known_as, destination, *told)
        else:
            is_late = horizon_ms > (message.deadline_ms or 0)
            state = Fate.LOST if is_late else Fate.IN_FLIGHT
            yield Row(protocol, known_as, destination, state, None)


def _captured(play: Play, folder: Path) -> tuple[Counter[str], Counter[str]]:
    """How many frames were captured, and how many of them do not decode, by protocol.

    Only datagrams are damaged, or hold a part of a frame.
    """
    datagrams = {part.PROTOCOL for part in play.parts if part.machine.ports}
    frames: Counter[str] = Counter()
    unreadable: Counter[str] = Counter()
    for batch in read(folder / CAPTURES):
        if isinstance(batch, Damage):
            continue
        frames.update(batch.column("protocol").to_pylist())
        for frame in from_batch(batch) if datagrams else ():
            if frame.protocol in datagrams:
                unreadable[frame.protocol] += not _decodes(frame.protocol, frame.raw)
    return frames, unreadable


def _decodes(name: str, raw: bytes) -> bool:
    try:
        protocol(name).codec.decode(raw)
    except WireError:
        return False
    return True


def _counts(play: Play, rows: list[Row], folder: Path) -> dict[str, object]:
    """Frames by protocol, the books, and how many messages there are."""
    books = {name: dict.fromkeys(Fate, 0) for name in NAMES}
    for row in rows:
        books[row.protocol][row.state] += 1
    frames, unreadable = _captured(play, folder)
    return {
        "captured": frames.total(),
        "frames": {name: frames[name] - unreadable[name] for name in NAMES},
        "quarantine": {name: unreadable[name] for name in NAMES},
        "books": books,
        "messages": len({(row.protocol, row.message_id) for row in rows}),
    }
