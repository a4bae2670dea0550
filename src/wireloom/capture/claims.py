"""Whose log a node's name stands for, where the logs of many nodes come together.

```
captures/<node>.claim      {"node": the node, "identity": the log's, "imported": whether by imports}
```

Who ships or imports to a folder claims the name of its node there first. Two logs of one name in
one folder would be mistaken for one: their frames have the same node and may have the same numbers.
What lies there of a log that does not own the name is passed over (`clashes`).
"""

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from wireloom.capture.private import make_folder, write_whole
from wireloom.capture.segment import Segment, quoted, segments
from wireloom.capture.stream import take_head
from wireloom.remote import AnyPath, UnreachableError

SUFFIX: Final = ".claim"


class Claim(msgspec.Struct, frozen=True):
    """Who owns the name of a node in a folder."""

    node: str
    identity: str
    imported: bool = False
    """Whether its segments are written by imports, which may go on where others ended."""


class ClaimedError(OSError):
    """The name of a node belongs to another log there."""


class Clash(NamedTuple):
    """A segment whose node's name belongs to another log."""

    segment: Segment
    detail: str


_decode: Final = msgspec.json.Decoder(Claim).decode


def claim(folder: AnyPath, wanted: Claim) -> Claim:
    """Claims the name of a node, unless it belongs to somebody; gives the claim that holds.

    Without a claim, a name belongs to the log whose segments are there.

    Stores without a conditional write let two claims be made at once. The later one holds, and who
    asks again finds out: so this is asked before everything that is written.

    Raises:
        OSError: If the folder cannot be reached or written.
    """
    held = claimed(folder, wanted.node)
    if held is not None:
        return held
    implied = _implied(folder, wanted.node)
    if implied is not None and implied.identity != wanted.identity:
        return implied
    if isinstance(folder, Path):
        make_folder(folder)
    write_whole(_path(folder, wanted.node), msgspec.json.encode(wanted))
    return claimed(folder, wanted.node) or wanted


def claimed(folder: AnyPath, node: str) -> Claim | None:
    """The claim to a node's name; None if there is none, or it is damaged.

    Raises:
        UnreachableError: If the store does not answer.
    """
    return _read(_path(folder, node))


def _read(path: AnyPath) -> Claim | None:
    try:
        return _decode(path.read_bytes())
    except UnreachableError:
        raise
    except (OSError, ValueError):
        return None


def _implied(folder: AnyPath, node: str) -> Claim | None:
    """The claim of the log that a node's first segment is of."""
    own = (segment for segment in segments(folder) if segment.node == node)
    identity = next(filter(None, map(identity_of, own)), None)
    return None if identity is None else Claim(node, identity)


def clashes(folder: AnyPath, found: Iterable[Segment]) -> list[Clash]:
    """Those of some segments whose node's name belongs to another log.

    The name belongs to the log that the folder's claim names; without a claim, to the log that the
    node's first segment is of. Segments without an identity clash with nothing.

    Args:
        folder: The captures.
        found: Segments in it, by node and sequence.

    Raises:
        OSError: If the folder cannot be read, or the store does not answer.
    """
    owners = _owners(folder)
    clashing = []
    for segment in found:
        identity = identity_of(segment)
        if identity is not None and owners.setdefault(segment.node, identity) != identity:
            clashing.append(Clash(segment, told(segment.node, owners[segment.node], identity)))
    return clashing


def told(node: str, owner: str, other: str) -> str:
    """That a name belongs to another log, in one sentence."""
    return f"the name {node} belongs to the log {owner} there, this is the log {other}"


def _owners(folder: AnyPath) -> dict[str, str]:
    """The identity that each claim in a folder names, by node."""
    try:
        paths = [path for path in folder.iterdir() if path.name.endswith(SUFFIX)]
    except (FileNotFoundError, NotADirectoryError):
        return {}
    held = filter(None, map(_lasting, paths))
    return {one.node: one.identity for one in held}


def identity_of(segment: Segment) -> str | None:
    """The identity of the log that a segment is of; None if it does not say, or cannot be read.

    It is read once in a process: the head of a segment never changes.

    Raises:
        UnreachableError: If the store does not answer.
    """
    try:
        return _identity_in(segment.path)
    except UnreachableError:
        raise
    except OSError:
        return None


@lru_cache(maxsize=65_536)
def _identity_in(path: AnyPath) -> str | None:
    with path.open("rb") as file:
        return take_head(file).identity


_lasting: Final = lru_cache(maxsize=65_536)(_read)
"""A claim lasts: it is read once in a process."""


def _path(folder: AnyPath, node: str) -> AnyPath:
    return folder / (quoted(node) + SUFFIX)
