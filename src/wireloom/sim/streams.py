"""Streams of random numbers, each from the seed and a name.

Who needs chance takes a stream of its own: a further node or link does not reshuffle the rest.
"""

from random import Random

Stream = Random
"""Random numbers that the same seed and name always give."""


class Streams:
    """All chance of one world.

    Args:
        seed: What it follows from.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def stream(self, name: str) -> Stream:
        """A new stream of this name, from its beginning."""
        return Random(f"{self.seed}/{name}")  # noqa: S311 - a seed is what is wanted
