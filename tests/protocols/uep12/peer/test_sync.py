"""Joining: a swarm's whole flow, window by window; and what a ticket proves."""

from msgspec.structs import replace

from protocols.uep12.transcript import EPOCH_MS, SETTINGS, START_MS, TEA, Stage
from wireloom.protocols.uep12.codec import decode, encode
from wireloom.protocols.uep12.constants import MAX_AHEAD_MS
from wireloom.protocols.uep12.integrity import msg_hash
from wireloom.protocols.uep12.messages import MessageList, PullByHash, PullByTime
from wireloom.protocols.uep12.peer.requests import Met, Synced
from wireloom.protocols.uep12.peer.session import PeerSession
from wireloom.protocols.uep12.peer.sync import tickets
from wireloom.wire.ids import Ids
from wireloom.wire.session import (
    Admit,
    Closed,
    Dial,
    DialFailed,
    Opened,
    Send,
    TimerFired,
    Turn,
    WakeAt,
)

HELLO = PullByHash(msg_hashes=(b"nonesuch",) * 2)


def test_the_first_pull_is_over_all_that_may_be_alive() -> None:
    stage = Stage()
    ada = stage.stranger("ada").says(HELLO)
    pull = ada.is_asked()
    assert pull.start_time == START_MS - TEA.max_ttl * EPOCH_MS
    assert pull.end_time == START_MS + MAX_AHEAD_MS


def test_a_flow_is_pulled_window_by_window_until_all_of_it_is_there() -> None:
    stage = Stage()
    flow = [stage.content(f"{n}", at=n * 10 - 100_000) for n in range(5)]
    ada = stage.stranger("ada").says(HELLO)
    first = ada.is_asked()
    ada.lists(first, *flow[:2], end_time=START_MS - 100_000 + 10)
    assert ada.is_pulled() == (msg_hash(flow[0]), msg_hash(flow[1]))
    second = ada.is_asked()
    assert second.start_time == START_MS - 100_000 + 11
    assert second.end_time == first.end_time
    assert second.ticket != first.ticket
    stage.counts(synced=0, missing=2)
    ada.lists(second, *flow[2:])
    for raw in flow:
        ada.says(raw)
    stage.counts(synced=1, missing=0, total=5)
    assert sum(isinstance(item, Synced) for item in stage.delivered) == 1


def test_the_next_window_waits_while_much_of_the_last_one_is_to_come() -> None:
    stage = Stage()
    flow = [stage.content(f"{n}", at=n - 100_000) for n in range(100)]
    ada = stage.stranger("ada").says(HELLO)
    ada.lists(ada.is_asked(), *flow, end_time=START_MS - 100_000 + 99)
    ada.is_pulled()
    ada.gets()
    for raw in flow[:35]:
        ada.says(raw)
    ada.gets()
    ada.says(flow[35])
    assert ada.is_asked().start_time == START_MS - 100_000 + 100


def test_a_list_without_an_open_ticket_is_ignored() -> None:
    stage = Stage()
    ada = stage.stranger("ada").says(HELLO)
    pull = ada.is_asked()
    stage.conclusions.clear()
    listed = stage.content("listed")
    ada.lists(pull, listed, ticket=b"gues")
    stage.concludes("rejected", "unauthenticated")
    stage.counts(missing=0, proven_peers=0)
    ada.lists(pull)
    stage.concludes("accepted")
    stage.counts(proven_peers=1)
    ada.lists(pull, listed)
    stage.concludes("duplicate")
    stage.counts(missing=0)


def test_an_answer_that_comes_late_or_again_and_again_is_no_rubbish() -> None:
    stage = Stage()
    ada = stage.meets("ada")
    stage.passes(SETTINGS.refresh_ms)
    pull = ada.is_asked()
    stage.passes(SETTINGS.ticket_ms)
    for _ in range(2 * SETTINGS.rubbish_count):
        ada.lists(pull, stage.content("late"))
        stage.concludes("duplicate")
    stage.counts(shunned=0, missing=0)


def test_a_proof_is_told_once_and_ends_what_holds_for_strangers() -> None:
    stage = Stage()
    ada = stage.stranger("ada", "192.0.2.7:1").says(HELLO)
    ada.lists(ada.is_asked())
    assert stage.delivers(Met) == Met("tea", "192.0.2.7:1")
    assert Admit(ada.line) in stage.commands
    stage.passes(SETTINGS.refresh_ms)
    ada.lists(ada.is_asked())
    assert Admit(ada.line) not in stage.commands
    assert not [item for item in stage.delivered if isinstance(item, Met)]


def test_the_ticket_of_another_peer_proves_nothing() -> None:
    stage = Stage()
    ada = stage.stranger("ada").says(HELLO)
    mallory = stage.stranger("mallory").says(HELLO)
    mallory.is_asked()
    mallory.lists(ada.is_asked())
    stage.counts(proven_peers=0)


def test_tickets_are_not_to_be_guessed() -> None:
    ticket, twin = tickets(b"secret", Ids("life 1")), tickets(b"secret", Ids("life 2"))
    other = tickets(b"public", Ids("life 1"))
    made = {ticket() for _ in range(100)} | {twin() for _ in range(100)}
    assert len(made) == 200
    assert other() not in made


