"""Times in their several spellings."""

import re
from typing import Any

import pytest

from protocols.cthun.outside import checks
from wireloom.protocols.cthun.times import TIME_PATTERN, check_day, millis, text_of
from wireloom.wire.errors import MalformedError


@checks("time")
def test_time_vector_holds(vector: dict[str, Any]) -> None:
    text = bytes.fromhex(vector["hex"]).decode()
    assert re.search(TIME_PATTERN, text)
    assert millis(text) == vector["expect"]["millis"]


@pytest.mark.parametrize(
    "text",
    [
        "2015-04-27T12:00:03Z",
        "2015-04-27T12:00:03.000Z",
        "2015-04-27T12:00:03.000999999Z",
        "2015-04-27T12:00:03+00:00",
        "2015-04-27T12:00:03-00:00",
        "2015-04-27T14:30:03+02:30",
        "2015-04-26T12:01:03-23:59",
    ],
)
def test_one_instant_has_many_spellings(text: str) -> None:
    assert re.search(TIME_PATTERN, text)
    check_day(text, "expires")
    assert millis(text) == 1_430_136_003_000


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2015-04-27",
        "2015-04-27T12:00Z",
        "2015-04-27T12:00:03",
        "2015-04-27 12:00:03Z",
        "2015-04-27t12:00:03z",
        "2015-04-27T12:00:03.Z",
        "2015-04-27T12:00:03,5Z",
        "2015-04-27T12:00:03.0000000000Z",
        "2015-04-27T24:00:00Z",
        "2015-04-27T12:60:00Z",
        "2015-04-27T12:00:60Z",
        "2015-04-27T12:00:03+0000",
        "2015-04-27T12:00:03+24:00",
        "2015-04-27T12:00:03+00:60",
        "2015-04-27T12:00:03Z\n",
        "20150427T120003Z",
        "2015-W18-1T12:00:03Z",
        "+2015-04-27T12:00:03Z",
        "2015-04-27T12:00:٠3Z",
    ],
)
def test_other_forms_are_not_read(text: str) -> None:
    assert not re.search(TIME_PATTERN, text)


@pytest.mark.parametrize(
    "day", ["2015-02-29", "2015-04-31", "2015-13-01", "0000-01-01", "2015-01-00"]
)
def test_a_day_in_no_calendar_is_refused(day: str) -> None:
    with pytest.raises(MalformedError, match=f"expires '{day}T00:00:00Z' is no date"):
        check_day(f"{day}T00:00:00Z", "expires")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2016-02-29T00:00:00Z", 1_456_704_000_000),
        ("1969-12-31T23:59:59.999Z", -1),
        ("0001-01-01T00:00:00+23:59", -62_135_596_800_000 - 86_340_000),
        ("9999-12-31T23:59:59.999-23:59", 253_402_300_799_999 + 86_340_000),
    ],
)
def test_instants_at_the_edges_are_counted(text: str, expected: int) -> None:
    check_day(text, "expires")
    assert millis(text) == expected


def test_an_instant_is_written_to_the_millisecond() -> None:
    assert text_of(1_430_136_003_120) == "2015-04-27T12:00:03.120Z"
    assert text_of(3_000) == "1970-01-01T00:00:03.000Z"
    assert millis(text_of(-1)) == -1


@pytest.mark.parametrize("instant", [253_402_300_800_000, -62_135_596_800_001, 2**70])
def test_an_instant_in_no_calendar_is_refused(instant: int) -> None:
    with pytest.raises(MalformedError, match="no calendar"):
        text_of(instant)
