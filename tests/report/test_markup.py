"""Parts of a page."""

import pytest

from support.lakes import HOSTILE
from wireloom.report.markup import Column, Markup, StyledCell, anchor, count, link, table, tag, text


def test_text_does_nothing_to_a_page() -> None:
    assert text("<b>&\"'") == "&lt;b&gt;&amp;&quot;&#x27;"
    assert text(HOSTILE).replace("\n", "").isprintable()
    assert "<" not in text(HOSTILE)
    assert "\\u202e" in text(HOSTILE)
    assert (text(None), text(7), text(Markup("<i>"))) == ("–", "7", "<i>")


def test_elements_escape_their_content_and_their_attributes() -> None:
    assert tag("i", "<", Markup("<b></b>"), class_="a", data_name='"', title=None) == (
        '<i class="a" data-name="&quot;">&lt;<b></b></i>'
    )
    assert link("x", "a & b") == '<a href="#x">a &amp; b</a>'


@pytest.mark.parametrize(
    ("parts", "place"),
    [(("dtn", "in_flight"), "dtn-in-flight"), (('"><script>', "Lost"), "script-lost")],
)
def test_places_have_plain_names(parts: tuple[str, ...], place: str) -> None:
    assert anchor(*parts) == place


def test_a_head_is_aligned_as_its_column_and_cells_know_their_names() -> None:
    made = table([Column("a"), Column("n", "number")], [["x", 1], [None, StyledCell(0, "none")]])
    assert '<th class="text" scope="col">a</th><th class="number" scope="col">n</th>' in made
    assert '<td class="text" data-name="a">x</td><td class="number" data-name="n">1</td>' in made
    assert '<td class="text none" data-name="a">–</td>' in made
    assert '<td class="number none" data-name="n">0</td>' in made
    assert table([Column("a")], []) == "<p>Nothing yet.</p>"


def test_numbers_have_their_thousands_apart() -> None:
    assert (count(1234567), count(0.4), count(None)) == ("1,234,567", "0", "–")
