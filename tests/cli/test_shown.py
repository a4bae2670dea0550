"""A frame as `decode` prints it and `encode` reads it."""

import pytest

from support.cases import ALL, Case
from wireloom.cli.shown import hidden, iso, show
from wireloom.wire.errors import UnknownTypeError


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


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
def test_what_is_shown_is_found_again(case: Case) -> None:
    message = next(iter(case.samples.values()))
    shown = show(case.protocol, case.protocol.codec.encode(message), ())
    assert hidden(case.protocol, shown) == message


def test_an_unknown_type_is_answered_with_the_known_ones() -> None:
    (uep12,) = [case.protocol for case in ALL if case.name == "uep12"]
    with pytest.raises(UnknownTypeError, match=r"Choose one of: CONTENT, .*PULL_BY_TIME"):
        hidden(uep12, {"type": "HELLO", "fields": {}})
