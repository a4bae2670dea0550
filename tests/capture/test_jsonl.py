"""Captured frames as JSON lines."""

import json
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capture.made import BARE, FULL, START, frame
from wireloom.capture import jsonl
from wireloom.capture.frame import CapturedFrame, rows, to_batch
from wireloom.capture.jsonl import instant, put_line, take_line, take_lines
from wireloom.capture.refusal import Refusal
from wireloom.wire.outcome import Direction, Outcome, Reason

LINE: dict[str, Any] = {
    "captured_at": "2023-11-14T22:13:20Z",
    "node": "mesh-01",
    "protocol": "myriadmesh",
    "link": "udp",
    "direction": "in",
    "peer": "mesh-02",
    "raw": "4d594d5330",
}


def line(**changed: Any) -> bytes:
    return json.dumps({**LINE, **changed}).encode()


def without(name: str) -> bytes:
    return json.dumps({key: value for key, value in LINE.items() if key != name}).encode()


def row(captured: CapturedFrame) -> dict[str, Any]:
    return next(rows(to_batch([captured], first_sequence=3)))


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
FRAMES = st.builds(
    CapturedFrame,
    captured_at=st.integers(-62_135_596_800_000_000, 253_402_300_799_999_999),
    node=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=16),
    protocol=st.sampled_from(["cthun", "dtn", "myriadmesh", "signalhub", "uep12"]),
    link=TEXT.filter(bool),
    direction=st.sampled_from(Direction),
    raw=st.binary(max_size=40),
    peer=st.none() | TEXT,
    outcome=st.none() | st.sampled_from(Outcome),
    reason=st.none() | st.sampled_from(Reason),
    swarm=st.none() | TEXT,
    epoch_ms=st.none() | st.integers(1, 2**63 - 1),
)


@given(FRAMES)
def test_what_is_written_is_read_again(captured: CapturedFrame) -> None:
    assert take_line(put_line(row(captured))) == captured


def test_a_line_in_full() -> None:
    assert take_line(line()) == frame(0)
    assert json.loads(put_line(row(FULL), sequence=3)) == {
        "sequence": 3,
        "captured_at": "2023-11-14T22:13:20.000007Z",
        "node": "swarm-a-04",
        "protocol": "uep12",
        "link": "udp",
        "direction": "out",
        "peer": "mesh-02",
        "outcome": "rejected",
        "reason": "bad_pow",
        "swarm": "a",
        "epoch_ms": 60000,
        "raw": "4d594d5337",
    }


def test_what_is_optional_and_not_known_is_left_out() -> None:
    shown = json.loads(put_line(row(BARE)))
    assert list(shown) == ["captured_at", "node", "protocol", "link", "direction", "peer", "raw"]


@pytest.mark.parametrize(
    "at",
    [START, "2023-11-14T22:13:20Z", "2023-11-14T23:13:20.000+01:00", "20231114T221320Z"],
)
def test_an_instant_is_iso_8601_with_a_zone_or_microseconds(at: str | int) -> None:
    assert take_line(line(captured_at=at)).captured_at == START


def test_further_members_are_passed_over() -> None:
    assert take_line(line(sequence=5, segment="a-0", note=[1])) == frame(0)


def test_a_frame_may_lie_beside_its_line() -> None:
    assert take_line(line(raw=""), raw=b"beside").raw == b"beside"


@pytest.mark.parametrize(
    ("raw", "protocol"),
    [("4d594d53", "myriadmesh"), ("79", "uep12"), ("7b", "signalhub"), ("", None)],
)
def test_the_bytes_decide_where_no_protocol_is_said(raw: str, protocol: str | None) -> None:
    assert take_line(line(protocol=None, raw=raw)).protocol == protocol


@pytest.mark.parametrize(
    "bad",
    [
        b"{",
        b"[]",
        b"\xff",
        b"null",
        *[without(name) for name in LINE],
        line(captured_at="2023-11-14T22:13:20"),
        line(captured_at="yesterday"),
        line(captured_at=1.5),
        line(captured_at=True),
        line(captured_at=10**18),
        line(captured_at=10**30),
        line(captured_at="0001-01-01T00:00:00+10:00"),
        line(node=""),
        line(node="x" * 300),
        line(node=None),
        line(protocol="smtp"),
        line(direction="sideways"),
        line(link=""),
        line(peer=5),
        line(raw="123"),
        line(raw="zz"),
        line(outcome="vanished"),
        line(reason="because"),
        line(epoch_ms=0),
        line(epoch_ms=2**63),
        line(node="\ud800"),
        b'{"deep":' + b"[" * 100_000,
    ],
)
def test_a_line_that_is_not_this_is_refused_with_its_number_and_the_rest_goes_on(
    bad: bytes,
) -> None:
    first, refused, last = take_lines(BytesIO(line() + b"\n" + bad + b"\n" + line()))
    assert first == last == frame(0)
    assert isinstance(refused, Refusal)
    assert (refused.place, refused.reason) == ("line 2", "not a captured frame")
    assert refused.detail
    assert not refused.is_foreign


def test_blank_lines_are_passed_over_and_counted() -> None:
    taken = list(take_lines(BytesIO(b"\n  \r\n" + line() + b"\r\nx")))
    assert taken[0] == frame(0)
    assert isinstance(taken[1], Refusal)
    assert taken[1].place == "line 4"


def test_a_line_that_does_not_end_is_refused_in_bounded_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(jsonl, "MAX_LINE_SIZE", 1000)
    endless = b"x" * 4500
    taken = list(take_lines(BytesIO(endless + b"\n" + line() + b"\n" + endless)))
    assert [isinstance(one, Refusal) for one in taken] == [True, False, True]
    assert [one.place for one in taken if isinstance(one, Refusal)] == ["line 1", "line 3"]


def test_instants_that_no_calendar_has_are_shown_as_numbers() -> None:
    assert instant(0) == "1970-01-01T00:00:00.000000Z"
    assert instant(-(10**18)) == -(10**18)


def test_a_line_shows_what_a_terminal_would_obey() -> None:
    text = put_line(row(frame(peer="\x1b[2J\u202e\x9b"))).decode()
    assert text.removesuffix("\n").isprintable()
    assert json.loads(text)["peer"] == "\x1b[2J\u202e\x9b"
