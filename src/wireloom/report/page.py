"""The report as one HTML page: no scripts, nothing from elsewhere, in light or dark colours.

Names in it come from captured traffic, so every text is escaped and the page forbids itself
to load or run anything. Each chart stands beside its numbers, and a number leads to the messages
behind it.
"""

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from importlib.resources import files
from itertools import compress
from typing import Any, Final

from wireloom.report import charts
from wireloom.report.books import DAY, HOUR, MAX_REASONS, MINUTE, OUTCOMES, STATES, TIMES, tally
from wireloom.report.examples import REFUSED, Examples, Kind, kind_of
from wireloom.report.markup import (
    Column,
    Markup,
    StyledCell,
    anchor,
    count,
    joined,
    link,
    table,
    tag,
    text,
)
from wireloom.report.times import exact, instant, spoken

MAX_ROWS: Final = 100
"""Rows of a list that has no natural end."""

Row = Mapping[str, Any]


def page(found: Mapping[str, Any], lists: Sequence[Examples]) -> str:
    """The whole page.

    Args:
        found: What `wireloom.report.books.gather` found.
        lists: What `wireloom.report.examples.examples` found behind these numbers.
    """
    listed = {one.kind for one in lists}
    sections = {
        "The books": (_legend(), _books(found["books"], listed)),
        "Hour by hour": (_legend(), _hours(found["hours"])),
        "Time to delivery": _latency(found["latency"]),
        "Top reasons": _reasons(found["reasons"], listed),
        "Health": (_health(found["health"]),),
        "Message types": _types(found["types"]),
        "Frames that came in, by node": _nodes(found["nodes"]),
        "Messages behind the numbers": _lists(lists),
    }
    made = [
        tag("section", tag("h2", title), *parts, id=anchor(title))
        for title, parts in sections.items()
    ]
    ways = tag("nav", *[link(anchor(title), title) for title in sections])
    return _whole(tag("body", _head(found), ways, *made))


def _whole(body: Markup) -> str:
    style = (files("wireloom.report") / "page.css").read_text(encoding="utf-8")
    known = b64encode(sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{known}'; base-uri 'none'; form-action 'none'"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Wireloom report</title>\n<style>{style}</style></head>\n{body}</html>\n"
    )


def _head(found: Row) -> Markup:
    captured = found["captured"]
    decoded, quarantine = captured["frames"], captured["quarantine"]
    first, last = (_time(captured[key], instant) for key in ("first_at", "horizon"))
    return tag(
        "header",
        tag("h1", "What happened to every message?"),
        tag("p", count(captured["captured"]), " frames captured ",
            _equals(captured["captured"], decoded + quarantine),
            f" {count(decoded)} decoded + {count(quarantine)} in quarantine, from ", first, " to ",
            last, ". ", count(found["disagreements"]),
            " frames on which a node and the pipeline disagree, ", count(found["conflicts"]),
            " message ids with two contents."),
    )  # fmt: skip


def _legend() -> Markup:
    return tag("p", *[tag("span", _key(state), _words(state)) for state in STATES], class_="legend")


def _key(state: str) -> Markup:
    return tag("i", class_=f"key {state}")


def _books(books: Mapping[str, Mapping[str, int]], listed: set[Kind]) -> Markup:
    numbers = [Column(name, "number") for name in ("sent", *map(_words, STATES))]
    rows = []
    for name, entry in books.items():
        sent = Markup(f"{count(entry['sent'])} {_equals(entry['sent'], _sum(entry, STATES))}")
        states = [_number(entry[one], Kind(name, one), listed, _key(one)) for one in STATES]
        rows.append([name, sent, *states, charts.shares(name, entry)])
    return table([Column("protocol"), *numbers, Column("shares", "chart")], rows)


def _number(value: int, kind: Kind, listed: set[Kind], before: object = "") -> StyledCell:
    """A number that leads to what it counts."""
    shown = link(_place(kind), count(value)) if kind in listed else count(value)
    return StyledCell(joined(map(text, (before, shown))), "" if value else "none")


