from generate.rehearsal import NOON_US, Rehearsal
from wireloom.capture.frame import Direction
from wireloom.generate.hub import ACTORS, PACKED, SKEWED_MS, Hub, deadline_ms
from wireloom.protocols.signalhub.constants import HUB_ADDRESS
from wireloom.protocols.signalhub.envelope import Inner
from wireloom.protocols.signalhub.messages import Heartbeat, Resume, Send
from wireloom.protocols.signalhub.payloads import (
    Empty,
    HeartbeatPayload,
    SendPayload,
)
from wireloom.wire.outcome import Outcome

INNER = Inner(type="ping", payload=1)


def hub() -> tuple[Hub, Rehearsal]:
    rehearsal = Rehearsal("signalhub")
    return Hub(rehearsal.scene), rehearsal


def beat(actor: str) -> tuple[Heartbeat, Rehearsal]:
    made, rehearsal = hub()
    payload = HeartbeatPayload(timestamp=1)
    return made.heard(Heartbeat, actor, NOON_US, pattern="tell", payload=payload), rehearsal


def test_what_an_actor_says_comes_in_and_is_accepted() -> None:
    message, rehearsal = beat(ACTORS[0])
    (frame,) = rehearsal.frames
    assert (frame.direction, frame.peer) == (Direction.IN, ACTORS[0])
    assert frame.outcome is Outcome.ACCEPTED
    assert rehearsal.messages() == [message]


def test_some_actors_speak_messagepack_and_some_clocks_are_off() -> None:
    packed, plain = (beat(actor)[1].frames[0].raw for actor in (min(PACKED), ACTORS[0]))
    assert plain.startswith(b"{")
    assert not packed.startswith(b"{")
    actor, skew_ms = next(iter(SKEWED_MS.items()))
    assert beat(actor)[0].timestamp == NOON_US // 1000 + skew_ms


def test_what_the_hub_says_goes_out() -> None:
    made, rehearsal = hub()
    at = made.said(Resume, ACTORS[0], NOON_US, payload=Empty())
    (frame,) = rehearsal.frames
    assert (frame.captured_at, frame.direction, frame.outcome) == (at, Direction.OUT, None)
    assert rehearsal.messages()[0].from_ == HUB_ADDRESS


def test_what_is_forwarded_names_what_it_was() -> None:
    made, rehearsal = hub()
    payload = SendPayload(target_address=ACTORS[1], message=INNER)
    sent = made.heard(Send, ACTORS[0], NOON_US, pattern="tell", payload=payload)
    made.forwarded(sent, INNER, ACTORS[1], NOON_US)
    assert rehearsal.frames[1].peer == ACTORS[1]
    passed = rehearsal.messages()[1]
    assert (passed.type, passed.payload, passed.from_) == ("ping", 1, ACTORS[0])
    assert passed.metadata == {
        "forwarded": True,
        "originalMessageId": sent.id,
        "via": HUB_ADDRESS,
    }


def test_a_message_without_a_lifetime_is_waited_for_half_a_minute() -> None:
    made, _ = hub()
    payload = SendPayload(target_address=ACTORS[1], message=INNER)
    bare = made.heard(Send, ACTORS[0], NOON_US, pattern="tell", payload=payload)
    timed = made.heard(Send, ACTORS[0], NOON_US, pattern="tell", payload=payload, ttl=7)
    assert deadline_ms(bare) == NOON_US // 1000 + 30_000
    assert deadline_ms(timed) == NOON_US // 1000 + 7
