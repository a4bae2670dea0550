"""The report as one HTML page."""

import asyncio
import re
from base64 import b64encode
from collections import Counter
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from live.clients.browser.chromium import Page, chromium
from live.clients.processes import run
from support.lakes import HOSTILE, write_hostile
from wireloom.lake import Lake
from wireloom.report.books import HOUR, MAX_REASONS, OUTCOMES, STATES, gather
from wireloom.report.examples import Examples, Kind, examples
from wireloom.report.page import MAX_ROWS, page

AT = datetime(2024, 1, 1, tzinfo=UTC)
NONE: dict[str, int] = {str(state): 0 for state in STATES}
FOUND: dict[str, Any] = {
    "captured": {
        "captured": 1200,
        "frames": 1190,
        "quarantine": 10,
        "first_at": AT,
        "horizon": AT + timedelta(days=1),
    },
    "books": {
        "dtn": {"sent": 100, **NONE, "delivered": 75, "lost": 25},
        "uep12": {"sent": 50, **NONE, "in_flight": 50},
    },
    "hours": {
        "step_s": HOUR,
        "rows": [
            {"protocol": "dtn", "at": AT, "sent": 100, **NONE, "delivered": 75, "lost": 25},
            {"protocol": "uep12", "at": AT + timedelta(hours=9), "sent": 50, **NONE}
            | {"in_flight": 50},
        ],
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
        {"protocol": "dtn", "type": "Data", "frames": 600, "distinct_frames": 200, "bytes": 123456},
        {"protocol": "dtn", "type": "Ack", "frames": 300, "distinct_frames": 200, "bytes": 12345},
        {"protocol": "uep12", "type": "PULL", "frames": 6, "distinct_frames": 2, "bytes": 123},
    ],
    "health": {
        "swarms": [{"swarm": "swarm-a", "messages": 25, "status": "1 gone"}],
        "ledger": {"fork": 13},
        "hub_asks": {},
    },
    "disagreements": 3,
    "conflicts": 1,
}
EMPTY: dict[str, Any] = {
    "captured": {"captured": 0, "frames": 0, "quarantine": 0, "first_at": None, "horizon": None},
    "books": {},
    "hours": {"step_s": HOUR, "rows": []},
    "nodes": [],
    "latency": {},
    "reasons": [],
    "types": [],
    "health": {"swarms": [], "ledger": {}, "hub_asks": {}},
    "disagreements": 0,
    "conflicts": 0,
}
MESSAGE: dict[str, Any] = {
    "message_id": "ab" * 32,
    "type": "hub:send",
    "app_type": "chat:line",
    "source": "cd" * 32,
    "source_name": "dtn-01",
    "destination": "ef" * 32,
    "destination_name": None,
    "sent_at": AT,
    "latency_ms": 11_280_000,
    "reason": None,
    "evidence_frame": "dtn-01#7",
}
FRAME: dict[str, Any] = {
    "sighting": "dtn-02#9",
    "captured_at": AT,
    "peer": "dtn-01",
    "link": "tcp",
    "size": 7,
    "detail": "not CBOR",
}
LISTS = [
    Examples(Kind("dtn", "lost"), 25, "SELECT 1", [MESSAGE]),
    Examples(Kind("dtn", "refused", "malformed"), 8, "", [FRAME]),
]


