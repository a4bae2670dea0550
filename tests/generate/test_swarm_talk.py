from collections import Counter

import pytest

from generate.rehearsal import NOON_US, Rehearsal
from wireloom.generate.swarm import SWARMS, PlannedMessage, Role, planned
from wireloom.generate.swarm_talk import SwarmConversations
from wireloom.generate.timeline import END_US, START_US
from wireloom.protocols.uep12.integrity import authenticate
from wireloom.protocols.uep12.messages import Content, MessageList
from wireloom.wire.outcome import Auth, Direction, Fate, Outcome, Reason


@pytest.fixture(scope="module")
def messages() -> list[PlannedMessage]:
    return planned(Rehearsal("uep12").scene, 8)


def talk(messages: list[PlannedMessage]) -> tuple[SwarmConversations, Rehearsal]:
    rehearsal = Rehearsal("uep12")
    return SwarmConversations(rehearsal.scene, messages), rehearsal


def fates(messages: list[PlannedMessage], rehearsal: Rehearsal) -> dict[Role, Counter[Fate]]:
    roles = {one.hash.hex(): one.role for one in messages}
    found: dict[Role, Counter[Fate]] = {role: Counter() for role in Role}
    for row in rehearsal.rows:
        found[roles[row.message_id]][row.state] += 1
    return found


def test_every_role_has_its_fates(messages: list[PlannedMessage]) -> None:
    conversations, rehearsal = talk(messages)
    conversations.opening(START_US)
    assert fates(messages, rehearsal) == {
        Role.ORDINARY: {Fate.DELIVERED: 5},
        Role.SHORT: {Fate.DELIVERED: 3, Fate.LOST: 2},
        Role.LATE: {Fate.DELIVERED: 4, Fate.EXPIRED: 1},
        Role.AHEAD: {Fate.DELIVERED: 3, Fate.REJECTED: 2},
        Role.GREEDY: {Fate.REJECTED: 5},
        Role.PATIENT: {Fate.DELIVERED: 3, Fate.IN_FLIGHT: 2},
        Role.MISORDERED: {Fate.DELIVERED: 5},
        Role.DANGLING: {Fate.DELIVERED: 5},
    }
    reasons = {row.reason for row in rehearsal.rows if row.state is Fate.REJECTED}
    assert reasons == {Reason.FUTURE, Reason.TTL_EXCEEDED}


def test_every_peer_takes_part_from_the_beginning(messages: list[PlannedMessage]) -> None:
    conversations, rehearsal = talk(messages)
    conversations.opening(START_US)
    seen = {(frame.swarm, frame.node) for frame in rehearsal.frames if frame.epoch_ms}
    assert seen == {(swarm.name, peer) for swarm in SWARMS for peer in swarm.peers}


def test_nobody_speaks_of_a_message_before_it_spread_or_after_it_expired(
    messages: list[PlannedMessage],
) -> None:
    conversations, rehearsal = talk(messages)
    for _, say in conversations.kinds():
        say(NOON_US)
    conversations.opening(START_US)
    for number in range(60):
        conversations.converse(START_US + number * (END_US - START_US) // 60)
    first: dict[bytes, int] = {}
    for frame, message in zip(rehearsal.frames, rehearsal.messages(), strict=True):
        if isinstance(message, Content):
            first.setdefault(frame.raw, frame.captured_at)
    begun = {one.hash: first[one.raw] for one in messages}
    for frame, message in zip(rehearsal.frames, rehearsal.messages(), strict=True):
        if isinstance(message, MessageList):
            assert all(begun[hash_] < frame.captured_at for hash_ in message.msg_hashes)
    echoes = [f for f in rehearsal.frames if f.outcome is Outcome.DUPLICATE]
    assert echoes
    assert rehearsal.types() == {"CONTENT", "MESSAGE_LIST", "PULL_BY_HASH", "PULL_BY_TIME"}


def test_a_message_without_work_opens_no_row(messages: list[PlannedMessage]) -> None:
    conversations, rehearsal = talk(messages)
    conversations.forge(NOON_US)
    conversations.forge(END_US)
    (frame,) = rehearsal.frames
    assert frame.direction is Direction.IN
    (message,) = rehearsal.messages()
    assert authenticate(message, frame.raw, ()) is Auth.INVALID
    assert not rehearsal.rows
    assert rehearsal.truth.counts()["forged"] == 1
