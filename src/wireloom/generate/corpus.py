"""A whole corpus: all protocols at once, in their proportions, to segments and a truth file."""

import zlib
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Final

from wireloom.capture.frame import CapturedFrame
from wireloom.capture.identity import DIGITS
from wireloom.capture.private import make_folder
from wireloom.capture.segment import segments
from wireloom.capture.writer import CaptureWriter
from wireloom.generate.broker import BrokerConversations
from wireloom.generate.damage import damage, replay
from wireloom.generate.dtn_data import DtnConversations
from wireloom.generate.hub_talk import HubConversations
from wireloom.generate.mesh_data import MeshConversations
from wireloom.generate.scene import Conversations, Scene
from wireloom.generate.swarm import planned
from wireloom.generate.swarm_talk import SwarmConversations
from wireloom.generate.timeline import END_US, START_US, Timeline, conversation_at
from wireloom.generate.truth import Truth
from wireloom.generate.wish import Wish

CAPTURES: Final = "captures"
SHARES: Final = {"myriadmesh": 0.40, "signalhub": 0.20, "cthun": 0.15, "dtn": 0.15, "uep12": 0.10}
"""How much of all traffic each protocol is."""

REPLAYED: Final = 0.005
"""How much of it comes once more."""

FRAMES_PER_PROOF: Final = 400
MIN_PROOFS: Final = 8
MAX_PROOFS: Final = 2_000
"""Bounds the time that proofs of work take: a tenth of a second each."""

NUMBERS: Final = 1_000_000
"""Sequence numbers of a seed before those of another may begin."""


class _Log:
    """One writer a node.

    Args:
        folder: Where segments lie.
        seed: Another seed gives other numbers: tables tell its frames from those of the first.
    """

    def __init__(self, folder: Path, seed: int) -> None:
        self._folder = folder
        self._seed = seed
        self._begin = zlib.crc32(str(seed).encode()) * NUMBERS
        self._writers: dict[str, CaptureWriter] = {}

    def write(self, frame: CapturedFrame) -> None:
        writer = self._writers.get(frame.node)
        if writer is None:
            # A clock that stands still seals by size only: the same seed, the same segments.
            writer = CaptureWriter(
                self._folder,
                frame.node,
                clock=lambda: 0.0,
                begin=lambda: self._begin,
                identity=sha256(f"{self._seed}/{frame.node}".encode()).hexdigest()[:DIGITS],
            )
            self._writers[frame.node] = writer
        writer.append(frame)

    def close(self) -> None:
        for writer in self._writers.values():
            writer.close()


class _Cast:
    """One protocol in the corpus: its conversations, and what it still owes."""

    def __init__(self, talk: Conversations, wish: Wish) -> None:
        self.talk = talk
        self.scene = talk.scene
        self._wish = wish
        self._opened = 0
        self._budget = 1.0
        self._damaged = self._forged = self._replayed = 0

    def open(self) -> None:
        """Lets the opening take place; what it takes is not part of what is talked about."""
        self.talk.opening(START_US)
        self._opened = self.scene.count
        self._budget = max(1.0, SHARES[self.talk.protocol] * self._wish.frames - self._opened)

    def progress(self) -> float:
        """How much of its share it has said since the opening."""
        return (self.scene.count - self._opened) / self._budget

    def speak(self, at: int) -> None:
        """One conversation, and the damage, forgery and replay that are due."""
        self.talk.converse(at)
        count = self.scene.count
        while self._damaged < count * self._wish.damage:
            damage(self.scene, at)
            self._damaged += 1
        while self._forged < count * self._wish.forged:
            self.talk.forge(at)
            self._forged += 1
        while self._replayed < count * REPLAYED:
            replay(self.scene, at)
            self._replayed += 1


def generate(
    folder: Path,
    wish: Wish,
    *,
    progress: Callable[[str, int, int], None] = lambda *_: None,
) -> Truth:
    """Writes a corpus to `folder`: segments under `captures`, and the truth beside it.

    Args:
        folder: Made if it is missing; must hold no captures yet.
        wish: What is to be generated.
        progress: Told what is done, how much of it so far, and how much there is in all.

    Raises:
        FileExistsError: If there are captures already.
        OSError: If the folder cannot be written.
    """
    captures = folder / CAPTURES
    if any(segments(captures)):
        raise FileExistsError(f"{captures} holds captures already")
    make_folder(captures)
    truth, log = Truth(), _Log(captures, wish.seed)
    try:
        _perform(wish, Timeline(log.write), truth, progress)
    finally:
        log.close()
    truth.save(folder)
    return truth


def _perform(
    wish: Wish, timeline: Timeline, truth: Truth, progress: Callable[[str, int, int], None]
) -> None:
    scenes = {name: Scene(name, f"{wish.seed}/{name}", timeline, truth) for name in SHARES}
    proofs = max(MIN_PROOFS, min(MAX_PROOFS, wish.frames // FRAMES_PER_PROOF))
    messages = planned(
        scenes["uep12"], proofs, lambda done: progress("proofs of work", done, proofs)
    )
    mesh = MeshConversations(scenes["myriadmesh"], sightings=wish.sightings)
    talks: tuple[Conversations, ...] = (
        mesh,
        HubConversations(scenes["signalhub"]),
        BrokerConversations(scenes["cthun"]),
        DtnConversations(scenes["dtn"]),
        SwarmConversations(scenes["uep12"], messages),
    )
    casts = [_Cast(talk, wish) for talk in talks]
    for cast in casts:
        cast.open()
    opened = timeline.count
    shown = 0
    while timeline.count < wish.frames - 1:
        at = conversation_at((timeline.count - opened) / max(1, wish.frames - opened))
        timeline.advance(at - 1)
        min(casts, key=_Cast.progress).speak(at)
        if timeline.count - shown > wish.frames // 100:
            shown = timeline.count
            progress("frames", min(shown, wish.frames), wish.frames)
    mesh.closing()
    timeline.advance(END_US)
