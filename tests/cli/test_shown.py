"""Instants as people read them."""

import pytest

from wireloom.cli.shown import iso


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (None, None),
        (0, "1970-01-01T00:00:00.000Z"),
        (1_704_067_200_007, "2024-01-01T00:00:00.007Z"),
        (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
        (253_402_300_800_000, None),
        (2**63 - 1, None),
        (2**64 - 1, None),
    ],
)
def test_instants(ms: int | None, text: str | None) -> None:
    assert iso(ms) == text
