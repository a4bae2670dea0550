"""Times as a person says them."""

from datetime import UTC, datetime

import pytest

from wireloom.report.times import after, exact, instant, spoken


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (0, "0 ms"),
        (0.7, "0.7 ms"),
        (9.96, "10 ms"),
        (999.4, "999 ms"),
        (999.6, "1.00 s"),
        (2_084.2, "2.08 s"),
        (9_996, "10.0 s"),
        (59_960, "1 min 00 s"),
        (168_005, "2 min 48 s"),
        (3_599_600, "1 h 00 min"),
        (11_280_000, "3 h 08 min"),
        (86_399_999, "1 d 00 h"),
        (7 * 86_400_000 + 3 * 3_600_000, "7 d 03 h"),
        (-1_500, "−1.50 s"),
    ],
)
def test_durations_have_the_units_that_matter(ms: float, text: str) -> None:
    assert spoken(ms) == text


def test_later_has_a_sign() -> None:
    assert (after(12), after(-12)) == ("+12 ms", "−12 ms")


def test_instants_have_their_zone() -> None:
    at = datetime(2026, 1, 1, 6, 7, 8, 90_999, tzinfo=UTC)
    assert (instant(at), exact(at)) == ("2026-01-01 06:07:08 UTC", "2026-01-01 06:07:08.090 UTC")
