"""Addresses: what they may get, who is told, who makes way, who is not heard."""

from msgspec.structs import replace

from protocols.uep12.transcript import SETTINGS, Stage
from wireloom.protocols.uep12.messages import PullByHash
from wireloom.protocols.uep12.peer.peers import STRANGERS, Peer, Peers, State, Step
from wireloom.wire.session import Dial, Opened

FEW = replace(SETTINGS, rubbish_count=3)


def test_rubbish_makes_a_peer_unheard_for_a_while() -> None:
    stage = Stage(FEW)
    ada, mallory = stage.meets("ada"), stage.meets("mallory", "198.51.100.1:9")
    for _ in range(4):
        mallory.says(b"rubbish")
    stage.counts(shunned=1, proven_peers=1)
    stage.conclusions.clear()
    mallory.says(stage.content("now it behaves"))
    stage.concludes("rejected", "rate_limited")
    ada.says(stage.content("news"))
    mallory.gets()
    again = stage.stranger("mallory again", "198.51.100.1:9")
    again.says(stage.content("from a new line"))
    stage.concludes("accepted")
    stage.concludes("rejected", "rate_limited")
    stage.passes(FEW.shun_ms)
    stage.conclusions.clear()
    mallory.says(stage.content("forgiven"))
    stage.concludes("accepted")
    again.says(stage.content("forgiven, too"))
    stage.concludes("accepted")


def test_what_is_wrong_by_the_clock_or_the_configuration_is_no_rubbish() -> None:
    stage = Stage(FEW)
    ada = stage.meets("ada")
    for number in range(6):
        ada.says(stage.content(f"{number}", at=100_000))
        ada.says(stage.content(f"{number}", ttl=1_000))
    stage.counts(shunned=0)


def test_when_there_are_too_many_the_oldest_stranger_makes_way() -> None:
    stage = Stage(replace(SETTINGS, max_peer_count=3))
    ada = stage.meets("ada")
    strangers = [stage.stranger(name) for name in ("s", "t", "u", "v")]
    assert [one.closed is not None for one in strangers] == [True, True, False, False]
    assert ada.closed is None
    stage.counts(peers=3)


def test_a_peer_that_is_gone_is_told_nothing() -> None:
    stage = Stage()
    ada, bob = stage.meets("ada"), stage.meets("bob")
    bob.leaves()
    ada.says(stage.content("news"))
    bob.gets()
    stage.counts(peers=1, proven_peers=1)


def test_strangers_are_told_nothing_that_is_for_all() -> None:
    stage = Stage()
    ada, stranger = stage.meets("ada"), stage.stranger("stranger")
    stranger.says(PullByHash(msg_hashes=(b"nonesuch",) * 20))
    stranger.is_asked()
    ada.says(stage.content("news"))
    stranger.gets()


def peer(line: int, dial: Dial | None = None) -> Peer:
    return Peer(Opened(line, f"192.0.2.{line}:1", dial=dial), SETTINGS)


def test_a_stranger_gets_what_it_sent_and_one_that_is_named_a_packet_more() -> None:
    one = peer(1)
    assert not one.grants(1)
    one.earn(10)
    assert one.grants(6)
    assert not one.grants(5)
    assert one.grants(4)
    named = peer(2, dial=Dial("udp", "192.0.2.2:1"))
    assert named.grants(1_408)
    assert not named.grants(1)
    one.advance(Step.PROVE)
    assert one.grants(1 << 30)


def test_only_who_has_proven_itself_has_a_share_of_its_own() -> None:
    one = peer(1)
    assert one.owner == STRANGERS
    one.advance(Step.PROVE)
    assert one.owner == "192.0.2.1"


def test_whom_to_tell_is_the_same_object_until_somebody_comes_or_goes() -> None:
    peers = Peers(SETTINGS)
    made = [peers.add(Opened(line, f"192.0.2.{line}:1"), 0) for line in (1, 2, 3)]
    assert all(peers.prove(one) for one in made)
    assert not peers.prove(made[0])
    lines = peers.others(1)
    assert lines == (2, 3)
    assert peers.others(1) is lines
    peers.remove(made[1])
    assert peers.others(1) == (3,)
    assert made[1].state is State.GONE


def test_peers_are_asked_in_turn() -> None:
    peers = Peers(SETTINGS)
    assert peers.after(1) is None
    for line in (3, 1, 2):
        peers.prove(peers.add(Opened(line, f"192.0.2.{line}:1"), 0))
    found = [peers.after(line) for line in (1, 2, 3, 9)]
    assert [one.line for one in found if one] == [2, 3, 1, 1]
