"""What broke, as it is told."""

from wireloom.sim.invariants import Broken
from wireloom.sim.told import replay, transcript

BEAT = (
    b'{"type":"hub:heartbeat","id":"11111111-1111-4111-8111-111111111111","from":"@(ada)",'
    b'"to":"@(cloudflare/signal-hub)","pattern":"tell","timestamp":1,"payload":{"timestamp":1},'
    b'"metadata":{}}'
)


def test_what_broke_is_told_with_the_last_frames() -> None:
    flights = [
        (2_000_000, "ada", "hub", BEAT),
        (3_000_000, "hub", "ada", b"\xff"),
        (4, "x", "y", b"z"),
    ]
    broken = Broken("once", "it came again", 5_000_000, ("ada",), flights)
    lines = list(transcript(broken, 0, {"ada": "signalhub", "hub": "signalhub"}))
    assert lines == [
        "0.005 s: once: Nothing is delivered twice, unless its server died in between.",
        "  it came again",
        "       0.002  ada > hub  "
        f"hub:heartbeat 11111111-1111-4111-8111-111111111111, {len(BEAT)} B",
        "       0.003  hub > ada  malformed: ff",
        "       0.000  x > y  1 B: 7a",
    ]


def test_the_command_that_plays_it_again() -> None:
    assert replay("a.toml", 7, ("links.loss=0.3", "seconds=5")) == (
        "wireloom simulate a.toml --seed 7 --set links.loss=0.3 --set seconds=5"
    )


def test_the_command_can_be_typed_whatever_was_set() -> None:
    assert replay("a b.toml", 7, ("kinds={send = 1}",)) == (
        "wireloom simulate 'a b.toml' --seed 7 --set 'kinds={send = 1}'"
    )
