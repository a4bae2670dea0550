import json
from pathlib import Path

from wireloom.capture.frame import CapturedFrame
from wireloom.generate.timeline import END_MS, END_US
from wireloom.generate.truth import COUNTS, TRUTH, Row, Truth
from wireloom.wire.outcome import Direction, Fate, Outcome, Reason


def row(deadline_ms: int = 0) -> Row:
    return Row("dtn", "id", None, deadline_ms)


def test_the_strongest_state_wins_in_any_order() -> None:
    for states in ((Fate.DELIVERED, Fate.REJECTED), (Fate.REJECTED, Fate.DELIVERED)):
        judged = row()
        for state in states:
            judged.prove(state, 1, Reason.NO_ROUTE if state is Fate.REJECTED else None)
        assert (judged.state, judged.reason) == (Fate.DELIVERED, None)


def test_the_first_reason_of_a_state_stays() -> None:
    judged = row()
    judged.prove(Fate.REJECTED, 1, Reason.FUTURE)
    judged.prove(Fate.REJECTED, 2, Reason.STALE)
    assert judged.reason is Reason.FUTURE


def test_evidence_after_the_end_proves_nothing() -> None:
    late, timely = row(), row()
    late.prove(Fate.DELIVERED, END_US + 1)
    timely.prove(Fate.DELIVERED, END_US)
    assert (late.state, timely.state) == (Fate.LOST, Fate.DELIVERED)


def test_without_evidence_the_deadline_decides_and_counts_itself() -> None:
    assert row(END_MS).state is Fate.IN_FLIGHT
    assert row(END_MS - 1).state is Fate.LOST


def test_a_message_that_is_first_seen_after_the_end_has_no_row() -> None:
    truth = Truth()
    truth.open("dtn", "a", "x", deadline_ms=0, at=END_US + 1).prove(Fate.DELIVERED, 1)
    assert not truth.rows


def test_both_files_are_sorted_and_add_up(tmp_path: Path) -> None:
    truth = Truth()
    for id_, to in (("b", "y"), ("b", "x"), ("a", None)):
        truth.open("dtn", id_, to, deadline_ms=0, at=0)
    for outcome in (Outcome.DUPLICATE, Outcome.REJECTED):
        truth.captured(
            CapturedFrame(
                captured_at=0,
                node="n",
                protocol="dtn",
                link="l",
                direction=Direction.IN,
                raw=b"",
                outcome=outcome,
            )
        )
    truth.damaged("dtn")
    truth.forged()
    truth.save(tmp_path)
    lines = [json.loads(line) for line in (tmp_path / TRUTH).read_text().splitlines()]
    assert [(line["message_id"], line["destination"]) for line in lines] == [
        ("a", None),
        ("b", "x"),
        ("b", "y"),
    ]
    counts = json.loads((tmp_path / COUNTS).read_text())
    assert counts["books"]["dtn"]["lost"] == 3
    assert (counts["captured"], counts["frames"]["dtn"], counts["quarantine"]["dtn"]) == (2, 1, 1)
    assert (counts["messages"], counts["duplicates"], counts["forged"]) == (2, 1, 1)
