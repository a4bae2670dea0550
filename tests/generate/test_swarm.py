import pytest

from generate.rehearsal import Rehearsal
from wireloom.generate.swarm import SWARMS, PlannedMessage, Role, planned
from wireloom.protocols.uep12.integrity import authenticate, msg_hash
from wireloom.wire.outcome import Auth


@pytest.fixture(scope="module")
def messages() -> list[PlannedMessage]:
    told: list[int] = []
    made = planned(Rehearsal("uep12").scene, 12, told.append)
    assert told == [2, 4, 6, 8, 12]
    return made


def test_every_message_has_its_proof_and_every_role_its_turn(
    messages: list[PlannedMessage],
) -> None:
    for one in messages:
        assert authenticate(one.content, one.raw, ()) is Auth.VALID
        assert one.hash == msg_hash(one.raw)
    assert [one.role for one in messages[:8]] == list(Role)
    assert {one.swarm for one in messages} == set(SWARMS)
    assert [one.at for one in messages] == sorted(one.at for one in messages)


def test_messages_refer_to_earlier_ones_of_their_swarm(messages: list[PlannedMessage]) -> None:
    known = {one.hash: one for one in messages}
    referred = [
        (one, known[reference.msg_hash])
        for one in messages
        for reference in one.content.references
        if reference.msg_hash in known
    ]
    assert Role.MISORDERED in {one.role for one, _ in referred}
    for one, other in referred:
        assert one.swarm is other.swarm
        younger = other.content.timestamp >= one.content.timestamp
        assert younger == (one.role is Role.MISORDERED)


def test_some_references_lead_nowhere(messages: list[PlannedMessage]) -> None:
    known = {one.hash for one in messages}
    for one in messages:
        missing = [r for r in one.content.references if r.msg_hash not in known]
        assert bool(missing) == (one.role is Role.DANGLING)
