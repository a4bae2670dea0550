"""Messages that are missing: pulled at once, again from others, and given up."""

from msgspec.structs import replace

from protocols.uep12.transcript import EPOCH_MS, SETTINGS, Stage
from wireloom.protocols.uep12.codec import decode
from wireloom.protocols.uep12.integrity import msg_hash
from wireloom.protocols.uep12.messages import Content, PullByHash

QUIET = replace(SETTINGS, refresh_ms=3_600_000)


def hashes(*raws: bytes) -> tuple[bytes, ...]:
    return tuple(map(msg_hash, raws))


def test_a_missing_parent_is_pulled_at_once_from_who_brought_the_child() -> None:
    stage = Stage(QUIET)
    ada, bob = stage.meets("ada"), stage.meets("bob")
    parent = stage.content("parent")
    child = stage.content("child", msg_hash(parent), at=1)
    ada.says(child)
    ada.gets(PullByHash(msg_hashes=hashes(parent)))
    stage.counts(missing=1, unreferred=1)
    bob.gets(child)
    ada.says(parent)
    stage.counts(missing=0, total=2, unreferred=1)
    bob.gets(parent)
    stage.passes(60_000)
    ada.gets()
    bob.gets()


def test_a_parent_that_has_expired_by_its_reference_is_not_pulled() -> None:
    stage = Stage(QUIET)
    ada = stage.meets("ada")
    gone = b"long ago"
    ada.says(stage.content("child", gone, ttl=3, diff=3))
    ada.gets()
    ada.says(stage.content("child", gone, ttl=3, diff=2))
    ada.gets(PullByHash(msg_hashes=(gone,)))


def test_it_is_pulled_again_every_5_s_from_another_peer_and_given_up_after_10() -> None:
    stage = Stage(QUIET)
    others = [stage.meets(name) for name in ("ada", "bob", "cid")]
    child = stage.content("child", b"nonesuch")
    others[0].says(child)
    asked = []
    for _ in range(12):
        for number, other in enumerate(others):
            pulls = [raw for raw in other.inbox if raw != child]
            asked += [number] * len(pulls)
            other.inbox.clear()
        stage.passes(5_000)
    assert asked == [0, 1, 2, 0, 1, 2, 0, 1, 2, 0]
    stage.counts(missing=0, irretrievable=1)
    others[1].says(stage.content("another child", b"nonesuch"))
    assert PullByHash(msg_hashes=(b"nonesuch",)) not in map(decode, others[1].inbox)


def test_what_was_irretrievable_may_still_come() -> None:
    stage = Stage(replace(QUIET, pull_count=1))
    ada = stage.meets("ada")
    parent = stage.content("parent")
    ada.says(stage.content("child", msg_hash(parent), at=1))
    stage.passes(10_000)
    stage.counts(missing=0, irretrievable=1)
    ada.says(parent)
    stage.counts(missing=0, irretrievable=0, total=2)


def test_what_is_missing_is_forgotten_when_it_has_expired() -> None:
    stage = Stage(replace(QUIET, pull_count=1_000))
    stage.meets("ada").says(stage.content("child", b"nonesuch", ttl=2, diff=0))
    stage.counts(missing=1)
    stage.passes(2 * EPOCH_MS + SETTINGS.purge_ms)
    stage.counts(missing=0, irretrievable=0, total=0)


def test_forged_references_and_cycles_cost_one_pull_each() -> None:
    stage = Stage(QUIET)
    ada = stage.meets("ada")
    forged = [bytes([number]) * 8 for number in range(3)]
    for number in range(20):
        ada.says(stage.content(f"{number}", *forged, at=number))
    pulled = [one for raw in ada.inbox for one in _pulled(raw)]
    assert sorted(pulled) == forged
    stage.counts(missing=3)
    parent = stage.content("parent")
    ada.says(stage.content("self", msg_hash(parent)))  # each could refer to the other
    ada.says(parent)
    stage.counts(missing=3)


def test_all_that_is_missing_has_a_bound_of_which_nobody_takes_all() -> None:
    stage = Stage(replace(QUIET, wanted_count=20))
    mallory, ada = stage.meets("mallory"), stage.meets("ada")
    for number in range(10):
        fakes = [bytes([number, place]) * 4 for place in range(4)]
        mallory.says(stage.content(f"{number}", *fakes, at=number))
    missing = stage.session.gauges()["tea.missing"]
    assert 8 <= missing <= 11
    ada.inbox.clear()
    ada.says(stage.content("honest", b"honestly"))
    assert ada.is_pulled() == (b"honestly",)


def test_what_only_a_list_has_named_is_given_up_and_not_missed() -> None:
    stage = Stage(replace(SETTINGS, sweep_ms=3_600_000, pull_count=2))
    ada, bob = stage.meets("ada"), stage.meets("bob")
    stage.passes(SETTINGS.refresh_ms)
    ada.lists(ada.is_asked(), msg_hashes=(b"nonesuch",))
    stage.counts(missing=1)
    bob.inbox.clear()
    stage.passes(15_000)
    stage.counts(missing=0, irretrievable=0)
    bob.says(stage.content("it is referred to, too", b"nonesuch"))
    stage.passes(15_000)
    stage.counts(missing=0, irretrievable=1)


def test_what_comes_and_is_refused_is_pulled_no_more() -> None:
    stage = Stage(replace(QUIET, stored_count=3))
    ada = stage.meets("ada")
    late = stage.content("late", at=-9 * EPOCH_MS, ttl=9)
    first, parent = stage.content("first"), stage.content("parent")
    ada.says(first).says(stage.content("child", msg_hash(parent), at=1))
    stage.counts(missing=1)
    stage.conclusions.clear()
    ada.says(parent)
    stage.concludes("rejected", "queue_full")
    stage.counts(missing=0)
    other = Stage(QUIET)
    eve = other.meets("eve")
    eve.says(other.content("child", msg_hash(late), ttl=2))
    other.counts(missing=1)
    eve.says(late)
    other.counts(missing=0)


def test_many_are_pulled_in_packets_of_175() -> None:
    stage = Stage(replace(QUIET, refresh_ms=1_000))
    ada = stage.meets("ada")
    stage.passes(1_000)
    contents = [b"%08d" % number for number in range(200)]
    pull = ada.is_asked()
    ada.lists(pull, msg_hashes=tuple(contents))
    assert [len(ada.is_pulled()) for _ in range(2)] == [175, 25]


def _pulled(raw: bytes) -> tuple[bytes, ...]:
    message = decode(raw)
    assert not isinstance(message, Content)
    return message.msg_hashes if isinstance(message, PullByHash) else ()
