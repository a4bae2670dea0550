"""What a corpus is to be like."""

from typing import Final, NamedTuple

MIN_FRAMES: Final = 1_000
"""With fewer frames not every kind of conversation would have its turn."""


class Wish(NamedTuple):
    """What is to be generated."""

    frames: int
    """How many frames in all, within two percent."""

    seed: int
    """Decides everything else."""

    damage: float
    """Share of frames that no decoder takes."""

    forged: float
    """Share of frames that decode and prove nothing."""

    sightings: int
    """How often a relayed frame is seen on average."""
