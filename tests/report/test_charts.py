"""Charts that are as wide as there is room."""

from datetime import timedelta
from xml.etree import ElementTree

import pytest

from support.lakes import AT
from wireloom.report.books import DAY, HOUR, STATES
from wireloom.report.charts import MARKS, PLOT_HEIGHT, bar, hours, ranges, shares

NONE: dict[str, int] = {str(state): 0 for state in STATES}
LATENCY = {"p50_ms": 20.0, "p90_ms": 2_000.0, "p99_ms": 200_000.0}


def attributes(made: str, name: str, *keys: str) -> list[tuple[float, ...]]:
    drawn = ElementTree.fromstring(made).iter(name)
    return [tuple(float(one.attrib[key].rstrip("%")) for key in keys) for one in drawn]


def titles(made: str) -> list[str | None]:
    return [one.text for one in ElementTree.fromstring(made).iter("title")]


def words(made: str) -> list[str | None]:
    return [one.text for one in ElementTree.fromstring(made).iter("text")]


@pytest.mark.parametrize("sent", [4, 4_000_000])
def test_a_bar_is_full_however_many_messages_its_protocol_has(sent: int) -> None:
    made = shares("dtn", {"sent": sent, **NONE, "delivered": sent * 3 // 4, "lost": sent // 4})
    assert attributes(made, "rect", "x", "width") == [(0, 75), (75, 25)]
    assert titles(made)[1] == f"dtn: {sent // 4:,} lost, 25.0 %"


def test_bars_share_the_scale_of_the_greatest() -> None:
    assert attributes(bar(5, 20, "x"), "rect", "width") == [(25,)]
    assert attributes(bar(0, 0, "x"), "rect", "width") == [(0,)]


def test_every_hour_has_a_column_with_a_part_for_each_state() -> None:
    rows = [
        {"at": AT, "sent": 4, **NONE, "delivered": 3, "lost": 1},
        {"at": AT + timedelta(hours=3), "sent": 2, **NONE, "in_flight": 2},
    ]
    made = hours("dtn", rows, AT, AT + timedelta(hours=3), HOUR)
    drawn = attributes(made, "rect", "x", "y", "height")
    assert [(y, height) for _, y, height in drawn] == [
        (PLOT_HEIGHT / 4, PLOT_HEIGHT * 3 / 4),
        (0, PLOT_HEIGHT / 4),
        (PLOT_HEIGHT / 2, PLOT_HEIGHT / 2),
    ]
    assert [int(x) for x, _, _ in drawn] == [1, 1, 76]
    assert words(made) == ["06:00", "07:00", "08:00", "09:00"]
    assert titles(made)[1] == "dtn, 2026-01-01 06:00:00 UTC: 1 lost of 4"


@pytest.mark.parametrize(
    ("step_s", "columns", "labels"),
    [
        (HOUR, 48, ["1 Jan 06:00", "1 Jan 18:00", "2 Jan 06:00", "2 Jan 18:00"]),
        (DAY, 8, ["1 Jan", "3 Jan", "5 Jan", "7 Jan"]),
        (30 * DAY, 12, ["Jan 2026", "Apr 2026", "Jun 2026", "Sep 2026"]),
    ],
)
def test_an_axis_says_the_day_where_that_is_needed(
    step_s: int, columns: int, labels: list[str]
) -> None:
    last = AT + timedelta(seconds=step_s * (columns - 1))
    made = hours("dtn", [{"at": AT, "sent": 1, **NONE, "lost": 1}], AT, last, step_s)
    assert words(made) == labels


def test_ranges_share_a_logarithmic_axis_with_marks() -> None:
    unknown = dict.fromkeys(LATENCY)
    made = ranges({"cthun": unknown, "dtn": LATENCY, "uep12": dict.fromkeys(LATENCY, 0.0)})
    assert words(made) == [
        "1 ms", "10 ms", "100 ms", "1 s", "10 s", "1 min", "10 min", "dtn", "uep12",
    ]  # fmt: skip
    lines = [
        one for one in ElementTree.fromstring(made).iter("line") if "range" in one.attrib["class"]
    ]
    ((left, right), (zero, _)) = [
        [float(one.attrib[key].rstrip("%")) for key in ("x1", "x2")] for one in lines
    ]
    ((dot,), _) = attributes(made, "circle", "cx")
    assert zero == 0
    assert left == dot
    assert 0 < left < right < 100
    assert "p50 20 ms, p90 2.00 s, p99 3 min 20 s" in str(titles(made)[0])


def test_times_beyond_every_mark_and_no_times_at_all() -> None:
    made = ranges({"dtn": dict.fromkeys(LATENCY, 3.0 * max(MARKS))})
    assert words(made) == ["100 d", "dtn"]
    assert ranges({"cthun": dict.fromkeys(LATENCY)}) == ""
