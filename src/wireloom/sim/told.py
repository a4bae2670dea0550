"""What broke in a play, told so that it can be understood and played again."""

from collections.abc import Iterator
from shlex import quote
from typing import Final

from wireloom.registry import protocol
from wireloom.sim.invariants import SENTENCES, Broken
from wireloom.sim.recent import Flight
from wireloom.wire.errors import WireError

MAX_SHOWN: Final = 160
"""Columns of a line in a transcript."""


def transcript(broken: Broken, begun_ns: int, protocols: dict[str, str]) -> Iterator[str]:
    """What broke, and the last frames of the machines involved, line by line.

    Args:
        broken: What did not hold.
        begun_ns: When the play began.
        protocols: What each machine speaks, by its name.
    """
    at = (broken.at_ns - begun_ns) / 1e9
    yield f"{at:.3f} s: {broken.invariant}: {SENTENCES[broken.invariant]}"
    yield f"  {broken.words}"
    for flight in broken.flights:
        yield f"  {_flight(flight, begun_ns, protocols)}"


def replay(scenario: str, seed: int, changes: tuple[str, ...]) -> str:
    """The command that plays it again."""
    sets = "".join(f" --set {quote(change)}" for change in changes)
    return f"wireloom simulate {quote(scenario)} --seed {seed}{sets}"


def _flight(flight: Flight, begun_ns: int, protocols: dict[str, str]) -> str:
    at_ns, near, far, raw = flight
    text = f"{(at_ns - begun_ns) / 1e9:10.3f}  {near} > {far}  {_said(protocols.get(near), raw)}"
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 1]}…"


def _said(name: str | None, raw: bytes) -> str:
    """A frame in a few words: its type and id, or its bytes if it is none."""
    if name is not None:
        one = protocol(name)
        try:
            message = one.codec.decode(raw, lenient=True)
            summary = one.record.summarise(message, raw)
        except WireError as error:
            return f"{error.reason}: {raw[:24].hex()}"
        about = f" about {summary.reply_to}" if summary.reply_to else ""
        return f"{summary.type} {summary.id}{about}, {len(raw)} B"
    return f"{len(raw)} B: {raw[:24].hex()}"
