"""Answers and what is remembered of them."""

import tracemalloc

import pytest
from msgspec.structs import replace

from protocols.signalhub.samples import SAMPLES
from wireloom.protocols.signalhub.constants import ErrorCode
from wireloom.protocols.signalhub.envelope import SharedMessage
from wireloom.protocols.signalhub.hub.answers import Answers, fault
from wireloom.protocols.signalhub.hub.connections import Actor, Client
from wireloom.protocols.signalhub.hub.settings import HubSettings
from wireloom.protocols.signalhub.messages import Error
from wireloom.wire.ids import Ids
from wireloom.wire.session import Opened, Send, Turn

SETTINGS = HubSettings(secret=b"s" * 16)


def test_a_fault_that_may_be_tried_again_follows_from_its_code() -> None:
    answers, turn = Answers(SETTINGS), Turn(Ids("one"), 5)
    client = Client(Opened(1, "peer"), SETTINGS, "conn-1", 0)
    for payload in (
        fault(ErrorCode.TIMEOUT, "late"),
        fault(ErrorCode.MESSAGE_EXPIRED, "late"),
        fault(ErrorCode.INTERNAL_ERROR, "bad", retryable=False),
    ):
        answers.tell(turn, client, Error, payload)
    raws = [one.raw for one in turn.commands if isinstance(one, Send)]
    assert [b'"retryable":true' in raw for raw in raws] == [True, False, False]
    assert all(b'"details":null' in raw for raw in raws)


def memory_of(**more: int) -> Answers:
    return Answers(HubSettings(secret=b"s" * 16, **more))  # type: ignore[arg-type]


def request(id_: str) -> SharedMessage:
    sample = SAMPLES["hub:queue_stats"]
    assert isinstance(sample, SharedMessage)
    return replace(sample, id=id_)


def client(address: str) -> Client:
    made = Client(Opened(1, "peer"), SETTINGS, "conn-1", 0)
    made.identify(Actor(address))
    return made


A, B = client("a"), client("b")


def test_an_answer_is_remembered_for_its_time_and_not_for_ever() -> None:
    memory = memory_of(seen_ms=60_000)
    memory.known(("a", "1"), 1_000_000)
    memory.remember(A, request("1"), b"answer")
    assert memory.known(("a", "1"), 1_059_999) == b"answer"
    assert memory.known(("b", "1"), 1_059_999) is None
    assert memory.known(("a", "1"), 1_060_000) == b"answer"
    assert memory.known(("a", "1"), 1_120_000) is None


def test_silence_is_an_answer_too() -> None:
    memory = memory_of()
    memory.remember(A, request("1"), b"")
    assert memory.known(("a", "1"), 0) == b""


@pytest.mark.parametrize("limit", [1, 2, 100])
def test_no_more_is_remembered_than_the_limit(limit: int) -> None:
    memory = memory_of(seen_max=limit)
    for number in range(1_000):
        memory.remember(A, request(str(number)), b"x")
    known = sum(memory.known(("a", str(number)), 0) is not None for number in range(1_000))
    assert known <= max(1, limit)
    assert known >= limit // 2


def test_answers_are_remembered_in_so_many_bytes() -> None:
    tracemalloc.start()
    memory = memory_of(seen_max=1_000_000, seen_size=2_000_000)
    before = tracemalloc.get_traced_memory()[0]
    for number in range(20_000):
        memory.remember(A, request(f"{number:036d}"), bytes(number % 2_000))
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown <= memory.size <= 2_010_000
    assert memory.known(("a", f"{19_999:036d}"), 0) is not None
