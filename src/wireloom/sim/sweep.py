"""Many worlds of one scenario: every combination of values, each with so many seeds.

The worlds of a sweep have numbers, so that whoever plays one needs its number and the sweep.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path
from typing import Final, NamedTuple

from wireloom.sim.play import Play, Result
from wireloom.sim.scenario import Scenario, ScenarioError, load

MAX_COMBINATIONS: Final = 1_000
"""Each is a scenario that is held, and checked before the first is played."""

MAX_WORLDS: Final = 100_000
"""What became of all of them is held at the end."""

_CLOSED_BY: Final = {"[": "]", "{": "}", '"': '"', "'": "'"}


class Combination(NamedTuple):
    """One value of each parameter."""

    parameters: dict[str, str]
    """What was set, by its path."""

    scenario: Scenario

    @property
    def changes(self) -> tuple[str, ...]:
        """What was set, as `--set` takes it."""
        return tuple(f"{path}={value}" for path, value in self.parameters.items())


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """All worlds of a scenario that are to be played."""

    name: str
    """What the scenario is called."""

    combinations: tuple[Combination, ...]
    seeds: int
    """Each combination is played with the seeds from 1 to this one."""

    @property
    def worlds(self) -> int:
        """How many there are."""
        return len(self.combinations) * self.seeds

    def play(self, number: int) -> dict[str, object]:
        """Plays one world; gives what became of it.

        Args:
            number: Which one, from 0. Those of one combination follow each other.
        """
        place, seed = divmod(number, self.seeds)
        parameters, scenario = self.combinations[place]
        result = Play(scenario, seed + 1).run()
        return {"scenario": self.name, "parameters": parameters, **_told(result)}


def swept(path: Path, sets: Iterable[str], seeds: int) -> Sweep:
    """A sweep over a scenario's file.

    Args:
        path: The file.
        sets: What is set to which values, like `links.loss=0,0.1,0.2`.
        seeds: How many seeds each combination is played with.

    Raises:
        ScenarioError: If one of its worlds cannot be.
    """
    there = path.absolute()  # workers of a cluster are in folders of their own
    found = tuple(
        Combination(dict(parameters), load(there, map("=".join, parameters)))
        for parameters in _combined(sets)
    )
    for one in found:
        if one.scenario.mobility is not None:
            Play(one.scenario, 1)  # reads the contacts
    sweep = Sweep(name=path.stem, combinations=found, seeds=seeds)
    if sweep.worlds > MAX_WORLDS:
        raise ScenarioError(f"{sweep.worlds:,} worlds are too many; at most {MAX_WORLDS:,} can be")
    return sweep


def _combined(sets: Iterable[str]) -> Iterator[tuple[tuple[str, str], ...]]:
    """Every combination of values, each with its path; the last path changes first."""
    choices: dict[str, list[str]] = {}
    for one in sets:
        path, values = _values(one)
        if path in choices:
            raise ScenarioError(f"{path} is set twice; write its values like {path}=1,2")
        choices[path] = values
    count = prod(map(len, choices.values()))
    if count > MAX_COMBINATIONS:
        raise ScenarioError(
            f"{count:,} combinations of values are too many; at most {MAX_COMBINATIONS:,} can be"
        )
    named = [[(path, value) for value in values] for path, values in choices.items()]
    return product(*named)


def _values(text: str) -> tuple[str, list[str]]:
    """A path, and the values that it is set to."""
    path, equals, listed = text.partition("=")
    values = [value.strip() for value in _split(listed)]
    if not equals or "" in values:
        raise ScenarioError(f"{text} sets nothing; write it like links.loss=0,0.1,0.2")
    for value in values:
        if values.count(value) > 1:
            raise ScenarioError(f"{path} has the value {value} twice")
    return path.strip(), values


def _split(text: str) -> Iterator[str]:
    """The parts between commas; those within brackets and quotes part nothing."""
    begin, closing = 0, ""
    for place, letter in enumerate(text):
        if closing and letter == closing[-1]:
            closing = closing[:-1]
        elif letter in _CLOSED_BY and closing[-1:] not in ('"', "'"):
            closing += _CLOSED_BY[letter]
        elif letter == "," and not closing:
            yield text[begin:place]
            begin = place + 1
    yield text[begin:]


def _told(result: Result) -> dict[str, object]:
    """What became of a world, as a row tells it."""
    broken = result.broken[0] if result.broken else None
    sent = result.messages
    return {
        "seed": result.seed,
        "broken": None if broken is None else broken.invariant,
        "words": None if broken is None else broken.words,
        "fingerprint": result.fingerprint,
        "frames": result.frames,
        "sent": sent,
        "delivered": result.delivered,
        "delivery_ratio": result.delivered / sent if sent else None,
        "latency_p50_ms": result.latency_ms,
        "latency_p99_ms": result.latency_p99_ms,
        "transmissions": result.frames / sent if sent else None,
        "seconds": result.seconds,
    }
