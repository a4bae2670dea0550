"""What peers are told who ask."""

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from protocols.uep12.transcript import SETTINGS, START_MS, Stage
from wireloom.protocols.uep12.codec import decode, encode
from wireloom.protocols.uep12.integrity import msg_hash
from wireloom.protocols.uep12.messages import MessageList, PullByHash, PullByTime
from wireloom.protocols.uep12.peer.answers import Answers
from wireloom.protocols.uep12.peer.flow import Flow, Stored
from wireloom.protocols.uep12.peer.peers import Peer, Step
from wireloom.wire.ids import Ids
from wireloom.wire.session import Opened, Send, Store, Turn

ALL = PullByTime(ticket=b"tick", start_time=0, end_time=START_MS + 60_000)


def test_a_pull_by_hash_gets_what_is_there_once_each() -> None:
    stage = Stage()
    ada, bob = stage.meets("ada"), stage.meets("bob")
    first, second = stage.content("1"), stage.content("2")
    bob.says(first).says(second)
    ada.inbox.clear()
    hashes = (msg_hash(second), b"nonesuch", msg_hash(first), msg_hash(second))
    ada.says(PullByHash(msg_hashes=hashes))
    ada.gets(second, first)


def test_a_few_messages_are_sent_and_listed_and_many_are_listed() -> None:
    stage = Stage()
    ada, bob = stage.meets("ada"), stage.meets("bob")
    contents = [stage.content(f"{n}", at=n) for n in range(5)]
    for raw in reversed(contents[:4]):
        bob.says(raw)
    ada.inbox.clear()
    ada.says(ALL)
    assert [ada.inbox.popleft() for _ in range(4)] == contents[:4]
    told = ada.is_told()
    assert told.msg_hashes == tuple(map(msg_hash, contents[:4]))
    assert (told.ticket, told.start_time, told.end_time) == (b"tick", 0, ALL.end_time)
    bob.says(contents[4])
    ada.inbox.clear()
    ada.says(ALL)
    assert ada.is_told().msg_hashes == tuple(map(msg_hash, contents))
    ada.gets()


def test_the_bounds_of_a_range_are_included() -> None:
    stage = Stage()
    ada, bob = stage.meets("ada"), stage.meets("bob")
    contents = [stage.content(f"{n}", at=n) for n in range(4)]
    for raw in contents:
        bob.says(raw)
    ada.inbox.clear()
    ada.says(PullByTime(ticket=b"tick", start_time=START_MS + 1, end_time=START_MS + 2))
    assert [ada.inbox.popleft() for _ in range(2)] == contents[1:3]
    ada.is_told()


def test_a_range_that_ends_before_it_begins_holds_nothing() -> None:
    stage = Stage()
    ada = stage.meets("ada")
    ada.says(stage.content("news"))
    stage.concludes("accepted")
    later, earlier = START_MS + 1, START_MS - 1
    ada.says(PullByTime(ticket=b"tick", start_time=later, end_time=earlier))
    stage.concludes("accepted")
    ada.gets(MessageList(ticket=b"tick", start_time=later, end_time=earlier, msg_hashes=()))


def test_what_one_peer_may_ask_for_in_a_second_has_a_bound() -> None:
    stage = Stage(replace(SETTINGS, answer_size=12_000))
    ada, bob, cid = stage.meets("ada"), stage.meets("bob"), stage.meets("cid")
    large = [stage.content(chr(65 + n) * 5_000) for n in range(4)]
    for raw in large:
        bob.says(raw)
    ada.inbox.clear()
    cid.inbox.clear()
    stage.conclusions.clear()
    pull = PullByHash(msg_hashes=tuple(map(msg_hash, large)))
    ada.says(pull)
    assert sum(map(len, ada.inbox)) < 12_000
    ada.says(pull)
    stage.concludes("accepted")
    stage.concludes("rejected", "rate_limited")
    cid.says(pull)
    assert len(cid.inbox) == 8
    stage.passes(1_000)
    ada.inbox.clear()
    ada.says(pull)
    assert len(ada.inbox) == 8


@settings(max_examples=60, deadline=None)
@given(times=st.lists(st.integers(0, 300), max_size=600), state=st.booleans())
def test_windows_follow_each_other_until_all_is_listed_in_order(
    times: list[int], state: bool
) -> None:
    flow = Flow(SETTINGS)
    for number, at in enumerate(times):
        one = Stored(
            b"", timestamp=at, expires_ms=10_000, is_pushed_only=False, owner="", referrers=0
        )
        flow.add(b"%08d" % number, one, ())
    answers = Answers(SETTINGS, flow, lambda _: None)
    peer = Peer(Opened(1, "192.0.2.1:1"), SETTINGS)
    peer.advance(Step.PROVE)
    told: list[bytes] = []
    start = 0
    while start <= 400:
        turn = Turn(Ids("x"), 1_000)
        pull = PullByTime(ticket=b"tick", start_time=start, end_time=400)
        answers.pull_by_time(turn, peer, pull)
        *_, last = [command for command in turn.commands if isinstance(command, Send)]
        listed = decode(last.raw) if last.raw[0] == 0x79 else None
        if listed is None:
            return  # more than 173 of one time: the list is in fragments
        assert isinstance(listed, MessageList)
        assert len(encode(listed)) <= 1_408
        assert listed.end_time >= start
        told += listed.msg_hashes
        start = listed.end_time + 1
    expected = sorted(range(len(times)), key=lambda number: (times[number], number))
    assert told == [b"%08d" % number for number in expected]


def test_an_answer_waits_for_the_disk_as_long_as_the_message_may_be_on_its_way() -> None:
    stage = Stage()
    ada = stage.meets("ada")
    raw = stage.content("new")
    stage.meets("bob").says(raw)
    ada.says(PullByHash(msg_hashes=(msg_hash(raw),)))
    kinds = [type(one) for one in stage.commands]
    assert kinds.index(Store) < kinds.index(Send)


def test_a_question_that_waited_for_a_proof_is_answered_from_the_disk_too() -> None:
    stage = Stage()
    ada = stage.stranger("ada")
    ada.says(PullByTime(ticket=b"mine", start_time=0, end_time=stage.now_ms + 1_000))
    pull = ada.is_asked()
    stage.meets("bob").says(stage.content("new"))
    ada.lists(pull)
    kinds = [type(one) for one in stage.commands]
    assert kinds.index(Store) < kinds.index(Send)
