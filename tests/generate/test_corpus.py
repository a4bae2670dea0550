"""The corpus as a whole: repeatable, countable, and true."""

import json
from collections import Counter
from pathlib import Path

import pytest

from generate.oracle import captured, decoded, fates
from wireloom.capture.frame import CapturedFrame
from wireloom.generate.corpus import SHARES, generate
from wireloom.generate.timeline import END_US
from wireloom.generate.truth import COUNTS, TRUTH
from wireloom.generate.wish import Wish
from wireloom.registry import NAMES, protocol
from wireloom.wire.outcome import Fate

WISH = Wish(frames=4_000, seed=3, damage=0.02, forged=0.01, sightings=5)
IMPOSSIBLE = {
    "cthun": {Fate.CANCELLED},
    "dtn": {Fate.REJECTED},
    "myriadmesh": {Fate.CANCELLED, Fate.EXPIRED},
    "signalhub": {Fate.CANCELLED},
    "uep12": {Fate.CANCELLED},
}
"""States that a protocol has no evidence for."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("corpus")
    generate(made, WISH)
    return made


@pytest.fixture(scope="module")
def frames(folder: Path) -> list[CapturedFrame]:
    return captured(folder)


def truth(folder: Path) -> list[dict[str, str | None]]:
    return [json.loads(line) for line in (folder / TRUTH).read_text().splitlines()]


def test_every_fate_follows_from_the_captured_frames(
    folder: Path, frames: list[CapturedFrame]
) -> None:
    told = {
        (str(row["protocol"]), str(row["message_id"]), row["destination"]): (
            row["state"],
            row["reason"],
        )
        for row in truth(folder)
    }
    assert fates(frames) == told


def test_every_state_occurs_in_every_protocol_that_has_it(folder: Path) -> None:
    books = json.loads((folder / COUNTS).read_text())["books"]
    for name in NAMES:
        absent = {Fate(state) for state, count in books[name].items() if not count}
        assert absent == IMPOSSIBLE[name]


def test_the_counts_are_those_of_the_files(folder: Path, frames: list[CapturedFrame]) -> None:
    counts = json.loads((folder / COUNTS).read_text())
    seen = Counter(frame.protocol for frame in frames)
    good = {name: len(found) for name, found in decoded(frames).items()}
    assert counts["captured"] == len(frames)
    assert counts["frames"] == good
    assert counts["quarantine"] == {name: seen[name] - good[name] for name in NAMES}
    rows = truth(folder)
    assert len(rows) == sum(sum(book.values()) for book in counts["books"].values())
    assert counts["messages"] == len({(row["protocol"], row["message_id"]) for row in rows})
    assert len({(r["protocol"], r["message_id"], r["destination"]) for r in rows}) == len(rows)


def test_the_wishes_come_true_within_two_percent(folder: Path, frames: list[CapturedFrame]) -> None:
    counts = json.loads((folder / COUNTS).read_text())
    assert abs(len(frames) - WISH.frames) <= WISH.frames * 0.02
    assert counts["damaged"] == pytest.approx(WISH.frames * WISH.damage, rel=0.1)
    assert counts["forged"] == pytest.approx(WISH.frames * WISH.forged, rel=0.15)
    assert counts["duplicates"] >= WISH.frames * 0.004
    for name, share in SHARES.items():
        assert counts["frames"][name] == pytest.approx(WISH.frames * share, rel=0.1)


def test_the_horizon_is_the_end_and_every_log_is_in_order(frames: list[CapturedFrame]) -> None:
    assert frames[-1].captured_at == END_US
    assert len({frame.node for frame in frames}) == 13 + 9 + 1 + 1 + 12


def test_the_same_seed_gives_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    generate(tmp_path, WISH)
    files = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    assert files == sorted(p.relative_to(tmp_path) for p in tmp_path.rglob("*") if p.is_file())
    for file in files:
        assert (folder / file).read_bytes() == (tmp_path / file).read_bytes()


def test_another_seed_gives_another_corpus(folder: Path, tmp_path: Path) -> None:
    generate(tmp_path, WISH._replace(seed=4, frames=1_000))
    ids = {row["message_id"] for row in truth(folder)}
    assert not ids & {row["message_id"] for row in truth(tmp_path)}


def test_captures_that_are_there_already_are_not_mixed_with_new_ones(folder: Path) -> None:
    with pytest.raises(FileExistsError, match="holds captures already"):
        generate(folder, WISH)


def test_every_message_type_of_every_protocol_occurs(frames: list[CapturedFrame]) -> None:
    for name, found in decoded(frames).items():
        record = protocol(name).record
        types = {record.summarise(one.message, one.raw).type for one in found}
        assert types >= protocol(name).messages.TYPES.keys()


def test_progress_is_told_up_to_the_end(tmp_path: Path) -> None:
    told: dict[str, int] = {}

    def progress(what: str, done: int, total: int) -> None:
        assert told.get(what, 0) < done <= total
        told[what] = done

    generate(tmp_path, WISH._replace(frames=1_000, damage=0.0, forged=0.0), progress=progress)
    assert told["proofs of work"] == 8
    assert told["frames"] > 950
