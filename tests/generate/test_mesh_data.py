from collections.abc import Callable

import pytest

from generate.rehearsal import NOON_US, Rehearsal
from wireloom.generate.mesh_data import REASONS, MeshConversations
from wireloom.generate.timeline import END_US
from wireloom.protocols.myriadmesh.constants import ErrorCode
from wireloom.protocols.myriadmesh.integrity import authenticate
from wireloom.wire.outcome import Auth, Fate, Outcome, Reason


def talk() -> tuple[MeshConversations, Rehearsal]:
    rehearsal = Rehearsal("myriadmesh")
    return MeshConversations(rehearsal.scene, sightings=5), rehearsal


FATES: list[tuple[Callable[[MeshConversations], Callable[[int], None]], Fate]] = [
    (lambda t: t.delivered, Fate.DELIVERED),
    (lambda t: t.delivered_sealed, Fate.DELIVERED),
    (lambda t: t.delivered_directly, Fate.DELIVERED),
    (lambda t: t.refused_and_delivered, Fate.DELIVERED),
    (lambda t: t.queued_and_delivered, Fate.DELIVERED),
    (lambda t: t.broadcast, Fate.DELIVERED),
    (lambda t: t.batch, Fate.DELIVERED),
    (lambda t: t.to_listener, Fate.DELIVERED),
    (lambda t: t.refused, Fate.REJECTED),
    (lambda t: t.failed, Fate.REJECTED),
    (lambda t: t.queued, Fate.IN_FLIGHT),
    (lambda t: t.lost, Fate.LOST),
    (lambda t: t.dropped, Fate.LOST),
    (lambda t: t.broadcast_unheard, Fate.LOST),
    (lambda t: t.batch_lost, Fate.LOST),
    (lambda t: t.to_stranger, Fate.LOST),
]


@pytest.mark.parametrize(("kind", "state"), FATES)
def test_each_kind_of_conversation_has_its_fate(
    kind: Callable[[MeshConversations], Callable[[int], None]], state: Fate
) -> None:
    conversations, rehearsal = talk()
    kind(conversations)(NOON_US)
    assert {row.state for row in rehearsal.rows} == {state}


def test_the_eight_errors_take_turns_and_each_has_its_reason() -> None:
    conversations, rehearsal = talk()
    for _ in ErrorCode:
        conversations.refused(NOON_US)
    assert [row.reason for row in rehearsal.rows] == [REASONS[code] for code in ErrorCode]


def test_a_message_of_the_last_seconds_is_in_flight() -> None:
    conversations, rehearsal = talk()
    while not rehearsal.rows or conversations.mesh.nodes[7].id.hex() in str(rehearsal.rows):
        conversations.lost(END_US - 12_000_000)
    assert Fate.IN_FLIGHT in {row.state for row in rehearsal.rows}


def test_forged_frames_prove_nothing_and_open_no_row() -> None:
    conversations, rehearsal = talk()
    conversations.lost(NOON_US)
    seen = len(rehearsal.frames)
    rows = len(rehearsal.rows)
    for _ in range(6):
        conversations.forge(NOON_US + 60_000_000)
    keys = [node.key.public for node in conversations.mesh.nodes]
    for frame, message in list(zip(rehearsal.frames, rehearsal.messages(), strict=True))[seen:]:
        assert authenticate(message, frame.raw, keys) in (Auth.INVALID, Auth.UNSIGNED)
        assert frame.reason in (None, Reason.BAD_SIGNATURE, Reason.UNAUTHENTICATED)
    assert len(rehearsal.rows) == rows
    assert rehearsal.rows[0].state is Fate.LOST
    assert rehearsal.truth.counts()["forged"] == 6


def test_a_forgery_after_the_end_is_not_counted() -> None:
    conversations, rehearsal = talk()
    conversations.forge(END_US + 1)
    assert rehearsal.truth.counts()["forged"] == 0


def test_the_closing_frame_is_at_the_horizon() -> None:
    conversations, rehearsal = talk()
    conversations.closing()
    assert [frame.captured_at for frame in rehearsal.frames] == [END_US]
    assert rehearsal.frames[0].outcome is Outcome.ACCEPTED
