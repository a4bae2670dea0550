"""The notes that a broker makes on a message's way.

A note tells a stage, this broker and the millisecond: all messages of one millisecond get the
same bytes. They are made once a millisecond, from chunks in which only the times are changed.
"""

from typing import Final, NamedTuple

from wireloom.protocols.cthun.chunks import put_chunk
from wireloom.protocols.cthun.codec import put_debug
from wireloom.protocols.cthun.constants import Stage
from wireloom.protocols.cthun.messages import DebugChunk, Hop
from wireloom.protocols.cthun.times import text_of
from wireloom.wire.cursor import Writer

_STAGES: Final = (
    (Stage.ACCEPTED, Stage.DELIVER),
    (Stage.ACCEPTED, Stage.ACCEPT_TO_QUEUE),
    (Stage.REDELIVERY, Stage.DELIVER),
)
_SOME_TIME: Final = text_of(0)
"""Every time that is written has its length, so that the sizes of the chunks hold."""


class DebugChunks(NamedTuple):
    """Debug chunks of one millisecond, ready to be appended to a message (R30)."""

    forwarded: bytes
    """It came and goes on at once."""

    held: bytes
    """It came and waits."""

    redelivered: bytes
    """It waited and goes."""


class Stamps:
    """Makes the debug chunks of one broker.

    Args:
        server: The broker's URI.
    """

    def __init__(self, server: str) -> None:
        self._chunks = [_chunk(server, stages).split(_quoted(_SOME_TIME)) for stages in _STAGES]
        self._made_ms = 0
        self._made = self._make(0)

    def at(self, now_ms: int) -> DebugChunks:
        """What is noted at this time."""
        if now_ms != self._made_ms:
            self._made_ms = now_ms
            self._made = self._make(now_ms)
        return self._made

    def _make(self, now_ms: int) -> DebugChunks:
        time = _quoted(text_of(now_ms))
        return DebugChunks(*[time.join(parts) for parts in self._chunks])


def _chunk(server: str, stages: tuple[Stage, ...]) -> bytes:
    hops = tuple(Hop(server=server, stage=stage.value, time=_SOME_TIME) for stage in stages)
    writer = Writer()
    put_chunk(writer, put_debug(DebugChunk(hops=hops)))
    return writer.finish()


def _quoted(time: str) -> bytes:
    """With its quotes, which no URI contains, nothing else in a chunk can look like it."""
    return f'"{time}"'.encode()