class Tags(HTMLParser):
    """The tags of a page, and whether each is closed."""

    VOID = ("meta", "br")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.names.append(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def values(self, wanted: str) -> list[str]:
        return [value for name, value in self.attributes if name == wanted]


def _cells(made: str) -> list[str]:
    return [re.sub(r"<[^>]*>", "", one) for one in re.findall(r"<td[^>]*>(.*?)</td>", made)]


def _changed(**changes: Any) -> dict[str, Any]:
    return deepcopy(FOUND) | changes


@pytest.mark.parametrize("found", [FOUND, EMPTY], ids=["full", "empty"])
def test_the_page_is_whole_and_needs_nothing_from_elsewhere(found: dict[str, Any]) -> None:
    made = page(found, LISTS)
    tags = Tags(made)
    assert tags.open == []
    assert not {"script", "link", "img", "iframe", "object"} & set(tags.names)
    assert not {"src", "srcset", "onload", "style"} & {name for name, _ in tags.attributes}
    assert "http:" not in made
    assert "https:" not in made
    assert "url(" not in made
    assert "prefers-color-scheme: dark" in made


def test_the_page_allows_itself_its_own_style_alone() -> None:
    made = page(FOUND, LISTS)
    (style,) = re.findall(r"<style>(.*)</style>", made, re.DOTALL)
    known = b64encode(sha256(style.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'sha256-{known}'; base-uri 'none'" in made


def test_every_number_of_the_books_is_shown() -> None:
    made = page(FOUND, LISTS)
    assert "1,200 frames captured = 1,190 decoded + 10 in quarantine" in made
    assert "3 frames on which" in made
    cells = _cells(made)
    start = cells.index("dtn")
    assert cells[start : start + 8] == ["dtn", "100 =", "75", "0", "0", "0", "0", "25"]


def test_every_link_leads_to_a_section_and_every_section_has_one_name() -> None:
    tags = Tags(page(FOUND, LISTS))
    places = Counter(tags.values("id"))
    assert set(places.values()) == {1}
    assert {one.removeprefix("#") for one in tags.values("href")} <= set(places)
    assert {"dtn-lost", "dtn-refused-malformed"} <= set(places)


def test_a_number_leads_to_its_messages_and_says_how_many_are_left() -> None:
    made = page(FOUND, LISTS)
    assert '<a href="#dtn-lost">25</a>' in made
    assert '<a href="#dtn-refused-malformed">8</a>' in made
    assert "ab" * 32 in made
    assert "hub:send (chat:line)" in made
    assert f'<span title="{"cd" * 32}">dtn-01</span>' in made
    assert "3 h 08 min" in made
    assert "and 24 more: <code>wireloom sql &quot;SELECT 1&quot;</code>" in made
    assert "<p>and 7 more</p>" in made


def test_a_list_has_only_columns_with_something_in_them() -> None:
    lost = MESSAGE | dict.fromkeys(("destination", "latency_ms", "evidence_frame"))
    (head,) = re.findall(
        r'id="dtn-lost".*?<thead>(.*?)</thead>',
        page(FOUND, [Examples(Kind("dtn", "lost"), 1, "", [lost])]),
    )
    assert re.findall(r">([^<]+)</th>", head) == ["message", "type", "from", "to", "first seen"]
    assert _cells(page(EMPTY, [Examples(Kind("dtn", "lost"), 1, "", [lost])]))[3] == "all"


def test_bars_of_types_are_scaled_within_their_protocol() -> None:
    charts = re.findall(r'<svg[^>]*aria-label="\d+ (?:Data|Ack|PULL)".*?</svg>', page(FOUND, []))
    rects = [ElementTree.fromstring(one).find("rect") for one in charts]
    assert [one.attrib["width"] for one in rects if one is not None] == [
        "100.000%",
        "50.000%",
        "100.000%",
    ]


def test_hours_times_and_health_have_their_words() -> None:
    made = page(FOUND, [])
    assert "<b>dtn</b> up to 100 messages in an hour" in made
    assert "half arrive sooner (p50)" in made
    assert "swarm swarm-a: 25 messages, 1 gone" in made
    assert "ledger: 13 fork" in made
    assert "hub asks: none" in made
    for step_s, said in ((60, "a minute"), (24 * HOUR, "a day"), (48 * HOUR, "2 days")):
        assert f"messages in {said}<" in page(
            _changed(hours=FOUND["hours"] | {"step_s": step_s}), []
        )


def test_books_that_do_not_balance_are_marked() -> None:
    bad = '<span class="bad">'
    assert bad not in page(FOUND, [])
    books = deepcopy(FOUND["books"])
    books["dtn"]["lost"] = 24
    assert page(_changed(books=books), []).count(bad) == 1
    node = FOUND["nodes"][0] | {"frames_in": 6}
    assert page(_changed(nodes=[node]), []).count(bad) == 1
    captured = FOUND["captured"] | {"captured": 1201}
    assert page(_changed(captured=captured), []).count(bad) == 1


def test_names_from_the_traffic_are_escaped_everywhere(tmp_path: Path) -> None:
    lake = Lake(write_hostile(tmp_path / "tables", state="rejected", reason=HOSTILE))
    found = gather(lake)
    made = page(found, examples(lake, found))
    assert "script" not in Tags(made).names
    assert made.count("&lt;script") >= 11
    body = made.partition("<body>")[2]
    assert body.replace("\n", "").isprintable()
    for svg in re.findall(r"<svg.*?</svg>", made):
        ElementTree.fromstring(svg)


def test_long_lists_say_what_is_left() -> None:
    many = [FOUND["reasons"][0] | {"reason": f"r{n}", "n": 100 - n} for n in range(MAX_REASONS + 5)]
    nodes = [FOUND["nodes"][0] | {"node": f"n{n}"} for n in range(MAX_ROWS + 7)]
    made = page(_changed(reasons=many, nodes=nodes), [])
    assert f"r{MAX_REASONS - 1}" in _cells(made)
    assert f"r{MAX_REASONS}" not in _cells(made)
    assert "and 5 more: <code>wireloom report --json</code>" in made
    assert "and 7 more: <code>wireloom report --json</code>" in made


def test_an_empty_report_says_so() -> None:
    made = page(EMPTY, [])
    assert made.count("Nothing yet.") == 6
    assert "from – to –" in made


LONG = "a-name-without-any-space-" * 12


@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_fits_a_screen_and_numbers_open_their_lists(tmp_path: Path, width: int) -> None:
    message = MESSAGE | {"type": LONG, "source": LONG, "destination": LONG, "reason": LONG}
    lists = [Examples(Kind("dtn", "lost"), 25, "SELECT 1", [message]), LISTS[1]]
    types = [FOUND["types"][0] | {"type": LONG}]
    (tmp_path / "report.html").write_text(page(_changed(types=types), lists))

    async def act(shown: Page) -> None:
        await shown.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=800,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        await shown.call("Page.navigate", url=f"file://{tmp_path}/report.html")
        async with asyncio.timeout(20):
            while not await shown.run("return document.querySelectorAll('#dtn-lost td').length"):
                await asyncio.sleep(0.05)
        lost = "const list = document.querySelector('#dtn-lost > div');"
        assert not await shown.run(f"{lost} return list.checkVisibility()")
        await shown.run("document.querySelector('a[href=\"#dtn-lost\"]').click()")
        assert await shown.run(f"{lost} return list.checkVisibility()")
        assert await shown.run("return document.documentElement.scrollWidth") <= width
        assert await shown.run(OUTSIDE) == []
        assert await shown.run(MISALIGNED) == []
        colour = "return getComputedStyle(document.querySelector('rect.delivered')).fill"
        assert await shown.run(colour) != "rgb(0, 0, 0)", "the policy lets the page's style in"

    async def main() -> None:
        async with chromium(tmp_path / "profile") as shown:
            await act(shown)

    run(main(), 120)


OUTSIDE = """
  return [...document.querySelectorAll("td, th, p, h2, h3, svg, text")]
    .filter((one) => one.checkVisibility() && one.getBoundingClientRect().right > innerWidth + 1)
    .map((one) => one.outerHTML.slice(0, 200))
"""
MISALIGNED = """
  return [...document.querySelectorAll("table")].flatMap((table) => {
    const heads = [...table.querySelectorAll("th")].filter((one) => one.checkVisibility());
    const cells = table.querySelectorAll("tbody tr:first-child td");
    return heads.filter((head, place) =>
      getComputedStyle(head).textAlign !== getComputedStyle(cells[place]).textAlign)
      .map((head) => head.textContent);
  })
"""