def _place(kind: Kind) -> str:
    return anchor(*[part for part in kind if part is not None])


def _hours(hours: Row) -> Markup:
    rows: dict[str, list[Row]] = {}
    for row in hours["rows"]:
        rows.setdefault(str(row["protocol"]), []).append(row)
    if not rows:
        return tag("p", "Nothing yet.")
    first = min(row["at"] for row in hours["rows"])
    last = max(row["at"] for row in hours["rows"])
    figures = [
        tag("figure",
            tag("figcaption", tag("b", name), " up to ", count(max(row["sent"] for row in own)),
                " messages in ", _part(hours["step_s"])),
            charts.hours(name, own, first, last, hours["step_s"]))
        for name, own in rows.items()
    ]  # fmt: skip
    return tag("div", *figures, class_="small")


def _part(step_s: int) -> str:
    """How long a column of a chart is."""
    known = {MINUTE: "a minute", 5 * MINUTE: "5 minutes", HOUR: "an hour", 6 * HOUR: "6 hours"}
    days = step_s // DAY
    return known.get(step_s) or ("a day" if days == 1 else f"{days:,} days")


def _latency(latency: Mapping[str, Row]) -> Iterator[Markup]:
    if latency:
        marks = {"p50": "half arrive sooner (p50)", "p90": "nine of ten (p90)"}
        marks |= {"p99": "99 of 100 (p99)"}
        keys = [tag("span", tag("i", class_=f"key {key}"), label) for key, label in marks.items()]
        yield tag("p", *keys, tag("span", "on a logarithmic axis"), class_="legend")
        yield charts.ranges(latency)
    rows = [
        [name, count(row["delivered"]),
         *[None if row[key] is None else spoken(row[key]) for key in TIMES], count(row["skewed"])]
        for name, row in latency.items()
    ]  # fmt: skip
    names = ("delivered", "p50", "p90", "p99", "skewed clocks")
    columns = [Column("protocol"), *[Column(name, "number") for name in names]]
    yield table(columns, rows, "compact plain")


def _reasons(reasons: Sequence[Row], listed: set[Kind]) -> Iterator[Markup]:
    shown = reasons[:MAX_REASONS]
    columns = [Column("reason"), Column("protocol"), Column("what"), Column("count", "number")]
    yield table(
        [*columns, Column("share", "chart")],
        [
            [row["reason"], row["protocol"], row["what"], _number(row["n"], kind_of(row), listed),
             charts.bar(row["n"], shown[0]["n"], f"{row['n']} {row['reason']}")]
            for row in shown
        ],
        "compact",
    )  # fmt: skip
    yield _more(len(reasons) - len(shown), "wireloom report --json")


def _health(health: Row) -> Markup:
    swarms = [
        tag("li", f"swarm {row['swarm']}: {count(row['messages'])} messages, {row['status']}")
        for row in health["swarms"][:MAX_ROWS]
    ]
    return joined((
        tag("ul", *swarms, tag("li", f"ledger: {tally(health['ledger'])}"),
            tag("li", f"hub asks: {tally(health['hub_asks'])}")),
        _more(len(health["swarms"]) - len(swarms), "wireloom report --json"),
    ))  # fmt: skip


def _types(types: Sequence[Row]) -> Iterator[Markup]:
    most: dict[str, int] = {}
    for row in types:
        most[row["protocol"]] = max(most.get(row["protocol"], 0), row["frames"])
    numbers = [Column(name, "number") for name in ("frames", "distinct", "bytes")]
    shown = types[:MAX_ROWS]
    yield table(
        [Column("type"), Column("protocol"), *numbers, Column("share of its protocol", "chart")],
        [
            [row["type"], row["protocol"],
             *[count(row[key]) for key in ("frames", "distinct_frames", "bytes")],
             charts.bar(row["frames"], most[row["protocol"]], f"{row['frames']} {row['type']}")]
            for row in shown
        ],
        "compact",
    )  # fmt: skip
    yield _more(len(types) - len(shown), "wireloom report --json")


