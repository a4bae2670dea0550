"""Rows of captured frames: columns of the log, however frames were added."""

import numpy as np
import pytest

from live.parts import Pipe
from wireloom.capture import rows as module
from wireloom.capture.frame import CapturedFrame
from wireloom.capture.frame import to_batch as captured_batch
from wireloom.capture.meanings import COMPOSED, RECEIVED, SENT, Absent, Party
from wireloom.capture.rows import Rows
from wireloom.wire.outcome import Direction, Outcome, Reason


def pipe(name: str = "alice") -> Pipe:
    made = Pipe(None)
    made.protocol = "echo"
    made.name = name
    return made


def test_rows_of_many_at_once_are_as_many_rows() -> None:
    ann, bob, eve = pipe("ann"), pipe("bob"), pipe("eve")
    eve.protocol = "other"
    groups: list[list[Party]] = [[ann, bob], [bob, eve, ann]]
    one, many = Rows(), Rows()
    for turn in range(3):
        for group in groups:
            frames = [b"%d %d" % (turn, number) for number in range(len(group))]
            many.add_all(group, SENT[None], frames)
            for connection, frame in zip(group, frames, strict=True):
                one.add(connection, SENT[None], frame)
        for rows in (one, many):
            rows.add(eve, RECEIVED[Outcome.ACCEPTED, None], b"in")
            rows.at(turn)
            rows.pack()
    one.join()
    many.join()
    (expected,) = one.batches("n", first_sequence=7)
    (batch,) = many.batches("n", first_sequence=7)
    assert len(many) == 18
    assert batch.equals(expected)
    assert batch["peer"].to_pylist()[:6] == ["ann", "bob", "bob", "eve", "ann", "eve"]


def test_rows_are_what_the_log_expects() -> None:
    said = [
        (1_000_000, "out", pipe("alice"), Outcome.DELIVERED, None, b"one"),
        (1_000_000, "in", pipe("bob"), Outcome.REJECTED, Reason.STALE, b""),
        (3_000_000, "in", pipe("eve"), Outcome.ACCEPTED, None, b"three"),
        (3_000_000, "out", pipe("eve"), None, None, b"four"),
    ]
    said[3][2].protocol = "other"
    rows = Rows()
    rows.at(5)
    for number, (at_us, way, connection, outcome, reason, raw) in enumerate(said):
        meaning = SENT[outcome] if way == "out" else RECEIVED[outcome, reason]
        rows.add(connection, meaning, raw)
        if number % 2:
            rows.at(at_us * 1_000 + 999)
            rows.pack()
    frames = [
        CapturedFrame(
            captured_at=at_us,
            node="n",
            protocol=connection.protocol,
            link="pipe",
            direction=Direction(way),
            raw=raw,
            peer=connection.name,
            outcome=outcome,
            reason=reason,
        )
        for at_us, way, connection, outcome, reason, raw in said
    ]
    rows.join()
    (batch,) = rows.batches("n", first_sequence=7)
    assert batch.equals(captured_batch(frames, first_sequence=7))
    assert rows.size == 12


def test_what_was_composed_for_somebody_who_is_away_is_a_local_row() -> None:
    rows = Rows()
    rows.add(Absent("echo", "alice"), COMPOSED, b"too late")
    rows.at(1_000)
    rows.pack()
    rows.join()
    (batch,) = rows.batches("n", first_sequence=0)
    (row,) = batch.to_pylist()
    assert (row["protocol"], row["direction"], row["peer"]) == ("echo", "local", "alice")
    assert (row["link"], row["outcome"], row["raw"]) == ("local", None, b"too late")


def test_every_outcome_and_every_reason_has_a_meaning() -> None:
    assert set(SENT) == {None, *Outcome}
    assert {outcome for outcome, _ in RECEIVED} == set(Outcome)
    assert {reason for _, reason in RECEIVED} == {None, *Reason}


def test_large_frames_are_copied_by_the_thread_that_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGE", 10)
    turns = [[b"1", b""], [b"large" * 9], [b"2"], [b"", b"large" * 3, b"3"], [b"large" * 5], [b"4"]]
    rows = Rows()
    for number, turn in enumerate(turns):
        for raw in turn:
            rows.add(pipe(), SENT[None], raw)
        rows.at(number)
        rows.pack()
        assert not rows.frames
    assert bytes(rows.room[:3]) == b"124"
    rows.join()
    (batch,) = rows.batches("n", first_sequence=0)
    assert batch["raw"].to_pylist() == [raw for turn in turns for raw in turn]
    assert rows.size == np.sum([len(raw) for turn in turns for raw in turn])


def test_tokens_in_large_frames_are_hidden_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGE", 10)
    connection = pipe()
    connection.protocol = "signalhub"
    rows = Rows()
    for raw in (b"{}", b'{"type":"hub:renew","payload":{"renewalToken":"%b"}}' % (b"s3cret" * 9)):
        rows.add(connection, SENT[None], raw)
        rows.at(1)
        rows.pack()
    rows.join()
    rows.redact()
    (batch,) = rows.batches("n", first_sequence=0)
    assert b"s3cret" not in batch["raw"].to_pylist()[1]
