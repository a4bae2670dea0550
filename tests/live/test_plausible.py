"""Settings that cannot work."""

from math import inf, nan

import msgspec
import pytest

from wireloom.live.plausible import RANGES, explained, limit_objection, nearest, objection


@pytest.mark.parametrize("key", RANGES)
def test_numbers_have_a_range(key: str) -> None:
    least, most = RANGES[key]
    assert objection(key, least) is None
    assert objection(key, most) is None
    for value in (nan, inf, -inf, -1, least - 1, most + 1):
        told = objection(key, value)
        assert told is not None
        assert "it must be from" in told


def test_all_else_may_be_anything() -> None:
    assert objection("name", nan) is None
    assert objection("ping_seconds", "x") is None
    assert limit_objection("x") is None
    assert limit_objection(value=True) is None
    assert limit_objection(0) is None


@pytest.mark.parametrize("value", [nan, inf, -1, -0.5])
def test_limits_are_neither_negative_nor_infinite(value: float) -> None:
    assert limit_objection(value) is not None


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Expected `int` - at `$.a.b`", "a.b: Expected `int`"),
        ("Expected `object`", "Expected `object`"),
        (
            "Object contains unknown field `pathh` - at `$.a`",
            "a has no pathh; did you mean path?",
        ),
        ("Object contains unknown field `zzz`", "the file has no zzz; there is a, b"),
    ],
)
def test_what_is_wrong_is_told_by_its_key(said: str, told: str) -> None:
    sections = {"": ["b", "a"], "a": ["path"]}
    assert explained(msgspec.ValidationError(said), sections) == told


def test_what_somebody_may_have_meant() -> None:
    assert nearest("pth", ["path", "tls"]) == "did you mean path?"
    assert nearest("zz", ["path", "tls"]) == "there is path, tls"
