"""Imports to object storage: segments are made on this machine and sent when they are sealed."""

from collections.abc import Iterator
from contextlib import contextmanager
from errno import EEXIST
from pathlib import Path
from tempfile import TemporaryDirectory

from wireloom.capture import writer
from wireloom.capture.claims import Claim, ClaimedError, claim, told
from wireloom.capture.fanout import Fanout, Origin
from wireloom.capture.identity import new_identity
from wireloom.capture.segment import Segment, segments
from wireloom.capture.sending import send
from wireloom.capture.tail import next_sequence
from wireloom.remote import AnyPath


@contextmanager
def appending(folder: AnyPath) -> Iterator[Fanout]:
    """Appends frames to the logs in a folder, wherever it is.

    What is sealed on object storage when this ends stays there, however it ends. Imports to one
    folder there come one after the other: no lock keeps them apart.

    Raises:
        ClaimedError: If the name of a node belongs to a log that goes on elsewhere.
        OSError: If the folder cannot be reached, or does not take the frames.
    """
    if isinstance(folder, Path):
        with Fanout(folder) as fanout:
            yield fanout
        return
    with TemporaryDirectory(prefix="wireloom-") as made:
        stage = Stage(Path(made), folder)
        try:
            with Fanout(Path(made), origin=stage.origin, flushed=stage.send) as fanout:
                yield fanout
        finally:
            stage.send()


class Stage:
    """A folder of this machine whose sealed segments go to another one.

    Args:
        made: Where segments are made.
        target: Where they go.

    Raises:
        OSError: If the target cannot be reached.
    """

    def __init__(self, made: Path, target: AnyPath) -> None:
        self._made = made
        self._target = target
        self._last: dict[str, Segment] = {segment.node: segment for segment in segments(target)}

    def origin(self, node: str) -> Origin:
        """Where the frames of a node go on, after those that are there.

        Raises:
            ClaimedError: If the node's name belongs to a log that goes on elsewhere.
            OSError: If the target cannot be reached.
        """
        wanted = Claim(node, new_identity(), imported=True)
        held = claim(self._target, wanted)
        if not held.imported:
            why = told(node, held.identity, wanted.identity)
            raise ClaimedError(EEXIST, f"{self._target}: {why}; import under another name (--node)")
        last = self._last.get(node)
        after = 0 if last is None else next_sequence(last)
        return Origin(max(after, writer.microseconds()), held.identity)

    def send(self) -> None:
        """Sends what is sealed, and deletes it here.

        Raises:
            OSError: If it cannot be read or sent.
        """
        for segment in segments(self._made):
            if segment.sealed:
                send(segment, self._target)
                segment.path.unlink()
                segment.sums_path.unlink(missing_ok=True)
