from generate.rehearsal import NOON_US, Rehearsal
from wireloom.generate.dtn import Carriers
from wireloom.generate.dtn_forgery import Forger, Victim
from wireloom.generate.timeline import END_US
from wireloom.protocols.dtn.integrity import authenticate, authenticate_control
from wireloom.wire.outcome import Auth


def forger() -> tuple[Forger, Victim, Rehearsal]:
    rehearsal = Rehearsal("dtn")
    carriers = Carriers(rehearsal.scene)
    victim = Victim(b"\x07" * 32, *carriers.nodes[:2])
    return Forger(carriers), victim, rehearsal


def test_no_forged_bundle_proves_anything() -> None:
    made, victim, rehearsal = forger()
    made.victims.append(victim)
    for step in range(4):
        made.forge(NOON_US + step * 2_000_000)
    receipt, foreign, broken, data = rehearsal.messages()
    signed = [authenticate(one, b"", ()) for one in (receipt, foreign, broken, data)]
    assert signed == [Auth.VALID, Auth.VALID, Auth.INVALID, Auth.INVALID]
    assert receipt.payload.from_uid == victim.destination.uid
    assert authenticate_control(receipt.payload, [receipt.header.src_pub]) is Auth.UNKNOWN_KEY
    entitled = (victim.origin.key.public, victim.destination.key.public)
    assert foreign.header.src_pub not in entitled
    assert foreign.payload.issued_by_uid not in (victim.origin.uid, victim.destination.uid)
    assert broken.payload.issued_by_uid == victim.origin.uid
    assert not rehearsal.rows
    assert rehearsal.truth.counts()["forged"] == 4


def test_without_a_victim_and_after_the_end_nothing_is_forged() -> None:
    made, victim, rehearsal = forger()
    made.forge(NOON_US)
    made.victims.append(victim)
    made.forge(END_US + 1)
    assert not rehearsal.frames
    assert rehearsal.truth.counts()["forged"] == 0
