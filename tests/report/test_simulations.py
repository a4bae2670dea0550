"""The picture of a sweep."""

from typing import Any
from xml.etree import ElementTree

import pytest

from support.lakes import HOSTILE
from wireloom.report.simulations import paths, picture, summary

SVG = "{http://www.w3.org/2000/svg}"


def row(ratio: float | None, ms: float | None = 20.0, **parameters: str) -> dict[str, Any]:
    return {
        "scenario": "hub",
        "parameters": [(path.replace("_", "."), value) for path, value in parameters.items()],
        "broken": None,
        "delivery_ratio": ratio,
        "latency_p50_ms": ms,
        "latency_p99_ms": None if ms is None else 100 * ms,
    }


ROWS = [
    row(1.0, links_loss="0", seconds="9"),
    row(0.8, links_loss="0", seconds="9"),
    row(0.5, 40.0, links_loss="0.1", seconds="9"),
    row(None, None, links_loss="0.1", seconds="9"),
]


def drawn(made: str, name: str) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(made).iter(f"{SVG}{name}"))


def test_a_summary_passes_over_worlds_that_say_nothing() -> None:
    one = summary([*ROWS[:3], {**ROWS[3], "broken": "once"}])
    assert (one.worlds, one.broken) == (4, 1)
    assert (one.least, one.most) == (0.5, 1.0)
    assert one.ratio == pytest.approx(2.3 / 3)
    assert (one.p50_ms, one.p99_ms) == (20.0, 2_000.0)
    assert summary([]) == (0, 0, None, None, None, None, None)


def test_what_has_one_value_is_not_swept() -> None:
    assert paths(ROWS) == {"links.loss": ["0", "0.1"]}


def test_every_value_has_a_mark_for_what_arrived_and_two_for_how_long_it_took() -> None:
    told = [one.text for one in drawn(picture(ROWS), "title")]
    assert told == [
        "0: 90.0%", "0.1: 50.0%",
        "0: p50 20 ms", "0.1: p50 40 ms", "0: p99 2.00 s", "0.1: p99 4.00 s",
    ]  # fmt: skip
    lines = [one for one in drawn(picture(ROWS), "polyline") if one.get("class") == "line"]
    assert [len((one.get("points") or "").split()) for one in lines] == [2, 2]


def test_the_same_rows_give_the_same_bytes() -> None:
    assert picture(ROWS) == picture([dict(one) for one in ROWS])


def test_each_thing_that_was_swept_has_its_plots() -> None:
    rows = [row(1.0, a=a, b=b) for a in "12" for b in "345"]
    assert len(drawn(picture(rows), "circle")) == 3 * (2 + 3)


def test_without_a_sweep_all_worlds_are_one_place() -> None:
    made = picture([row(0.5), row(1.0)])
    assert "all worlds: 75.0%" in [one.text for one in drawn(made, "title")]
    assert drawn(made, "polyline") == []


@pytest.mark.parametrize("rows", [[], [row(None, None)], [row(1.0, 0.0)]], ids=str)
def test_a_sweep_of_which_there_is_little_to_say_is_drawn(rows: list[dict[str, Any]]) -> None:
    assert ElementTree.fromstring(picture(rows)).tag == f"{SVG}svg"


def test_names_are_inert() -> None:
    made = picture([{**row(1.0, a=HOSTILE), "scenario": HOSTILE}, row(1.0, a="1")])
    assert ElementTree.fromstring(made).tag == f"{SVG}svg"
    assert "<script" not in made
    assert "\x1b" not in made
