"""Attempts to reach peers, by themselves."""

from live.parts import Pipe
from wireloom.performing.dials import Dials
from wireloom.wire.session import Dial

ADA, BOB = Dial("udp", "ada:1"), Dial("udp", "bob:1")


def pipe(dial: Dial | None) -> Pipe:
    made = Pipe(None)
    made.dial = dial
    return made


def test_an_attempt_is_made_once_until_it_ends() -> None:
    dials = Dials()
    assert dials.begin(ADA)
    assert not dials.begin(Dial("udp", "ada:1"))
    assert dials.begin(BOB)
    assert len(dials) == 2
    assert dials.fail(ADA)
    assert not dials.fail(ADA)
    assert dials.begin(ADA)


def test_a_connection_answers_a_dial_that_is_still_wanted() -> None:
    dials, up = Dials(), pipe(ADA)
    assert not dials.reach(ADA, up)
    dials.begin(ADA)
    assert dials.reach(ADA, up)
    assert dials.connection(ADA) is up
    assert not dials.begin(ADA)
    assert len(dials) == 0


def test_a_peer_can_be_dialled_again_once_its_connection_ended() -> None:
    dials, up = Dials(), pipe(ADA)
    dials.begin(ADA)
    dials.reach(ADA, up)
    dials.drop(pipe(None))
    dials.drop(pipe(ADA))
    assert dials.connection(ADA) is up
    dials.drop(up)
    assert dials.connection(ADA) is None
    assert dials.begin(ADA)
