"""The report as one HTML page: no scripts, nothing from elsewhere, light or dark as the reader.

Names in it come from captured traffic, so every text is escaped and the page forbids itself
to load or run anything. Each chart stands beside its numbers.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from math import log10
from typing import Any, Final

from wireloom.report.books import OUTCOMES, STATES

TOP: Final = 15
"""Rows of the lists that have no natural end."""

BAR_WIDTH: Final = 640
BAR_HEIGHT: Final = 22
TIMES: Final = ("p50_ms", "p90_ms", "p99_ms")

STYLE: Final = """
:root { color-scheme: light dark; --ink: #1c2430; --soft: #5b6675; --line: #d9dee5; --ground: #fff;
  --bar: #4477aa; --bad: #b3261e; --delivered: #2e8b57; --cancelled: #8a8f98; --rejected: #c0392b;
  --expired: #d98c1f; --in_flight: #4477aa; --lost: #6b3fa0; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ee; --soft: #9aa5b4; --line: #343c48;
  --ground: #14181e; --bar: #6d9eeb; --bad: #ff8a80; --delivered: #4fbf85; --cancelled: #9aa0aa;
  --rejected: #ef6f61; --expired: #f0b04f; --in_flight: #6d9eeb; --lost: #b18be0; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--ground);
  max-width: 76rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin-bottom: 0; } h2 { font-size: 1.1rem; margin-top: 2.2rem; }
p { color: var(--soft); } .bad { color: var(--bad); font-weight: bold; }
.wide { overflow-x: auto; } table { border-collapse: collapse; }
th, td { padding: .25rem .7rem; border-bottom: 1px solid var(--line); text-align: right;
  font-variant-numeric: tabular-nums; white-space: nowrap; }
th { color: var(--soft); font-weight: 600; } .text { text-align: left; }
svg { display: block; max-width: 100%; } .key { display: inline-block; width: .8em; height: .8em;
  margin: 0 .3em 0 1em; border-radius: 2px; }