def test_a_window_is_asked_for_again_and_the_sweep_given_up_after_three_times() -> None:
    stage = Stage()
    ada = stage.meets("ada")
    stage.passes(SETTINGS.refresh_ms)
    windows = []
    for _ in range(5):
        windows += [ada.is_asked() for _ in tuple(ada.inbox)]
        stage.passes(SETTINGS.ticket_ms)
    assert len(windows) == 3
    assert len({(one.start_time, one.end_time) for one in windows}) == 1
    assert len({one.ticket for one in windows}) == 3
    stage.passes(SETTINGS.refresh_ms)
    ada.is_asked()


def test_a_peer_that_does_not_answer_for_long_is_a_stranger_until_it_proves_itself_again() -> None:
    stage = Stage()
    ada, bob = stage.meets("ada"), stage.meets("bob")
    for _ in range(20):
        stage.passes(SETTINGS.ticket_ms)
        for raw in tuple(bob.inbox):
            bob.lists(bob.is_asked()) if raw[1] == 0x21 else bob.inbox.popleft()
    stage.counts(peers=2, proven_peers=1)
    ada.inbox.clear()
    bob.says(stage.content("news"))
    ada.gets()
    ada.says(HELLO)
    ada.lists(ada.is_asked())
    stage.counts(proven_peers=2)


def test_who_guesses_tickets_is_not_heard_for_a_while() -> None:
    stage = Stage()
    mallory = stage.stranger("mallory").says(HELLO)
    pull = mallory.is_asked()
    for number in range(SETTINGS.rubbish_count + 1):
        mallory.lists(pull, ticket=number.to_bytes(4))
    stage.counts(shunned=1)
    mallory.lists(pull)
    stage.counts(proven_peers=0)


def test_later_sweeps_are_over_the_last_moments_and_now_and_then_over_all() -> None:
    stage = Stage(replace(SETTINGS, sweep_ms=60_000))
    ada = stage.meets("ada")
    spans = []
    for _ in range(5):
        stage.passes(SETTINGS.refresh_ms)
        pull = ada.is_asked()
        spans.append(stage.now_ms - pull.start_time)
        ada.lists(pull)
    whole = TEA.max_ttl * EPOCH_MS
    assert [span == whole for span in spans] == [False, False, False, True, False]
    assert spans[0] == MAX_AHEAD_MS + 4 * SETTINGS.refresh_ms


def test_a_peer_that_lists_nothing_and_claims_to_have_more_is_not_followed() -> None:
    stage = Stage()
    ada = stage.stranger("ada").says(HELLO)
    pull = ada.is_asked()
    ada.lists(pull, end_time=pull.start_time)
    ada.gets()
    stage.counts(synced=0, proven_peers=1)


def test_peers_that_are_named_are_dialled_asked_and_dialled_again() -> None:
    dial = Dial("sim", "192.0.2.9:5412")
    tea = replace(TEA, peers=(dial.address,))
    session = PeerSession(replace(SETTINGS, memberships=(tea,)), Ids("boot"))
    turn = Turn(session.ids, START_MS)
    session.restore((), turn)
    assert dial in turn.commands
    again = WakeAt(("dial", "sim", dial.address), START_MS + SETTINGS.refresh_ms)
    for failure in (DialFailed(dial, "refused"), Closed(1, 1001)):
        turn.begin(START_MS)
        session.handle(failure, turn)
        assert again in turn.commands
        turn.begin(START_MS)
        session.handle(TimerFired(again.timer), turn)
        assert turn.commands == [dial]
        turn.begin(START_MS)
        session.handle(Opened(1, dial.address, dial=dial, link="sim"), turn)
        (asked,) = [one for one in turn.commands if isinstance(one, Send)]
        assert isinstance(decode(asked.raw), PullByTime)


def test_a_question_of_a_stranger_is_answered_once_it_has_proven_itself() -> None:
    stage = Stage()
    news = stage.content("news")
    stage.meets("bob").says(news)
    ada = stage.stranger("ada")
    question = PullByTime(ticket=b"tick", start_time=START_MS - 1_000, end_time=START_MS)
    ada.says(question)
    pull = ada.is_asked()
    ada.gets()
    ada.lists(pull)
    told = MessageList(
        ticket=b"tick",
        start_time=question.start_time,
        end_time=question.end_time,
        msg_hashes=(msg_hash(news),),
    )
    ada.gets(news, told)


def test_a_stranger_never_gets_more_bytes_than_it_sent() -> None:
    stage = Stage()
    bob = stage.meets("bob")
    contents = [stage.content(f"{n}" * 100, at=n) for n in range(9)]
    for raw in contents:
        bob.says(raw)
    mallory = stage.stranger("mallory")
    sent = got = 0
    asks = [
        PullByTime(ticket=b"tick", start_time=0, end_time=START_MS * 2),
        PullByHash(msg_hashes=tuple(map(msg_hash, contents))),
        PullByHash(msg_hashes=()),
        PullByHash(msg_hashes=(msg_hash(contents[0]),) * 40),
    ]
    for number in range(60):
        ask = asks[number % len(asks)]
        mallory.says(ask)
        sent += len(encode(ask))
        got += sum(map(len, mallory.inbox))
        mallory.inbox.clear()
        stage.passes(700)
        got += sum(map(len, mallory.inbox))
        mallory.inbox.clear()
        assert got <= sent
    stage.counts(proven_peers=1)
