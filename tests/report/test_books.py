"""The books as one object."""

from datetime import timedelta
from pathlib import Path

import pytest

from support.corpus import counts
from support.lakes import AT, write
from wireloom.lake import Lake, LakeError
from wireloom.report.books import DAY, HOUR, MAX_PARTS, OUTCOMES, STATES, gather, step_of, tally


def test_the_books_are_the_true_ones_and_balance(corpus: Path, tables: Path) -> None:
    found = gather(Lake(tables))
    expected = counts(corpus)
    assert found["captured"]["captured"] == expected["captured"]
    for name, entry in found["books"].items():
        assert {state: entry[state] for state in STATES} == expected["books"][name]
        assert entry["sent"] == sum(entry[state] for state in STATES)


def test_every_nodes_frames_add_up(tables: Path) -> None:
    for row in gather(Lake(tables))["nodes"]:
        said = sum(row[outcome] for outcome in OUTCOMES)
        assert row["frames_in"] == said + row["unsaid"]


def test_latency_reasons_and_types_are_there(tables: Path) -> None:
    found = gather(Lake(tables))
    assert found["latency"]["signalhub"]["p50_ms"] >= 0
    assert {row["reason"] for row in found["reasons"]} >= {"malformed"}
    assert {row["protocol"] for row in found["types"]} == set(found["books"])
    assert {row["swarm"] for row in found["health"]["swarms"]} == {"swarm-a", "swarm-b"}
    assert found["health"]["ledger"]["linked"] > 0
    assert found["health"]["hub_asks"]["answered"] > 0
    assert found["disagreements"] >= 0
    assert found["conflicts"] >= 0


def test_hours_have_all_messages(tmp_path: Path) -> None:
    fates = [
        {"protocol": "dtn", "state": state, "sent_at": AT + timedelta(minutes=minutes)}
        for state, minutes in (("lost", 0), ("lost", 59), ("delivered", 60), ("expired", 300))
    ]
    found = gather(Lake(write(tmp_path / "tables", fates=fates)))["hours"]
    assert found["step_s"] == HOUR
    hours = [(row["at"], row["sent"], row["lost"]) for row in found["rows"]]
    assert hours == [
        (AT, 2, 2),
        (AT + timedelta(hours=1), 1, 0),
        (AT + timedelta(hours=5), 1, 0),
    ]


@pytest.mark.parametrize(
    ("span_s", "step_s"),
    [
        (0, 60),
        (2 * HOUR, 300),
        (6 * HOUR, HOUR),
        (71 * HOUR, HOUR),
        (7 * DAY, 6 * HOUR),
        (30 * DAY, DAY),
        (60 * 365 * DAY, 305 * DAY),
    ],
)
def test_a_span_has_few_parts_whatever_clocks_say(span_s: int, step_s: int) -> None:
    assert step_of(span_s) == step_s
    assert span_s / step_s <= MAX_PARTS


def test_no_messages_and_no_tables(tmp_path: Path) -> None:
    root = write(tmp_path / "tables")
    assert gather(Lake(root))["hours"]["rows"] == []
    assert (tally({}), tally({"fork": 1_000, "linked": 2})) == ("none", "1,000 fork, 2 linked")
    (root / "fates" / "_delta_log").rename(root / "fates" / "gone")
    with pytest.raises(LakeError, match=r"no table fates yet. Go on: wireloom pipeline run"):
        gather(Lake(root))
