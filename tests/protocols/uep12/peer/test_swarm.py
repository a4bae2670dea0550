"""What becomes of messages: the rules of acceptance, line by line, and relaying."""

import pytest
from msgspec.structs import replace

from protocols.uep12.transcript import EPOCH_MS, SETTINGS, Stage
from wireloom.protocols.uep12.codec import decode, encode
from wireloom.protocols.uep12.constants import MAX_AHEAD_MS
from wireloom.protocols.uep12.integrity import is_proof, msg_hash, work
from wireloom.protocols.uep12.messages import Content, PullByHash
from wireloom.protocols.uep12.packets import mask, split
from wireloom.protocols.uep12.peer.requests import Received
from wireloom.wire.session import FrameReceived, Send, Spread, Store, Turn


def test_a_new_message_is_stored_then_relayed_once_to_all_but_its_sender() -> None:
    stage = Stage()
    ada, bob, cid = stage.meets("ada"), stage.meets("bob"), stage.meets("cid")
    news = stage.content("news")
    ada.says(news)
    stage.concludes("accepted")
    kinds = [type(command).__name__ for command in stage.commands]
    assert kinds.index("Store") < kinds.index("Send")
    ada.gets()
    bob.gets(news)
    cid.gets(news)
    received = stage.delivers(Received)
    assert (received.swarm, received.msg_hash) == ("tea", msg_hash(news))
    assert received.content == decode(news)
    bob.says(news)
    stage.concludes("duplicate")
    for other in (ada, bob, cid):
        other.gets()


def test_the_same_bytes_leave_for_everyone_in_one_command() -> None:
    stage = Stage()
    ada, *_ = stage.meets("ada"), stage.meets("bob"), stage.meets("cid")
    session, news = stage.session, stage.content("news")
    turn = Turn(session.ids, stage.now_ms)
    session.handle(FrameReceived(ada.line, news), turn)
    (spread,) = [command for command in turn.commands if isinstance(command, Spread)]
    assert len(spread.lines) == 2
    assert spread.raws[0] is spread.raws[1] is news


@pytest.mark.parametrize("version", [4, 6])
def test_another_version_is_refused(version: int) -> None:
    stage = Stage()
    raw = bytearray(stage.content("x"))
    raw[2] = version
    stage.meets("ada").says(bytes(raw))
    stage.concludes("rejected", "unsupported_version")


@pytest.mark.parametrize("count", [5, 6, 7])
def test_more_than_four_references_are_refused(count: int) -> None:
    stage = Stage()
    raw = bytearray(stage.content("x" * 80))
    raw[19] = count
    stage.meets("ada").says(bytes(raw))
    stage.concludes("rejected", "malformed")


def test_reserved_bits_are_ignored() -> None:
    stage = Stage()
    ada, bob = stage.meets("ada"), stage.meets("bob")
    news = stage.content("news", reserved=21)
    ada.says(news)
    stage.concludes("accepted")
    bob.gets(news)


def test_without_work_a_message_is_refused() -> None:
    stage = Stage()
    ada, bob = stage.meets("ada"), stage.meets("bob")
    message = decode(stage.content("news"))
    assert isinstance(message, Content)
    raws = (encode(replace(message, pow_nonce=nonce)) for nonce in range(100))
    ada.says(next(raw for raw in raws if not is_proof(work(raw))))
    stage.concludes("rejected", "bad_pow")
    bob.gets()
    stage.counts(total=0)


def test_the_work_is_that_of_the_specification(hard: None) -> None:
    stage = Stage()
    vector = bytes.fromhex("79100505580000000000007b5c766887013c000068656c6c6f20737761726d")
    stage.now_ms = 1_681_084_800_123
    ada = stage.meets("ada")
    ada.says(vector[:3] + b"\6" + vector[4:])
    stage.concludes("rejected", "bad_pow")
    ada.says(vector)
    stage.concludes("accepted")


def test_a_ttl_above_the_swarms_is_refused() -> None:
    stage = Stage()
    ada = stage.meets("ada")
    ada.says(stage.content("a", ttl=101))
    stage.concludes("rejected", "ttl_exceeded")
    ada.says(stage.content("b", ttl=100))
    stage.concludes("accepted")


