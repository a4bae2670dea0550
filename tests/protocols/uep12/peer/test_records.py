"""The records of messages, as they are written and read."""

from protocols.uep12.samples import SAMPLES
from wireloom.protocols.uep12.codec import encode
from wireloom.protocols.uep12.integrity import msg_hash
from wireloom.protocols.uep12.peer.records import Kept, forgotten, found, stored
from wireloom.wire.session import Forget, Store

RAW = encode(SAMPLES["CONTENT"])
PULL = encode(SAMPLES["PULL_BY_HASH"])


def test_what_was_written_is_read_by_swarm() -> None:
    record = stored("tea", msg_hash(RAW), "192.0.2.1", RAW)
    read = found([record, Store("other", "x", b"")])
    ((message, kept),) = read.messages["tea"]
    assert message == SAMPLES["CONTENT"]
    assert (kept.owner, kept.raw) == ("192.0.2.1", RAW)
    assert (read.commands, read.unreadable_count) == ([], 0)
    gone = forgotten("tea", msg_hash(RAW))
    assert (gone.kind, gone.key) == (record.kind, record.key)


def test_what_is_no_message_is_set_aside() -> None:
    pull = stored("tea", b"pull-it!", "x", PULL)
    read = found([pull, Store(pull.kind, "tea 00", b"\xff"), Store("uep12-unreadable", "y", b"")])
    assert read.messages == {}
    assert read.unreadable_count == 3
    assert [type(command) for command in read.commands] == [Store, Forget, Store, Forget]
    assert Kept("x", PULL).raw == PULL
