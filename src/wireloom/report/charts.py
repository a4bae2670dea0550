"""Charts in SVG that are as wide as there is room.

Places along a chart are in percent and everything else in pixels, so that words and marks keep
their size on a small screen.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from math import log10
from typing import Any, Final

from wireloom.report.books import DAY, STATES, TIMES
from wireloom.report.markup import Markup, count, tag
from wireloom.report.times import instant, spoken

BAR_HEIGHT: Final = 18
PLOT_HEIGHT: Final = 110
AXIS_HEIGHT: Final = 20
ROW_HEIGHT: Final = 40
MAX_LABELS: Final = 4

MARKS: Final = {
    1: "1 ms",
    10: "10 ms",
    100: "100 ms",
    1_000: "1 s",
    10_000: "10 s",
    60_000: "1 min",
    600_000: "10 min",
    3_600_000: "1 h",
    86_400_000: "1 d",
    864_000_000: "10 d",
    8_640_000_000: "100 d",
}
"""Where the axis of durations has its marks, in milliseconds."""

Row = Mapping[str, Any]


def shares(name: str, entry: Mapping[str, int]) -> Markup:
    """One bar: all messages of a protocol, with a part for each state."""
    drawn, x = [], 0.0
    for state in STATES:
        if entry[state]:
            width = 100 * entry[state] / entry["sent"]
            title = f"{name}: {_of(entry, state)}, {width:.1f} %"
            drawn.append(_rect(title, x=x, width=width, height=BAR_HEIGHT, kind=state))
            x += width
    return _svg(f"{name} by state", BAR_HEIGHT, *drawn)


def bar(value: float, most: float, label: str) -> Markup:
    """One bar, as long as its share of the greatest."""
    width = 100 * value / most if most else 0
    return _svg(label, BAR_HEIGHT, _rect(label, x=0, width=width, height=BAR_HEIGHT, kind="bar"))


def hours(name: str, rows: Sequence[Row], first: datetime, last: datetime, step_s: int) -> Markup:
    """A column for each hour, as high as its share of the greatest, with a part for each state."""
    step = timedelta(seconds=step_s)
    columns = round((last - first) / step) + 1
    most = max(row["sent"] for row in rows)
    drawn = list(_hour_axis(first, columns, step_s))
    for row in rows:
        drawn += _column(name, row, round((row["at"] - first) / step), columns, most)
    return _svg(f"{name} over time, by state", PLOT_HEIGHT + AXIS_HEIGHT, *drawn)


def _column(name: str, row: Row, place: int, columns: int, most: int) -> Iterator[Markup]:
    y = float(PLOT_HEIGHT)
    for state in STATES:
        if row[state]:
            height = PLOT_HEIGHT * row[state] / most
            y -= height
            title = f"{name}, {instant(row['at'])}: {_of(row, state)} of {count(row['sent'])}"
            x, width = 100 * (place + 0.06) / columns, 88 / columns
            yield _rect(title, x=x, width=width, height=height, kind=state, y=y)


def _hour_axis(first: datetime, columns: int, step_s: int) -> Iterator[Markup]:
    yield tag("line", x1="0", x2="100%", y1=PLOT_HEIGHT, y2=PLOT_HEIGHT, class_="axis")
    every = -(-columns // MAX_LABELS)
    for place in range(0, columns, every):
        at = first + timedelta(seconds=step_s * place)
        x = 100 * place / columns
        yield tag("line", x1=_percent(x), x2=_percent(x), y1=PLOT_HEIGHT, y2=PLOT_HEIGHT + 5,
                  class_="axis")  # fmt: skip
        yield _label(_hour(at, columns * step_s), x, PLOT_HEIGHT + 16, "start")


def _hour(at: datetime, span_s: int) -> str:
    if span_s <= DAY:
        return f"{at:%H:%M}"
    if span_s <= 3 * DAY:
        return f"{at.day} {at:%b %H:%M}"
    return f"{at.day} {at:%b}" if span_s <= 300 * DAY else f"{at:%b %Y}"


def ranges(latency: Mapping[str, Row]) -> Markup:
    """For each protocol a line from p50 to p99 with a mark at p90, on one logarithmic axis."""
    known = {name: row for name, row in latency.items() if row["p50_ms"] is not None}
    times = [max(1.0, float(row[key])) for row in known.values() for key in TIMES]
    if not times:
        return Markup("")
    low = max(mark for mark in MARKS if mark <= min(times))
    high = next((mark for mark in MARKS if mark >= max(*times, low + 1)), 10 * max(times))
    bottom = len(known) * ROW_HEIGHT
    drawn = list(_time_axis(low, high, bottom))
    for place, (name, row) in enumerate(known.items()):
        drawn += _range(name, row, low, high, place * ROW_HEIGHT)
    return _svg("p50 to p99 of each protocol", bottom + AXIS_HEIGHT, *drawn)


def _time_axis(low: float, high: float, bottom: int) -> Iterator[Markup]:
    shown = [mark for mark in MARKS if low <= mark <= high]
    for place, mark in enumerate(shown):
        x = _on_log(mark, low, high)
        yield tag("line", x1=_percent(x), x2=_percent(x), y1=0, y2=bottom, class_="grid")
        anchor = "start" if x == 0 else "end" if x == 100 else "middle"
        kind = "minor" if place % 2 else ""
        yield _label(MARKS[mark], x, bottom + 15, anchor, kind)


def _range(name: str, row: Row, low: float, high: float, top: int) -> Iterator[Markup]:
    left, middle, right = (_on_log(max(1.0, float(row[key])), low, high) for key in TIMES)
    y = top + 26
    quantiles = ", ".join(f"{key[:3]} {spoken(row[key])}" for key in TIMES)
    yield _label(name, 0, top + 14, "start", "name")
    yield tag("line", tag("title", f"{name}: {quantiles}"), x1=_percent(left), x2=_percent(right),
              y1=y, y2=y, class_="range")  # fmt: skip
    yield tag("circle", cx=_percent(left), cy=y, r=5, class_="p50")
    yield tag("line", x1=_percent(middle), x2=_percent(middle), y1=y - 7, y2=y + 7, class_="p90")
    yield tag("line", x1=_percent(right), x2=_percent(right), y1=y - 7, y2=y + 7, class_="p99")


def _on_log(value: float, low: float, high: float) -> float:
    return 100 * log10(value / low) / log10(high / low)


def _label(content: str, x: float, y: float, anchor: str, kind: str = "") -> Markup:
    return tag(
        "text", content, x=_percent(x), y=y, text_anchor=anchor, class_=f"label {kind}".strip()
    )


def _rect(title: str, *, x: float, width: float, height: float, kind: str, y: float = 0) -> Markup:
    return tag("rect", tag("title", title), x=_percent(x), y=f"{y:.2f}", width=_percent(width),
               height=f"{height:.2f}", class_=kind)  # fmt: skip


def _svg(label: str, height: int, *drawn: Markup) -> Markup:
    return tag("svg", *drawn, width="100%", height=height, role="img", aria_label=label)


def _percent(value: float) -> str:
    return f"{value:.3f}%"


def _of(entry: Row, state: str) -> str:
    return f"{count(entry[state])} {state.replace('_', ' ')}"