def test_a_message_may_be_a_minute_ahead_and_no_more() -> None:
    stage = Stage()
    ada = stage.meets("ada")
    ada.says(stage.content("a", at=MAX_AHEAD_MS + 1))
    stage.concludes("rejected", "future")
    ada.says(stage.content("b", at=MAX_AHEAD_MS))
    stage.concludes("accepted")


def test_an_expired_message_is_neither_stored_nor_relayed() -> None:
    stage = Stage()
    ada, bob = stage.meets("ada"), stage.meets("bob")
    ada.says(stage.content("a", at=-10 * EPOCH_MS))
    stage.concludes("expired")
    bob.gets()
    stage.counts(total=0)
    ada.says(stage.content("b", at=-10 * EPOCH_MS + 1))
    stage.concludes("accepted")


def test_a_known_parent_must_be_older() -> None:
    stage = Stage()
    ada = stage.meets("ada")
    parent = stage.content("parent")
    ada.says(parent)
    ada.says(stage.content("twin", msg_hash(parent)))
    ada.says(stage.content("child", msg_hash(parent), at=1))
    stage.concludes("accepted")
    stage.concludes("rejected", "stale")
    stage.concludes("accepted")


def test_what_is_no_message_is_refused() -> None:
    stage = Stage()
    ada = stage.meets("ada")
    for raw, reason in (
        (b"", "malformed"),
        (b"y", "malformed"),
        (b"hello", "malformed"),
        (b"y\x30", "unknown_type"),
        (b"y\x20\x02" + bytes(8), "malformed"),
    ):
        stage.happens(FrameReceived(ada.line, raw))
        stage.concludes("rejected", reason)
    ada.gets()


def test_a_duplicate_is_known_before_and_after_it_expires() -> None:
    stage = Stage(replace(SETTINGS, remember_ms=300_000))
    ada, bob = stage.meets("ada"), stage.meets("bob")
    news = stage.content("news", ttl=1)
    ada.says(news)
    stage.passes(EPOCH_MS + SETTINGS.purge_ms)
    stage.counts(total=0)
    bob.inbox.clear()
    ada.inbox.clear()
    stage.conclusions.clear()
    ada.says(news)
    stage.concludes("duplicate")
    stage.now_ms -= 2 * EPOCH_MS  # the clock is set back: it is no news all the same
    ada.says(news)
    stage.concludes("duplicate")
    bob.gets()


def test_an_expired_message_is_no_longer_served_and_then_forgotten() -> None:
    stage = Stage()
    ada = stage.meets("ada")
    parent = stage.content("parent", ttl=1)
    child = stage.content("child", msg_hash(parent), at=1, ttl=9)
    ada.says(parent).says(child)
    pull = PullByHash(msg_hashes=(msg_hash(parent), msg_hash(child)))
    ada.says(pull)
    ada.gets(parent, child)
    stage.now_ms += EPOCH_MS  # its time is over; nothing has been purged yet
    ada.says(pull)
    ada.gets(child)
    stage.counts(total=2)
    stage.passes(SETTINGS.purge_ms)
    stage.counts(total=1)
    assert len(stage.stored) == 1


def test_ttl_0_lives_one_epoch_and_is_pushed_only() -> None:
    stage = Stage()
    ada, bob = stage.meets("ada"), stage.meets("bob")
    brief = stage.content("brief", ttl=0)
    ada.says(brief)
    stage.concludes("accepted")
    bob.gets(brief)
    bob.says(brief)
    stage.concludes("duplicate")
    bob.says(PullByHash(msg_hashes=(msg_hash(brief),)))
    bob.gets()
    stage.counts(total=1, unreferred=0)
    stage.passes(EPOCH_MS + SETTINGS.purge_ms)
    stage.counts(total=0)


def test_a_large_message_comes_and_leaves_in_fragments() -> None:
    stage = Stage()
    ada, bob = stage.meets("ada"), stage.meets("bob")
    large = stage.content("x" * 3_000)
    ada.says(large)
    stage.concludes("queued")
    stage.concludes("queued")
    stage.concludes("accepted")
    bob.gets(*split(large))


