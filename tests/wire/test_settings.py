from typing import ClassVar

import msgspec
import pytest

from wireloom.wire.settings import MAX_MS, MAX_NUMBER, Settings


class Example(Settings, frozen=True, kw_only=True):
    LEAST: ClassVar[dict[str, int]] = {"size": 16}
    MOST: ClassVar[dict[str, int]] = {"size": 64}
    RISING: ClassVar[tuple[tuple[str, str], ...]] = (("low", "high"),)

    name: str = "x"
    is_open: bool = False
    size: int = 32
    low: int = 1
    high: int = 2
    wait_ms: int = 1_000


def test_defaults_are_fine() -> None:
    assert Example().size == 32


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"size": 15}, "size must be 16 at least"),
        ({"size": 65}, "size must be 64 at most"),
        ({"low": 0}, "low must be 1 at least"),
        ({"high": MAX_NUMBER + 1}, f"high must be {MAX_NUMBER} at most"),
        ({"wait_ms": MAX_MS + 1}, f"wait_ms must be {MAX_MS} at most"),
        ({"low": 2}, "low must be less than high"),
        ({"lower": 2}, "unknown field"),
    ],
)
def test_what_cannot_work_is_refused(given: dict[str, int], words: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=words):
        msgspec.convert(given, Example)


def test_a_flag_is_no_number() -> None:
    assert Example(is_open=False).is_open is False
