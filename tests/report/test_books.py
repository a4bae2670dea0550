"""The books as one object."""

from pathlib import Path

from support.corpus import counts
from wireloom.lake import Lake
from wireloom.report.books import OUTCOMES, STATES, gather


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
