"""Does the signature stage run at the speed of libsodium, and does it verify each frame once?

`refine` reads the frames that ingest stored, finds the distinct ones among all sightings, gathers
keys from the traffic, verifies, and commits its tables. Its peers:

* a bare loop over PyNaCl's binding in as many processes as there are cores, over the same
  frames, with signed bytes, signature and key at hand in memory: each frame was seen once;
* a pipeline that verifies everything: the same Spark stage over every sighting, without looking
  for distinct frames, its verdicts written as Parquet: each frame was seen five times.

The bare loop's processes are started and given their share beforehand.
"""

import statistics
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import Final

from nacl.bindings import crypto_sign_open
from pyspark.sql import SparkSession

import mesh
from corpora import DATA, FRAMES, mesh_captures, mesh_frames
from timing import Figure, take_turns
from wireloom.pipeline import frame_tables
from wireloom.pipeline.judged_tables import KEYS, VERDICTS
from wireloom.pipeline.spark import CORES, Started, session
from wireloom.pipeline.stages.ingest import ingest
from wireloom.pipeline.stages.refine import refine
from wireloom.pipeline.store import TableStore
from wireloom.pipeline.verdicts import WANTED, judge_batches
from wireloom.protocols.myriadmesh.header import read_header
from wireloom.protocols.myriadmesh.integrity import node_id, signing_bytes
from wireloom.wire.outcome import Auth

ROUNDS: Final = 3
DISTINCT: Final = 2 * FRAMES // mesh.SIGHTINGS


class BareLoop:
    """One process a core, each with its share of what is to be verified."""

    def __init__(self, frames: list[bytes]) -> None:
        public = {node_id(key.public): key.public for key in mesh.node_keys()}
        jobs = []
        for raw in frames:
            covered = signing_bytes(raw)
            jobs.append((raw[len(covered) :] + covered, public[read_header(raw).source_node_id]))
        context = get_context("fork")
        self._pipes = []
        for number in range(CORES):
            ours, theirs = context.Pipe()
            share = jobs[number::CORES]
            context.Process(target=_verify_each, args=(theirs, share), daemon=True).start()
            self._pipes.append(ours)

    def verify(self) -> None:
        """All frames, once."""
        for pipe in self._pipes:
            pipe.send(None)
        for pipe in self._pipes:
            pipe.recv()


def _verify_each(pipe: Connection, share: list[tuple[bytes, bytes]]) -> None:
    while True:
        pipe.recv()
        for signed, key in share:
            crypto_sign_open(signed, key)
        pipe.send(None)


def measure() -> list[Figure]:
    """The figures."""
    once, often = mesh_captures(DISTINCT, sightings=1), mesh_captures(FRAMES)
    bare = BareLoop(mesh_frames(DISTINCT))  # before Spark starts: its threads do not fork well
    spark = session()
    try:
        with TemporaryDirectory(dir=DATA) as folder:
            return [
                _against_loop(Stage(spark, Path(folder) / "once", once), bare),
                _against_everything(Stage(spark, Path(folder) / "often", often)),
            ]
    finally:
        spark.stop()


class Stage:
    """The signature stage over some captures, which are ingested first."""

    def __init__(self, spark: SparkSession, folder: Path, captures: Path) -> None:
        self._spark = spark
        self._folder = folder
        self._store = TableStore(folder)
        print(f"  ingesting {captures.parent.name}", flush=True)
        ingest(Started(spark), captures, self._store, on_batch=lambda _: None)

    def refine(self) -> None:
        """Each distinct frame once, from stored frames to committed verdicts."""
        refine(Started(self._spark), self._store)

    def verify_everything(self) -> None:
        """Every sighting, from stored frames to verdicts in Parquet files."""
        known = {node_id(key.public).hex(): key.public for key in mesh.node_keys()}
        rows = self._store.read(self._spark, frame_tables.frames())
        rows = rows.selectExpr("protocol", "content", "source as signer", "raw").select(*WANTED)
        judged = rows.mapInArrow(judge_batches(known, 0), VERDICTS.schema)
        judged.write.parquet(str(self._folder / "everything"))

    def forget(self) -> None:
        """Removes all verdicts."""
        for name in (KEYS.name, VERDICTS.name, "everything"):
            rmtree(self._folder / name, ignore_errors=True)
        self._store = TableStore(self._folder)  # the old one remembers what is gone

    def check(self) -> None:
        """Makes sure that what was timed was right: every frame verifies."""
        verdicts = self._store.read(self._spark, VERDICTS)
        found = {row.auth for row in verdicts.select("auth").distinct().collect()}
        if found != {Auth.VALID.value}:
            raise AssertionError(found)


def _against_loop(stage: Stage, bare: BareLoop) -> Figure:
    print(f"  {DISTINCT:,} distinct frames, and a bare loop over them", flush=True)
    taken = _rounds(stage, bare.verify)
    return _figure(
        f"signature stage, {DISTINCT:,} distinct frames",
        f"bare PyNaCl loop × {CORES} cores",
        taken,
        DISTINCT,
        goal=0.85,
    )


def _against_everything(stage: Stage) -> Figure:
    frames = FRAMES // mesh.SIGHTINGS
    print(f"  {frames:,} frames, {mesh.SIGHTINGS} sightings each", flush=True)
    taken = _rounds(stage, stage.verify_everything)
    return _figure(
        f"signature stage, {frames:,} frames seen {mesh.SIGHTINGS} times",
        "verify-everything pipeline",
        taken,
        frames,
        goal=4,
    )


def _rounds(stage: Stage, peer: Callable[[], None]) -> list[tuple[float, float]]:
    stage.refine()  # warms up
    stage.check()
    stage.forget()
    return take_turns(stage.refine, peer, rounds=ROUNDS, tidy=stage.forget)


def _figure(
    question: str, peer_name: str, taken: list[tuple[float, float]], frames: int, *, goal: float
) -> Figure:
    ours, peer = (statistics.median(side) for side in zip(*taken, strict=True))
    return Figure(
        question,
        f"{frames / ours:,.0f} frames/s",
        f"{peer_name}: {frames / peer:,.0f} frames/s",
        statistics.median(other / mine for mine, other in taken),
        goal,
    )