def _nodes(nodes: Sequence[Row]) -> Iterator[Markup]:
    shown = nodes[:MAX_ROWS]
    outcomes = (*OUTCOMES, "unsaid")
    rows = [
        [row["node"], row["protocol"],
         Markup(f"{count(row['frames_in'])} {_equals(row['frames_in'], _sum(row, outcomes))}"),
         *[StyledCell(count(row[one]), "" if row[one] else "none") for one in outcomes]]
        for row in shown
    ]  # fmt: skip
    numbers = [Column(name, "number") for name in ("came in", *outcomes)]
    made = table([Column("node"), Column("protocol"), *numbers], rows, "compact")
    yield tag("div", made, class_="wide")
    yield _more(len(nodes) - len(shown), "wireloom report --json")


def _lists(lists: Sequence[Examples]) -> Iterator[Markup]:
    yield tag("p", "Choose a kind to see its latest. ", tag("code", "wireloom trace ID"),
              " shows the whole life of a message.")  # fmt: skip
    for one in lists:
        title = ", ".join(_words(str(part)) for part in one.kind if part is not None)
        what = "frames" if one.kind.state == REFUSED else "messages"
        place = _place(one.kind)
        yield tag(
            "section",
            tag("h3", link(place, f"{title}: {count(one.total)} {what}")),
            tag("div", _frames(one.rows) if one.kind.state == REFUSED else _messages(one.rows),
                _more(one.total - len(one.rows), one.query and f'wireloom sql "{one.query}"'),
                tag("p", link("the-books", "back to the books"))),
            id=place, class_="list",
        )  # fmt: skip


def _messages(rows: Sequence[Row]) -> Markup:
    columns = [Column("message", "text id"), Column("type"), Column("from", "text id")]
    columns += [Column("to", "text id"), Column("first seen"), Column("after", "number")]
    return _filled(
        [*columns, Column("why"), Column("proof", "text id")],
        [
            [row["message_id"], _type(row), _who(row, "source"), _who(row, "destination") or "all",
             _time(row["sent_at"], exact),
             None if row["latency_ms"] is None else spoken(row["latency_ms"]),
             row["reason"], row["evidence_frame"]]
            for row in rows
        ],
    )  # fmt: skip


def _filled(columns: Sequence[Column], rows: Sequence[Sequence[object]]) -> Markup:
    """A table without the columns that have nothing in any row."""
    used = [any(row[place] is not None for row in rows) for place in range(len(columns))]
    return table(list(compress(columns, used)), [list(compress(row, used)) for row in rows])


def _type(row: Row) -> str:
    inner = row.get("app_type")
    return f"{row['type']} ({inner})" if inner else str(row["type"])


def _who(row: Row, column: str) -> object:
    """A node's name, with its identity where a pointer rests on it."""
    name = row[f"{column}_name"]
    return tag("span", name, title=row[column]) if name else row[column]


def _frames(rows: Sequence[Row]) -> Markup:
    columns = [Column("frame", "text id"), Column("captured"), Column("peer", "text id")]
    columns += [Column("link"), Column("size", "number"), Column("what is wrong")]
    return _filled(
        columns,
        [
            [row["sighting"], _time(row["captured_at"], exact), row["peer"],
             row["link"], count(row["size"]), row["detail"]]
            for row in rows
        ],
    )  # fmt: skip


def _time(at: datetime | None, shown: Callable[[datetime], str]) -> Markup | None:
    return None if at is None else tag("time", shown(at))


def _more(left: int, command: str) -> Markup:
    """How many are not shown, and what shows them."""
    if left <= 0:
        return Markup("")
    if not command:
        return tag("p", f"and {count(left)} more")
    return tag("p", f"and {count(left)} more: ", tag("code", command))


def _sum(entry: Row, names: Sequence[str]) -> int:
    return sum(entry[name] for name in names)


def _equals(one: int, other: int) -> Markup:
    return Markup("=") if one == other else tag("span", "≠", class_="bad")


def _words(state: str) -> str:
    return state.replace("_", " ")
