from generate.rehearsal import NOON_US, Rehearsal
from wireloom.capture.frame import Direction
from wireloom.generate.hub import ACTORS, Hub
from wireloom.generate.hub_chatter import Chatter
from wireloom.protocols.signalhub.tokens import verify
from wireloom.wire.outcome import Reason


def chatter() -> tuple[Chatter, Rehearsal]:
    rehearsal = Rehearsal("signalhub")
    return Chatter(Hub(rehearsal.scene)), rehearsal


def test_an_actor_connects_with_a_token_and_registers() -> None:
    talk, rehearsal = chatter()
    done = talk.connect(ACTORS[0], NOON_US)
    connect, connected, register, registered = rehearsal.messages()
    assert connected.correlation_id == connect.id
    assert registered.correlation_id == register.id
    assert rehearsal.frames[-1].captured_at == done
    token = connect.metadata.auth_token
    claims = verify(token, now_ms=NOON_US // 1000, public_keys=[talk._issuer.public])
    assert f"@({claims.actor_id})" == ACTORS[0]


def test_every_answer_names_its_question_and_goes_to_who_asked() -> None:
    talk, rehearsal = chatter()
    for number, (_, say) in enumerate(talk.kinds()):
        say(NOON_US + number * 3_600_000_000 // 20)
    asked = {}
    for frame, message in zip(rehearsal.frames, rehearsal.messages(), strict=True):
        if frame.direction is Direction.IN:
            asked[message.id] = frame.peer
        elif message.correlation_id is not None:
            assert asked[message.correlation_id] == frame.peer
    assert len(rehearsal.types()) == 22
    assert not rehearsal.rows


def test_another_version_is_refused() -> None:
    talk, rehearsal = chatter()
    talk.version_refused(NOON_US)
    assert rehearsal.frames[0].reason is Reason.UNSUPPORTED_VERSION
    assert rehearsal.types() == {"hub:connect", "hub:version_mismatch"}
