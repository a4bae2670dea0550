"""A picture of a sweep: delivery and latency over the values of what was swept.

It is a file of its own, so its style is in it; the same rows give the same bytes.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import log10
from statistics import fmean, median
from typing import Any, Final, NamedTuple

from wireloom.report.markup import Markup, count, joined, tag
from wireloom.report.times import spoken

WIDTH: Final = 720
LEFT: Final = 70
"""Where the plots begin: the words of their axes are at the left."""

HEAD: Final = 56
PLOT: Final = 130
GAP: Final = 78
"""Below a plot, for the values and the title of the next."""

ALL: Final = "all worlds"
"""What stands below a plot if nothing was swept."""

STYLE: Final = """
svg { background: #fff; font: 11px system-ui, sans-serif; fill: #5b6675; }
.title { font-size: 14px; font-weight: 600; fill: #1c2430; }
.name { font-size: 12px; font-weight: 600; fill: #1c2430; }
.grid { stroke: #dde2e9; }
.range { stroke: #5b87bd; stroke-width: 6; opacity: .35; }
.line { fill: none; stroke: #5b87bd; stroke-width: 2; }
.slow { fill: none; stroke: #cf4f43; stroke-width: 2; }
circle { fill: #1c2430; stroke: none; }
circle.slow { fill: #cf4f43; }
"""

Row = Mapping[str, Any]


class Summary(NamedTuple):
    """Some worlds of a sweep."""

    worlds: int
    broken: int
    least: float | None
    """The least share of messages that arrived in one of them."""

    ratio: float | None
    """That share on average."""

    most: float | None
    p50_ms: float | None
    """How long half of the messages took, in the world in the middle."""

    p99_ms: float | None


def summary(rows: Sequence[Row]) -> Summary:
    """What became of some worlds."""
    ratios = _known(rows, "delivery_ratio")
    halves, slowest = _known(rows, "latency_p50_ms"), _known(rows, "latency_p99_ms")
    return Summary(
        len(rows),
        sum(row["broken"] is not None for row in rows),
        min(ratios, default=None),
        fmean(ratios) if ratios else None,
        max(ratios, default=None),
        median(halves) if halves else None,
        median(slowest) if slowest else None,
    )


def paths(rows: Sequence[Row]) -> dict[str, list[str]]:
    """What was swept, with its values in their order; without what has the same value in all."""
    found: dict[str, dict[str, None]] = {}
    for row in rows:
        for path, value in dict(row["parameters"]).items():
            found.setdefault(path, {})[value] = None
    return {path: list(values) for path, values in found.items() if len(values) > 1}


def picture(rows: Sequence[Row]) -> str:
    """The SVG file: for each thing that was swept how much arrived, and how long it took."""
    name = rows[0]["scenario"] if rows else "nothing"
    drawn = [
        tag("style", Markup(STYLE)),
        _text(f"{name}: {count(len(rows))} worlds", LEFT, 24, "start", "title"),
    ]
    top = HEAD
    for path, values in (paths(rows) or {"": [ALL]}).items():
        columns = [summary(_having(rows, path, value)) for value in values]
        drawn += _delivery(path, values, columns, top)
        drawn += _latency(path, values, columns, top + PLOT + GAP)
        top += 2 * (PLOT + GAP)
    size = f"0 0 {WIDTH} {top}"
    made = tag("svg", *drawn, xmlns="http://www.w3.org/2000/svg", viewBox=size,
               width=WIDTH, height=top, role="img", aria_label=f"A sweep of {name}")  # fmt: skip
    return f"{made}\n"


def _known(rows: Sequence[Row], key: str) -> list[float]:
    return [row[key] for row in rows if row[key] is not None]


def _having(rows: Sequence[Row], path: str, value: str) -> list[Row]:
    """The rows with a value of what was swept; all if nothing was."""
    return [row for row in rows if not path or dict(row["parameters"]).get(path) == value]


def _delivery(
    path: str, values: Sequence[str], columns: Sequence[Summary], top: int
) -> Iterator[Markup]:
    """How much arrived: the average over worlds, from the least to the most of them."""
    yield from _frame("delivered: average, least and most", path, values, top)
    for share in (0, 0.5, 1):
        yield from _mark(f"{share:.0%}", top + PLOT * (1 - share))
    places = _places(len(values))
    known = [one for one in zip(places, columns, values, strict=True) if one[1].ratio is not None]
    for x, column, value in known:
        low, high = (top + PLOT * (1 - (one or 0)) for one in (column.least, column.most))
        yield _line(x, x, low, high, "range")
        yield _dot(x, top + PLOT * (1 - (column.ratio or 0)), "", f"{value}: {column.ratio:.1%}")
    yield _path([(x, top + PLOT * (1 - (one.ratio or 0))) for x, one, _ in known], "line")


def _latency(
    path: str, values: Sequence[str], columns: Sequence[Summary], top: int
) -> Iterator[Markup]:
    """How long it took, on a logarithmic axis of whole powers of ten."""
    yield from _frame("latency: p50, and p99 in red", path, values, top)
    known = [one for column in columns for one in (column.p50_ms, column.p99_ms) if one is not None]
    if not known:
        yield _text("nothing was delivered", LEFT, top + PLOT / 2, "start")
        return
    low, high = _power(min(known)), _power(max(known)) + 1
    for power in range(low, high + 1):
        yield from _mark(spoken(10.0**power), top + PLOT * (high - power) / (high - low))
    for key, kind in (("p50_ms", ""), ("p99_ms", "slow")):
        points = []
        for x, column, value in zip(_places(len(values)), columns, values, strict=True):
            ms = getattr(column, key)
            if ms is not None:
                points.append((x, top + PLOT * (high - log10(max(ms, 1.0))) / (high - low)))
                yield _dot(*points[-1], kind, f"{value}: {key[:3]} {spoken(ms)}")
        yield _path(points, kind or "line")


def _power(ms: float) -> int:
    """The greatest power of ten that is no more; times below 1 ms count as that."""
    return int(log10(max(ms, 1.0)))


def _frame(title: str, path: str, values: Sequence[str], top: int) -> Iterator[Markup]:
    """The title of a plot, and the values below it, as many as there is room for."""
    yield _text(title, LEFT, top - 12, "start", "name")
    every = -(-sum(len(value) + 2 for value in values) * 6 // (WIDTH - LEFT)) or 1
    for place, (x, value) in enumerate(zip(_places(len(values)), values, strict=True)):
        if place % every == 0:
            yield _text(value, x, top + PLOT + 16, "middle")
    yield _text(path, WIDTH - 10, top + PLOT + 34, "end", "name")


def _mark(words: str, y: float) -> Iterator[Markup]:
    yield _line(LEFT, WIDTH - 10, y, y, "grid")
    yield _text(words, LEFT - 8, y + 4, "end")


def _places(number: int) -> list[float]:
    """Where columns stand, at equal distances."""
    return [LEFT + (WIDTH - LEFT) * (place + 0.5) / number for place in range(number)]


def _text(words: str, x: float, y: float, anchor: str, kind: str = "") -> Markup:
    return tag("text", words, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor, class_=kind)


def _line(x1: float, x2: float, y1: float, y2: float, kind: str) -> Markup:
    places = {"x1": x1, "x2": x2, "y1": y1, "y2": y2}
    return tag("line", **{key: f"{place:.1f}" for key, place in places.items()}, class_=kind)


def _dot(x: float, y: float, kind: str, title: str) -> Markup:
    return tag("circle", tag("title", title), cx=f"{x:.1f}", cy=f"{y:.1f}", r=4, class_=kind)


def _path(points: Sequence[tuple[float, float]], kind: str) -> Markup:
    written = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return tag("polyline", points=written, class_=kind) if len(points) > 1 else joined(())
