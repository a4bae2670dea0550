"""Captures of simulated nodes."""

from contextlib import closing
from pathlib import Path

import pytest

from sim import plays
from wireloom.capture.frame import from_batch
from wireloom.capture.reader import read
from wireloom.sim.captures import Captures
from wireloom.sim.play import Play
from wireloom.wire.outcome import Direction


def played(folder: Path, seed: int = 1) -> Play:
    with closing(Captures(folder, seed)) as captures:
        play = Play(plays.hub(), seed, tap=captures.tap, flush=captures.flush)
        play.run()
    return play


def test_every_frame_of_a_node_is_captured_with_its_outcome(tmp_path: Path) -> None:
    play = played(tmp_path)
    server = play.parts[0]
    frames = [frame for batch in read(tmp_path) for frame in from_batch(batch)]
    assert {(frame.node, frame.protocol) for frame in frames} == {("server-0", "signalhub")}
    came = [frame for frame in frames if frame.direction is Direction.IN]
    assert len(came) == server.machine.counts.received.total()
    assert all(frame.outcome is not None for frame in came)
    left = [frame for frame in frames if frame.direction is Direction.OUT]
    assert len(left) == server.machine.counts.sent.total()
    assert {frame.peer for frame in left} >= {f"@(client-{number})" for number in range(4)}


def test_a_seed_gives_the_same_captures(tmp_path: Path) -> None:
    played(tmp_path / "one")
    played(tmp_path / "two")
    one, two = (
        {path.name: path.read_bytes() for path in (tmp_path / name).glob("*.arrow")}
        for name in ("one", "two")
    )
    assert one
    assert one == two


def test_frames_of_a_swarm_name_it_and_its_epoch(tmp_path: Path) -> None:
    with closing(Captures(tmp_path, 1)) as captures:
        play = Play(plays.swarm(), 1, tap=captures.tap, flush=captures.flush)
        play.run()
    frames = [frame for batch in read(tmp_path) for frame in from_batch(batch)]
    assert {frame.node for frame in frames} == {part.name for part in play.parts}
    assert {(frame.swarm, frame.epoch_ms) for frame in frames} == {("swarm", 1_000)}
    assert {frame.direction for frame in frames} == set(Direction)


def test_captures_are_not_added_to_others(tmp_path: Path) -> None:
    played(tmp_path)
    with pytest.raises(FileExistsError, match="has captures already"):
        Captures(tmp_path, 2)
