"""What a captured frame means."""

import subprocess
import sys

import pytest

from wireloom.capture.meanings import COMPOSED, MEANINGS, RECEIVED, SENT, meaning_of
from wireloom.wire.outcome import Direction, Outcome, Reason
from wireloom.wire.session import Conclude


def test_every_meaning_has_one_number() -> None:
    assert len(set(MEANINGS)) == len(MEANINGS) < 256
    assert sorted([*SENT.values(), *RECEIVED.values(), COMPOSED]) == list(range(len(MEANINGS)))


@pytest.mark.parametrize("outcome", list(Outcome))
def test_a_reason_counts_only_where_something_was_rejected(outcome: Outcome) -> None:
    reason = Reason.STALE if outcome is Outcome.REJECTED else None
    said = MEANINGS[meaning_of(Conclude(outcome, Reason.STALE))]
    assert said == (Direction.IN, outcome, reason)


def test_meanings_load_nothing_heavy() -> None:
    script = "import sys, wireloom.performing.runner; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"numpy", "pyarrow", "pandas"} & set(loaded)
