"""Plays many seeds of all scenarios, on all cores, and says where something does not hold.

python tools/worlds.py [--worlds 500] [--seconds 600]
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from wireloom.sim.play import Play
from wireloom.sim.scenario import load
from wireloom.sim.told import replay, transcript

SCENARIOS = Path(__file__).parents[1] / "scenarios"


class Played(NamedTuple):
    """What became of one world."""

    frames: int
    told: str
    """What did not hold, and how to play it again; empty if all did."""


def play(path: Path, seed: int) -> Played:
    """Plays one world."""
    world = Play(load(path), seed)
    result = world.run()
    if not result.broken:
        return Played(result.frames, "")
    protocols = {part.name: part.PROTOCOL for part in world.parts}
    lines = transcript(result.broken[0], world.begun_ns, protocols)
    again = replay(f"scenarios/{path.name}", seed, ())
    return Played(result.frames, "\n".join([*lines, f"Play it again: {again}"]))


def worlds(paths: Sequence[Path], count: int) -> Iterator[tuple[Path, int]]:
    """So many worlds: every scenario in turn, each time with another seed."""
    for number in range(count):
        yield paths[number % len(paths)], number // len(paths) + 1


def main() -> int:
    """Plays them; the exit status is 1 if something does not hold or time is over."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--worlds", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=600)
    wanted = parser.parse_args()
    begun, frames, failed, done = monotonic(), 0, 0, 0
    with ProcessPoolExecutor() as pool:
        todo = worlds(sorted(SCENARIOS.glob("*.toml")), wanted.worlds)
        futures = [pool.submit(play, path, seed) for path, seed in todo]
        for future in as_completed(futures):
            played = future.result()
            done, frames = done + 1, frames + played.frames
            if played.told:
                failed += 1
                print(played.told)
            if monotonic() - begun > wanted.seconds:
                pool.shutdown(cancel_futures=True)
                break
    took = monotonic() - begun
    print(f"{done} of {wanted.worlds} worlds, {frames:,} frames in {took:.0f} s; {failed} failed")
    return int(bool(failed) or done < wanted.worlds)


if __name__ == "__main__":
    sys.exit(main())
