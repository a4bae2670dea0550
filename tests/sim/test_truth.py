"""The truth of a play agrees with what its captures prove, message by message."""

import json
from contextlib import closing
from pathlib import Path

import pytest

from generate.oracle import captured, decoded, fates
from sim import plays
from wireloom.sim.captures import Captures
from wireloom.sim.play import Play
from wireloom.sim.scenario import Scenario
from wireloom.sim.truth import COUNTS, TRUTH, save, truth
from wireloom.wire.outcome import Direction, Fate

PLAYED = {
    "hub": plays.hub(),
    "hub in a hurry": plays.hub(ttl_seconds=2),
    "broker": plays.broker(),
    "broker out of reach": plays.broker(
        calm_seconds=0, seconds=300, mobility={"width_m": 300, "height_m": 300, "most_speed": 9}
    ),
    "broker in a hurry": plays.broker(ttl_seconds=2),
    "swarm": plays.swarm(),
    "swarm in a hurry": plays.swarm(ttl_seconds=1, links={"delay_ms": 700, "jitter_ms": 500}),
    "swarm without room": plays.swarm(limits={"stored_count": 4}, calm_seconds=0),
}


def played(scenario: Scenario, seed: int, folder: Path) -> tuple[Play, int]:
    with closing(Captures(folder / "captures", seed)) as captures:
        play = Play(scenario, seed, tap=captures.tap, flush=captures.flush)
        assert not play.run().broken
    return play, captures.horizon_ms


@pytest.mark.parametrize("scenario", PLAYED.values(), ids=PLAYED)
def test_the_books_of_the_captures_tell_the_truth(scenario: Scenario, tmp_path: Path) -> None:
    states = set()
    for seed in range(3):
        folder = tmp_path / str(seed)
        play, horizon_ms = played(scenario, seed, folder)
        rows = truth(play, horizon_ms)
        assert {row[:3]: row[3:] for row in rows} == fates(captured(folder))
        states |= {row.state for row in rows}
    assert Fate.DELIVERED in states


def test_the_truth_is_written_as_the_generator_writes_it(tmp_path: Path) -> None:
    play, horizon_ms = played(plays.hub(), 1, tmp_path)
    save(play, tmp_path, horizon_ms)
    rows = [json.loads(line) for line in (tmp_path / TRUTH).read_text().splitlines()]
    assert set(rows[0]) == {"protocol", "message_id", "destination", "state", "reason"}
    counts = json.loads((tmp_path / COUNTS).read_text())
    assert counts["captured"] == counts["frames"]["signalhub"] == len(captured(tmp_path))
    assert sum(counts["books"]["signalhub"].values()) == len(rows)


def test_damaged_frames_and_parts_of_frames_are_counted_as_quarantined(tmp_path: Path) -> None:
    links = {"delay_ms": 10, "corruption": 0.2}
    play, horizon_ms = played(plays.swarm(links=links, size=1_600), 1, tmp_path)
    save(play, tmp_path, horizon_ms)
    counts = json.loads((tmp_path / COUNTS).read_text())
    frames = captured(tmp_path)
    read = {name: len(seen) for name, seen in decoded(frames).items()}
    assert counts["frames"]["uep12"] == read["uep12"] < counts["captured"]
    composed = sum(frame.direction is Direction.LOCAL for frame in frames)
    assert counts["captured"] == len(frames)
    assert counts["quarantine"]["uep12"] == len(frames) - read["uep12"]
    assert composed == len({row.message_id for row in truth(play, horizon_ms)})
