"""Does a run take more time per frame, or more memory, the more frames there are?

The whole command `wireloom pipeline run` over 200,000, 2 million and 10 million generated frames.
The start of Spark weighs on the few and not on the many, so the time per frame is expected to fall;
the goal is that it does not rise by more than a fifth.
"""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from corpora import DATA, mixed
from processes import Cost, cost
from timing import Figure
from whole_runs import COMMAND

SIZES: Final = (200_000, 2_000_000, 10_000_000)
MOST: Final = 1.2


def measure() -> list[Figure]:
    """The figures."""
    costs = [_cost(size) for size in SIZES]
    least = min(one.seconds / size for one, size in zip(costs[:-1], SIZES, strict=False))
    return [
        Figure(
            f"`pipeline run`, {size:,} frames: time per frame to the least of smaller runs",
            f"{one.seconds:.0f} s, {size / one.seconds:,.0f} frames/s",
            f"{one.core_seconds:.0f} core-seconds, {one.peak:,.0f} MB",
            one.seconds / size / least if size == SIZES[-1] else None,
            MOST if size == SIZES[-1] else None,
            at_most=True,
        )
        for one, size in zip(costs, SIZES, strict=True)
    ]


def _cost(size: int) -> Cost:
    captures = mixed(size) / "captures"
    with TemporaryDirectory(dir=DATA) as folder:
        data = Path(folder)
        shutil.copytree(captures, data / "captures")
        spent = cost([*COMMAND, str(data)])
    print(f"  {size:,} frames: {spent}", flush=True)
    return spent
