"""Messages of the application: whom they refer to, their work, and what cannot be posted."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from protocols.uep12.transcript import EPOCH_MS, SETTINGS, START_MS, Stage
from wireloom.protocols.uep12.codec import decode
from wireloom.protocols.uep12.integrity import is_proof, msg_hash, work
from wireloom.protocols.uep12.messages import Content
from wireloom.protocols.uep12.peer.compose import Search, parents
from wireloom.protocols.uep12.peer.flow import Flow, Stored
from wireloom.protocols.uep12.peer.requests import Post, Posted, Received, Refused, Withdraw
from wireloom.protocols.uep12.peer.session import PeerSession
from wireloom.wire.ids import Ids
from wireloom.wire.session import Cancel, Compose, Compute, Computed, Deliver, Requested, Turn


def posted(stage: Stage, text: str, ttl: int = 10) -> Content:
    """A message that the application posts, as it is told to a peer."""
    stage.delivered.clear()
    stage.posts(text, ttl=ttl)
    message = stage.delivers(Received).content
    assert isinstance(message, Content)
    stage.delivers(Posted)
    return message


def test_a_post_is_stored_told_to_all_and_shown_to_have_been_composed_here() -> None:
    stage = Stage()
    ada, bob = stage.meets("ada"), stage.meets("bob")
    stage.posts("hello", ttl=7)
    kinds = [type(command).__name__ for command in stage.commands]
    assert kinds == ["Compose", "Store", "Deliver", "Send", "Send", "Deliver"]
    raw = ada.inbox[0]
    assert isinstance(stage.commands[0], Compose)
    assert stage.commands[0].raw == raw
    assert stage.commands[0].swarm == ("tea", EPOCH_MS)
    message = decode(raw)
    assert isinstance(message, Content)
    assert (message.payload, message.ttl_epoch, message.reserved) == (b"hello", 7, 0)
    assert (message.timestamp, message.references) == (START_MS, ())
    assert is_proof(work(raw))
    bob.gets(raw)
    stage.delivers(Received)
    assert stage.delivers(Posted) == Posted("post", msg_hash(raw))


@pytest.mark.parametrize(
    ("heads", "count"), [(0, 0), (1, 1), (2, 2), (4, 2), (5, 3), (8, 3), (9, 4), (20, 4)]
)
def test_how_many_parents_a_message_has(heads: int, count: int) -> None:
    stage = Stage()
    ada = stage.meets("ada")
    for number in range(heads):
        ada.says(stage.content(f"{number}", at=number - 1_000))
    assert len(posted(stage, "x").references) == count


def test_parents_are_those_that_are_least_referred_and_then_recent() -> None:
    stage = Stage()
    ada = stage.meets("ada")
    old, mid, new = (stage.content(f"{at}", at=at) for at in (-300, -200, -100))
    child = stage.content("child", msg_hash(new), at=-50)
    for raw in (old, mid, new, child):
        ada.says(raw)
    references = posted(stage, "x").references
    assert [one.msg_hash for one in references] == [msg_hash(child), msg_hash(mid)]


def test_parents_are_older_and_gone_when_the_message_is_and_never_pushed_only() -> None:
    stage = Stage()
    ada = stage.meets("ada")
    for raw in (
        stage.content("young", at=0, ttl=1),
        stage.content("lasting", at=-1_000, ttl=50),
        stage.content("pushed", at=-1_000, ttl=0),
    ):
        ada.says(raw)
    assert posted(stage, "x", ttl=10).references == ()
    fit = stage.content("fit", at=-1_000, ttl=10)
    ada.says(fit)
    assert [one.msg_hash for one in posted(stage, "y", ttl=10).references] == [msg_hash(fit)]


def test_epoch_diff_tells_when_a_parent_expires() -> None:
    stage = Stage()
    stage.meets("ada").says(stage.content("parent", at=-EPOCH_MS, ttl=3))
    (reference,) = posted(stage, "x", ttl=10).references
    assert reference.epoch_diff == 8


def test_a_large_post_leaves_in_fragments_and_one_that_is_too_large_is_refused() -> None:
    stage = Stage()
    ada = stage.meets("ada")
    stage.posts("x" * 3_000)
    assert len(ada.inbox) == 3
    stage.delivered.clear()
    stage.posts("x" * 12_000)
    assert "11264" in stage.delivers(Refused).why


def test_what_cannot_be_posted() -> None:
    stage = Stage()
    stage.posts("x", ttl=101)
    assert stage.delivers(Refused) == Refused("post", "the swarm allows 0 to 100 epochs")
    stage.happens(Requested(Post(id="a", payload=b"", ttl_epoch=1, swarm="coffee")))
    assert stage.delivers(Refused) == Refused("a", "there is no such swarm")


def test_a_post_for_which_there_is_no_room_is_refused() -> None:
    stage = Stage(replace(SETTINGS, stored_count=1))
    stage.posts("first")
    stage.delivered.clear()
    stage.posts("second")
    assert stage.delivers(Refused).why == "there is no room for it"


def test_a_post_whose_work_took_longer_than_its_life_is_refused() -> None:
    session, (search,) = session_after(post("a"))
    assert isinstance(search, Compute)
    turn = Turn(session.ids, START_MS + EPOCH_MS)
    session.handle(Computed(search.task, 7), turn)
    why = "its time was over before its work was found"
    assert turn.commands == [Deliver(Refused("a", why))]


def session_after(*requests: object) -> tuple[PeerSession, list[object]]:
    session = PeerSession(replace(SETTINGS, post_count=2), Ids("boot"))
    turn = Turn(session.ids, START_MS)
    for request in requests:
        session.handle(Requested(request), turn)
    return session, list(turn.commands)


def post(post_id: str) -> Post:
    return Post(id=post_id, payload=b"x", ttl_epoch=1)


def test_only_so_many_wait_for_their_work() -> None:
    _, commands = session_after(post("a"), post("a"), post("b"), post("c"))
    kinds = [type(command) for command in commands]
    assert kinds == [Compute, Deliver, Compute, Deliver]


def test_a_post_that_is_withdrawn_is_not_told() -> None:
    session, commands = session_after(post("a"), Withdraw("a"), Withdraw("b"))
    search, cancel = commands
    assert isinstance(search, Compute)
    assert cancel == Cancel(search.task)
    turn = Turn(session.ids, START_MS)
    session.handle(Computed(search.task, 7), turn)
    assert turn.commands == []
    assert session.gauges()["tea.posting"] == 0


def test_searches_of_one_message_begin_at_different_numbers() -> None:
    _, (first, second) = session_after(post("a"), post("b"))
    assert isinstance(first, Compute)
    assert isinstance(second, Compute)
    assert isinstance(first.job, Search)
    assert isinstance(second.job, Search)
    assert first.job.puzzle == second.job.puzzle
    assert first.job.start != second.job.start


@settings(max_examples=100, deadline=None)
@given(
    ages=st.lists(st.tuples(st.integers(0, 50), st.integers(1, 100)), max_size=40),
    now=st.integers(0, 60),
    expiry=st.integers(1, 200),
)
def test_parents_always_fit(ages: list[tuple[int, int]], now: int, expiry: int) -> None:
    flow = Flow(SETTINGS)
    for number, (at, life) in enumerate(ages):
        one = Stored(b"", timestamp=at, expires_ms=at + life, is_pushed_only=False, owner="")
        known = [b"%08d" % (number // 2)] if number % 3 == 0 else []
        flow.add(b"%08d" % number, one, known)
    found = parents(flow, now, expiry)
    assert len(found) <= 4
    assert len({msg_hash for msg_hash, _ in found}) == len(found)
    for _, parent in found:
        assert parent.timestamp < now < parent.expires_ms <= expiry
