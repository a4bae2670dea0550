"""Evidence that a message has arrived."""

from protocols.uep12.transcript import EPOCH_MS, Stage
from wireloom.protocols.uep12.integrity import msg_hash
from wireloom.protocols.uep12.messages import PullByHash
from wireloom.protocols.uep12.peer.requests import Confirm, Confirmed
from wireloom.wire.message import Message
from wireloom.wire.session import Requested


def test_a_message_is_pushed_and_pulled_back_until_a_copy_comes() -> None:
    stage = Stage()
    ada = stage.meets("ada")
    stage.posts("hello", ttl=1)
    news = ada.inbox.popleft()
    stage.delivered.clear()
    stage.happens(Requested(Confirm(msg_hash=msg_hash(news))))
    ask: list[Message | bytes] = [news, PullByHash(msg_hashes=(msg_hash(news),))]
    ada.gets(*ask)
    stage.passes(500)
    ada.gets(*ask)
    ada.says(news)
    stage.concludes("duplicate")
    assert stage.delivers(Confirmed) == Confirmed(msg_hash(news))
    stage.passes(2_000)
    ada.gets()
    ada.says(news)
    assert not stage.delivered


def test_nothing_is_asked_about_what_has_expired_or_never_was() -> None:
    stage = Stage()
    ada = stage.meets("ada")
    stage.happens(Requested(Confirm(msg_hash=b"nonesuch")))
    stage.happens(Requested(Confirm(msg_hash=b"nonesuch", swarm="coffee")))
    ada.gets()
    news = stage.content("news", ttl=1)
    ada.says(news)
    stage.happens(Requested(Confirm(msg_hash=msg_hash(news))))
    ada.inbox.clear()
    stage.now_ms += EPOCH_MS
    stage.passes(1_000)
    assert news not in ada.inbox
    assert "confirm" not in {timer[0] for timer in stage.timers if isinstance(timer, tuple)}