def test_a_message_in_fragments_is_captured_once() -> None:
    stage = Stage()
    ada, _ = stage.meets("ada"), stage.meets("bob")
    large = stage.content("x" * 2_000)
    ada.says(large)
    assert [one.whole for one in stage.conclusions] == [b"", large]
    sent = [one.whole for one in stage.commands if isinstance(one, Send)]
    assert sent == [b"", large]
    first, last = split(large)
    ada.says(PullByHash(msg_hashes=(msg_hash(large),)))
    assert [(one.raw, one.whole) for one in stage.commands if isinstance(one, Send)] == [
        (first, b""),
        (last, large),
    ]


def test_fragments_that_do_not_come_are_forgotten() -> None:
    stage = Stage()
    ada = stage.meets("ada")
    first, *rest = split(stage.content("x" * 3_000))
    ada.says(first)
    stage.passes(10_001)
    ada.inbox.clear()
    for packet in rest:
        ada.says(packet)
    stage.counts(total=0)


def test_masked_packets_are_read() -> None:
    stage = Stage()
    ada, bob = stage.meets("ada"), stage.meets("bob")
    news, large = stage.content("news"), stage.content("x" * 2_000)
    ada.says(mask(news, h=5, d=7))
    stage.concludes("accepted")
    bob.gets(news)
    for packet in split(large):
        stage.happens(FrameReceived(ada.line, mask(packet, h=250, d=1)))
    stage.concludes("queued")
    stage.concludes("accepted")
    bob.gets(*split(large))


def test_what_was_accepted_survives_a_crash() -> None:
    stage = Stage()
    news = stage.content("news")
    stage.meets("ada").says(news)
    stage.crashes()
    stage.counts(total=1, unreferred=1)
    bob = stage.meets("bob")
    bob.says(news)
    stage.concludes("duplicate")
    bob.says(PullByHash(msg_hashes=(msg_hash(news),)))
    bob.gets(news)


def test_a_record_that_cannot_be_read_is_set_aside_and_counted() -> None:
    stage = Stage()
    stage.meets("ada").says(stage.content("a")).says(stage.content("b"))
    damaged, _ = stage.stored
    stage.stored[damaged] = b"rubbish"
    stage.crashes()
    stage.counts(total=1)
    assert stage.session.gauges()["unreadable_records"] == 1
    assert stage.stored["uep12-unreadable", " ".join(damaged)] == b"rubbish"
    stage.crashes()
    assert stage.session.gauges()["unreadable_records"] == 1


def test_a_flood_of_valid_work_does_not_drive_out_what_others_wrote() -> None:
    stage = Stage(replace(SETTINGS, stored_count=20))
    ada, mallory = stage.meets("ada"), stage.meets("mallory")
    early = stage.content("early")
    ada.says(early)
    for number in range(30):
        mallory.says(stage.content(f"flood {number}"))
    stage.concludes("accepted")
    flood = [stage.conclusions.popleft() for _ in range(30)]
    taken = sum(one.reason is None for one in flood)
    assert 5 < taken < 12
    assert {str(one.reason) for one in flood[taken:]} == {"queue_full"}
    ada.says(stage.content("late"))
    stage.concludes("accepted")
    ada.inbox.clear()
    ada.says(PullByHash(msg_hashes=(msg_hash(early),)))
    ada.gets(early)


def test_all_who_have_proven_nothing_share_one_share() -> None:
    stage = Stage(replace(SETTINGS, stored_count=20))
    for number in range(30):
        stage.stranger(f"s{number}").says(stage.content(f"flood {number}"))
    stage.counts(total=10)
    stage.conclusions.clear()
    stage.meets("ada").says(stage.content("honest"))
    stage.concludes("accepted")


def test_stored_messages_are_written_once_each() -> None:
    stage = Stage()
    ada = stage.meets("ada")
    news = stage.content("news")
    ada.says(news)
    assert sum(isinstance(command, Store) for command in stage.commands) == 1
    ada.says(news)
    assert not any(isinstance(command, Store) for command in stage.commands)
