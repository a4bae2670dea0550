"""A scene whose frames end up in a list."""

from typing import Any

from wireloom.capture.frame import CapturedFrame
from wireloom.generate.scene import Scene
from wireloom.generate.timeline import END_US, Timeline
from wireloom.generate.truth import Row, Truth
from wireloom.registry import protocol

NOON_US = END_US - 3 * 3_600_000_000
"""Early enough for everything to be over before the end."""


class Rehearsal:
    """One protocol by itself."""

    def __init__(self, name: str, seed: str = "a seed") -> None:
        self.truth = Truth()
        self._written: list[CapturedFrame] = []
        self._timeline = Timeline(self._written.append)
        self.scene = Scene(name, seed, self._timeline, self.truth)

    @property
    def frames(self) -> list[CapturedFrame]:
        """All frames so far, in order of time."""
        self._timeline.advance(END_US)
        return self._written

    @property
    def rows(self) -> list[Row]:
        return self.truth.rows

    def messages(self) -> list[Any]:
        """The frames, decoded."""
        decode = protocol(self.scene.protocol).codec.decode
        return [decode(frame.raw) for frame in self.frames]

    def types(self) -> set[str]:
        """The types of all frames."""
        record = protocol(self.scene.protocol).record
        pairs = zip(self.messages(), self.frames, strict=True)
        return {record.summarise(message, frame.raw).type for message, frame in pairs}
