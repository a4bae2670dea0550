"""The captures and tables that several benchmarks share, made once below `.data`.

`BENCH_FRAMES` is how many frames they have: fewer are made and measured in less time.
"""

import os
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from typing import Final

import mesh
from wireloom import __version__
from wireloom.capture.frame import CapturedFrame
from wireloom.capture.writer import CaptureWriter
from wireloom.generate.corpus import generate
from wireloom.generate.wish import Wish
from wireloom.pipeline.run import run
from wireloom.pipeline.spark import Started, session
from wireloom.pipeline.store import TableStore
from wireloom.wire.outcome import Direction, Outcome

DATA: Final = Path(__file__).parent / ".data"
FRAMES: Final = int(os.environ.get("BENCH_FRAMES", "1_000_000"))
SEED: Final = 1
DAMAGED: Final = 0.01


def mixed(frames: int = FRAMES, *, damage: float = 0.02) -> Path:
    """The folder of generated traffic of all protocols, as `wireloom generate` writes it.

    Args:
        frames: How many in all.
        damage: The share of those that are damaged.
    """
    wish = Wish(frames=frames, seed=SEED, damage=damage, forged=0.01, sightings=5)
    name = f"mixed-{frames}-{damage:g}-{SEED}-{__version__}"
    return _kept(name, lambda folder: generate(folder, wish))


def tables(frames: int = FRAMES) -> Path:
    """The same folder, with its tables brought up to date by the pipeline."""
    data = mixed(frames)
    if not (data / "tables").exists():
        print(f"  making the tables of {frames:,} mixed frames", flush=True)
        unfinished = data / "tables.unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        spark = session()
        run(Started(spark), data / "captures", TableStore(unfinished))
        spark.stop()
        unfinished.rename(data / "tables")
    return data


def mesh_captures(frames: int = FRAMES, *, sightings: int = mesh.SIGHTINGS) -> Path:
    """Captures of signed MyriadMesh frames.

    Args:
        frames: How many in all.
        sightings: How often each frame is seen.
    """
    name = f"mesh-{frames}-{sightings}-{__version__}"
    return _kept(name, lambda folder: _write_mesh(folder, frames, sightings)) / "captures"


@cache
def mesh_frames(count: int) -> list[bytes]:
    """The distinct frames of these captures."""
    return mesh.frames(Random(SEED), count)


def _write_mesh(folder: Path, frames: int, sightings: int) -> None:
    random = Random(SEED)
    writers = [CaptureWriter(folder / "captures", f"node{n:02}") for n in range(mesh.NODES)]
    distinct = mesh_frames(frames // sightings)
    for place, (node, raw) in enumerate(mesh.seen(random, distinct, sightings)):
        writers[node].append(
            CapturedFrame(
                captured_at=mesh.NOW_MS * 1000 + place * 100,
                node=f"node{node:02}",
                protocol="myriadmesh",
                link="udp",
                direction=Direction.IN,
                peer=f"node{random.randrange(mesh.NODES):02}",
                outcome=Outcome.ACCEPTED,
                raw=raw,
            )
        )
    for writer in writers:
        writer.close()


def _kept(name: str, make: Callable[[Path], object]) -> Path:
    """The folder of this name; made if it is not there, and never left half made."""
    folder = DATA / name
    if not folder.exists():
        print(f"  making {name}", flush=True)
        unfinished = DATA / f"{name}.unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        make(unfinished)
        unfinished.rename(folder)
    return folder
