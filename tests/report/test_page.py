import re
from copy import deepcopy
from datetime import UTC, datetime
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

import pytest

from wireloom.report.books import OUTCOMES, STATES
from wireloom.report.page import BAR_WIDTH, TOP, page

EVIL = "<script src=//evil>&\"'"
FOUND: dict[str, Any] = {
    "captured": {
        "captured": 1200,
        "frames": 1190,
        "quarantine": 10,
        "first_at": datetime(2024, 1, 1, tzinfo=UTC),
        "horizon": datetime(2024, 1, 2, tzinfo=UTC),
    },
    "books": {
        "dtn": {"sent": 100, **dict.fromkeys(STATES, 0), "delivered": 75, "lost": 25},
        "uep12": {"sent": 50, **dict.fromkeys(STATES, 0), "in_flight": 50},
    },
    "nodes": [
        {"node": "ann", "protocol": "dtn", "frames_in": 5, **dict.fromkeys(OUTCOMES, 0)}
        | {"accepted": 4, "unsaid": 1}
    ],
    "latency": {
        "dtn": {"delivered": 75, "p50_ms": 9.0, "p90_ms": 99.0, "p99_ms": 999.0, "skewed": 2},
        "uep12": {"delivered": 0, "p50_ms": None, "p90_ms": None, "p99_ms": None, "skewed": 0},
    },
    "reasons": [
        {"protocol": "dtn", "what": "frame", "reason": "malformed", "n": 8},
        {"protocol": "dtn", "what": "message", "reason": "no_route", "n": 2},
    ],
    "types": [
        {"protocol": "dtn", "type": "Data", "frames": 600, "distinct_frames": 200, "bytes": 123456}
    ],
    "disagreements": 3,
    "conflicts": 1,
}
EMPTY: dict[str, Any] = {
    "captured": {"captured": 0, "frames": 0, "quarantine": 0, "first_at": None, "horizon": None},
    "books": {},
    "nodes": [],
    "latency": {},
    "reasons": [],
    "types": [],
    "disagreements": 0,
    "conflicts": 0,
}


class Tags(HTMLParser):
    """The tags of a page, and whether each is closed."""

    VOID = ("meta", "br")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.names.append(tag)
        self.attributes += [name for name, _ in attrs]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def _cells(made: str) -> list[str]:
    return re.findall(r"<td[^>]*>([^<]*)</td>", made)


def _changed(**changes: Any) -> dict[str, Any]:
    return deepcopy(FOUND) | changes


@pytest.mark.parametrize("found", [FOUND, EMPTY], ids=["full", "empty"])
def test_the_page_is_whole_and_needs_nothing_from_elsewhere(found: dict[str, Any]) -> None:
    made = page(found)
    tags = Tags(made)
    assert tags.open == []
    assert not {"script", "link", "img", "iframe", "object"} & set(tags.names)
    assert not {"src", "href", "srcset", "onload"} & set(tags.attributes)
    assert "http:" not in made
    assert "https:" not in made
    assert "url(" not in made
    assert "default-src 'none'" in made
    assert "prefers-color-scheme: dark" in made


def test_every_number_of_the_books_is_shown() -> None:
    made = page(FOUND)
    assert "1,200 frames captured = 1,190 decoded + 10 in quarantine" in made
    assert "3 frames on which" in made
    cells = _cells(made)
    start = cells.index("dtn")
    assert cells[start : start + 9] == ["dtn", "100", "=", "75", "0", "0", "0", "0", "25"]


def test_bars_have_a_part_for_each_state_and_share_one_scale() -> None:
    charts = [
        ElementTree.fromstring(svg)
        for svg in re.findall(r"<svg.*?</svg>", page(FOUND))
        if "by state" in svg
    ]
    widths = [[float(rect.attrib["width"]) for rect in chart.iter("rect")] for chart in charts]
    assert widths == [[BAR_WIDTH * 0.75, BAR_WIDTH * 0.25], [BAR_WIDTH * 0.5]]
    places = [float(rect.attrib["x"]) for rect in charts[0].iter("rect")]
    assert places == [0, BAR_WIDTH * 0.75]
    assert [title.text for title in charts[1].iter("title")] == ["uep12: 50 in flight"]


def test_books_that_do_not_balance_are_marked() -> None:
    assert '<span class="bad">' not in page(FOUND)
    books = deepcopy(FOUND["books"])
    books["dtn"]["lost"] = 24
    assert page(_changed(books=books)).count('<span class="bad">') == 1
    node = FOUND["nodes"][0] | {"frames_in": 6}
    assert page(_changed(nodes=[node])).count('<span class="bad">') == 1
    captured = FOUND["captured"] | {"captured": 1201}
    assert page(_changed(captured=captured)).count('<span class="bad">') == 1


def test_latency_grows_to_the_right_and_may_be_unknown() -> None:
    svg = next(one for one in re.findall(r"<svg.*?</svg>", page(FOUND)) if "dtn: p50" in one)
    chart = ElementTree.fromstring(svg)
    line, dot = chart.find("line"), chart.find("circle")
    assert line is not None
    assert dot is not None
    places = [float(line.attrib["x1"]), float(dot.attrib["cx"]), float(line.attrib["x2"])]
    assert places == sorted(places)
    assert places[1] - places[0] == pytest.approx(places[2] - places[1], abs=0.05)
    assert _cells(page(FOUND)).count("–") == 3


def test_names_from_the_traffic_are_escaped_everywhere() -> None:
    latency = FOUND["latency"]["dtn"]
    made = page(
        _changed(
            books={EVIL: FOUND["books"]["dtn"]},
            latency={EVIL: latency},
            nodes=[FOUND["nodes"][0] | {"node": EVIL, "protocol": EVIL}],
            reasons=[{"protocol": EVIL, "what": EVIL, "reason": EVIL, "n": 1}],
            types=[FOUND["types"][0] | {"type": EVIL, "protocol": EVIL}],
        )
    )
    assert "<script" not in made
    assert "script" not in Tags(made).names
    assert made.count("&lt;script") >= 11
    for svg in re.findall(r"<svg.*?</svg>", made):
        ElementTree.fromstring(svg)


def test_only_the_top_reasons_are_listed() -> None:
    many = [FOUND["reasons"][0] | {"reason": f"r{n}", "n": 100 - n} for n in range(TOP + 5)]
    cells = _cells(page(_changed(reasons=many)))
    assert f"r{TOP - 1}" in cells
    assert f"r{TOP}" not in cells


def test_an_empty_report_says_so() -> None:
    made = page(EMPTY)
    assert made.count("Nothing yet.") == 5
    assert "from – to –" in made


def test_zeros_draw_nothing() -> None:
    made = page(
        _changed(
            books={"dtn": {"sent": 0, **dict.fromkeys(STATES, 0)}},
            types=[FOUND["types"][0] | {"frames": 0}],
        )
    )
    assert "dtn by state" in made
    assert 'rect width="0.00"' in made
