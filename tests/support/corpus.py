"""A generated corpus and its truth."""

import json
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa

from wireloom.capture.reader import read_segment
from wireloom.capture.segment import segments
from wireloom.capture.writer import CaptureWriter
from wireloom.generate.corpus import generate
from wireloom.generate.wish import Wish
from wireloom.lake import Lake
from wireloom.pipeline.catalogue import all_tables
from wireloom.pipeline.frame_tables import SLICE

Key = tuple[str, str, str | None]
Fate = tuple[str, str | None]


def generated(folder: Path, *, frames: int, seed: int) -> Path:
    """A corpus with damage, forgery and relayed frames; gives its folder."""
    generate(folder, Wish(frames=frames, seed=seed, damage=0.02, forged=0.01, sightings=5))
    return folder


def cut(captures: Path, folder: Path, parts: int) -> list[list[Path]]:
    """The same captures with each node's frames in several segments; gives the parts' files."""
    return cut_at(captures, folder, [part / parts for part in range(1, parts)])


def cut_at(captures: Path, folder: Path, shares: Sequence[float]) -> list[list[Path]]:
    """The same, with cuts after these shares of each node's frames."""
    found: list[list[Path]] = [[] for _ in range(len(shares) + 1)]
    for segment in segments(captures):
        batches = [batch for batch in read_segment(segment) if isinstance(batch, pa.RecordBatch)]
        rows = pa.Table.from_batches(batches).combine_chunks().to_batches()[0]
        edges = [round(rows.num_rows * share) for share in (0, *shares, 1)]
        first = segment.first_sequence
        with CaptureWriter(folder, segment.node, begin=partial(int, first)) as writer:
            for part, (begin, end) in enumerate(pairwise(edges)):
                if end > begin:
                    before = set(folder.iterdir())
                    writer.write(rows.slice(begin, end - begin))
                    writer.seal()
                    found[part] += sorted(set(folder.iterdir()) - before)
    return found


def truth(folder: Path) -> dict[Key, Fate]:
    """What the right fates are."""
    lines = (folder / "truth.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    return {
        (row["protocol"], row["message_id"], row["destination"]): (row["state"], row["reason"])
        for row in rows
    }


def counts(folder: Path) -> dict[str, Any]:
    """What the right numbers are."""
    found: dict[str, Any] = json.loads((folder / "truth-counts.json").read_text())
    return found


def fates(tables: Path | str) -> dict[Key, Fate]:
    """What the tables say."""
    rows = Lake(tables).rows("SELECT protocol, message_id, destination, state, reason FROM fates")
    found = {
        (str(row["protocol"]), str(row["message_id"]), _text(row["destination"])): (
            str(row["state"]),
            _text(row["reason"]),
        )
        for row in rows
    }
    assert len(found) == len(rows), "a message and destination has two rows"
    return found


def rows(tables: Path, name: str) -> list[str]:
    """All rows of a table, in an order of their own."""
    found = Lake(tables).rows(f'SELECT * FROM "{name}"')
    return sorted(repr(sorted(row.items())) for row in found)


def _told(tables: Path | str, name: str) -> list[str]:
    """The rows without the slice that brought them, which is how they came, not what they are."""
    found = Lake(tables).rows(f'SELECT * FROM "{name}"')
    return sorted(
        repr(sorted((key, value) for key, value in row.items() if key != SLICE)) for row in found
    )


def same_tables(one: Path, other: Path | str) -> None:
    """Refuses two roots whose tables differ; `runs` tells of the runs, and no run simulates."""
    for table in all_tables():
        if table.name not in ("runs", "simulations"):
            assert _told(one, table.name) == _told(other, table.name), table.name


def _text(value: object) -> str | None:
    return None if value is None else str(value)