"""

Row = Mapping[str, Any]


def page(found: dict[str, Any]) -> str:
    """The whole page, from what `wireloom.report.books.gather` found."""
    parts = (
        _head(found),
        _section("The books", _legend(), _books(found["books"])),
        _section("Time to delivery", _latency(found["latency"])),
        _section("Top reasons", _reasons(found["reasons"])),
        _section("Message types", _types(found["types"])),
        _section("Frames that came in, by node", _nodes(found["nodes"])),
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>Wireloom report</title>\n<style>{STYLE}</style></head>\n"
        f"<body>\n{''.join(parts)}</body></html>\n"
    )


def _head(found: dict[str, Any]) -> str:
    captured = found["captured"]
    balanced = captured["captured"] == captured["frames"] + captured["quarantine"]
    return (
        "<h1>What happened to every message?</h1>\n"
        f"<p>{_count(captured['captured'])} frames captured {_equals(balanced)} "
        f"{_count(captured['frames'])} decoded + {_count(captured['quarantine'])} in quarantine, "
        f"from {_text(captured['first_at'])} to {_text(captured['horizon'])}.<br>\n"
        f"{_count(found['disagreements'])} frames on which a node and the pipeline disagree, "
        f"{_count(found['conflicts'])} message ids with two contents.</p>\n"
    )


def _books(books: Mapping[str, Mapping[str, int]]) -> str:
    most = max((entry["sent"] for entry in books.values()), default=0)
    rows = []
    for name, entry in books.items():
        balanced = entry["sent"] == sum(entry[state] for state in STATES)
        states = [_cell(_count(entry[state])) for state in STATES]
        rows.append(
            [
                _name(name),
                _cell(_count(entry["sent"])),
                _cell(_equals(balanced)),
                *states,
                _cell(_stacked(name, entry, most), "text"),
            ]
        )
    return _table(["protocol", "sent", "", *map(_words, STATES), ""], rows)


def _stacked(name: str, entry: Mapping[str, int], most: int) -> str:
    """One bar, as long as its share of the longest, with a part for each state."""
    drawn, x = [], 0.0
    for state in STATES:
        width = BAR_WIDTH * entry[state] / most if most else 0
        if width:
            drawn.append(
                f'<rect x="{x:.2f}" y="0" width="{width:.2f}" height="{BAR_HEIGHT}" '
                f'style="fill: var(--{state})"><title>{escape(name)}: '
                f"{_count(entry[state])} {_words(state)}</title></rect>"
            )
        x += width
    return _svg("".join(drawn), f"{name} by state")


def _legend() -> str:
    keys = [
        f'<span class="key" style="background: var(--{state})"></span>{_words(state)}'
        for state in STATES
    ]
    return f"<p>{''.join(keys)}</p>\n"


def _latency(latency: Mapping[str, Row]) -> str:
    longest = max((float(row["p99_ms"] or 0) for row in latency.values()), default=0)
    rows = [
        [
            _name(name),
            _cell(_count(row["delivered"])),
            *[_cell(_count(row[key])) for key in TIMES],
            _cell(_count(row["skewed"])),
            _cell(_range(name, row, longest), "text"),
        ]
        for name, row in latency.items()
    ]
    head = ["protocol", "delivered", "p50 ms", "p90 ms", "p99 ms", "skewed clocks", "p50 to p99"]
    return _table(head, rows)


def _range(name: str, row: Row, longest: float) -> str:
    """A line from the median to the 99th percentile with a dot at the 90th, on a log scale."""
    if row["p50_ms"] is None:
        return ""
    left, middle, right = (_on_log(float(row[key]), longest) for key in TIMES)
    y = BAR_HEIGHT / 2
    drawn = (
        f'<line x1="{left:.2f}" x2="{max(right, left + 2):.2f}" y1="{y}" y2="{y}" '
        'stroke-width="6" style="stroke: var(--bar)"/>'
        f'<circle cx="{middle:.2f}" cy="{y}" r="5" style="fill: var(--ink)"/>'
    )
    return _svg(drawn, f"{name}: p50 to p99, log scale", BAR_WIDTH // 2)


def _on_log(value: float, longest: float) -> float:
    room = BAR_WIDTH / 2 - 12
    return 6 + (room * log10(1 + value) / log10(1 + longest) if longest > 0 else 0)


def _reasons(reasons: Sequence[Row]) -> str:
    return _ranked(
        reasons[:TOP], "n", ["protocol", "what", "reason", "count", ""],
        lambda row: [_name(row["protocol"]), _name(row["what"]), _name(row["reason"]),
                     _cell(_count(row["n"]))],
    )  # fmt: skip


def _types(types: Sequence[Row]) -> str:
    return _ranked(
        types, "frames", ["protocol", "type", "frames", "distinct", "bytes", ""],
        lambda row: [_name(row["protocol"]), _name(row["type"]), _cell(_count(row["frames"])),
                     _cell(_count(row["distinct_frames"])), _cell(_count(row["bytes"]))],
    )  # fmt: skip


def _nodes(nodes: Sequence[Row]) -> str:
    rows = []
    for row in nodes:
        said = [row[one] for one in (*OUTCOMES, "unsaid")]
        balanced = row["frames_in"] == sum(said)
        rows.append(
            [
                _name(row["node"]),
                _name(row["protocol"]),
                _cell(_count(row["frames_in"])),
                _cell(_equals(balanced)),
                *[_cell(_count(one)) for one in said],
            ]
        )
    return _table(["node", "protocol", "in", "", *OUTCOMES, "unsaid"], rows)


def _ranked(
    rows: Sequence[Row], by: str, head: Sequence[str], cells: Callable[[Row], list[str]]
) -> str:
    """A table with a bar behind each row, as long as its share of the greatest `by`."""
    most = max((row[by] for row in rows), default=0)
    made = []
    for row in rows:
        width = BAR_WIDTH / 2 * row[by] / most if most else 0
        rect = f'<rect width="{width:.2f}" height="{BAR_HEIGHT}" style="fill: var(--bar)"/>'
        made.append([*cells(row), _cell(_svg(rect, str(row[by]), BAR_WIDTH // 2), "text")])
    return _table(head, made)


def _section(title: str, *parts: str) -> str:
    return f"<h2>{escape(title)}</h2>\n{''.join(parts)}"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    body = "".join(f"<tr>{''.join(cells)}</tr>\n" for cells in rows)
    if not body:
        return "<p>Nothing yet.</p>\n"
    titles = "".join(f"<th>{escape(title)}</th>" for title in head)
    return f'<div class="wide"><table><tr>{titles}</tr>\n{body}</table></div>\n'


def _svg(drawn: str, label: str, width: int = BAR_WIDTH) -> str:
    return (
        f'<svg width="{width}" height="{BAR_HEIGHT}" viewBox="0 0 {width} {BAR_HEIGHT}" '
        f'role="img" aria-label="{escape(label)}">{drawn}</svg>'
    )


def _cell(content: str, kind: str = "") -> str:
    return f'<td class="{kind}">{content}</td>' if kind else f"<td>{content}</td>"


def _name(value: object) -> str:
    return _cell(_text(value), "text")


def _text(value: object) -> str:
    return "–" if value is None else escape(str(value))


def _count(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}"


def _equals(balanced: bool) -> str:  # noqa: FBT001
    return "=" if balanced else '<span class="bad">≠</span>'


def _words(state: str) -> str:
    return state.replace("_", " ")
