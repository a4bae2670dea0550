"""The directory by itself."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from wireloom.protocols.signalhub.addresses import matches
from wireloom.protocols.signalhub.directory import Directory, Record, restored, size
from wireloom.protocols.signalhub.envelope import ActorRegistration
from wireloom.protocols.signalhub.roster import Actor
from wireloom.wire.session import Forget

ADDRESSES = st.text("ab/-", min_size=1, max_size=6).map(lambda path: f"@({path})")


def record(address: str, **more: Any) -> Record:
    shown = ActorRegistration(
        actor_address=address,
        capabilities=more.pop("capabilities", ("x",)),
        metadata={},
        connection_id="conn-1",
        registered_at=0,
        expires_at=more.pop("expires_at", 100),
        version=1,
    )
    base = {"owner": "@(o)", "ttl_ms": 100, "token": f"token of {address}", "on_heartbeat": False}
    return Record(shown=shown, **{**base, **more})


def filled(*addresses: str) -> Directory:
    directory = Directory(b"secret")
    for address in addresses:
        directory.put(Actor("@(o)"), record(address))
    return directory


def test_a_registration_is_found_until_the_millisecond_of_its_end() -> None:
    directory = filled("@(a)")
    assert directory.find("@(a)", 99) is directory.get("@(a)") is not None
    assert directory.find("@(a)", 100) is None
    assert directory.find_token("token of @(a)", 99) is not None
    assert directory.find_token("token of @(a)", 100) is None
    assert directory.find("@(b)", 0) is directory.find_token("x", 0) is None


def test_what_was_removed_is_not_found_in_any_way() -> None:
    directory = filled("@(a)", "@(b)")
    removed = directory.remove("@(a)")
    assert removed is not None
    assert removed.owner.registrations == set()
    assert directory.remove("@(a)") is None
    assert len(directory) == 1
    assert directory.find_token("token of @(a)", 0) is None
    assert [one.actor_address for one in directory.page(0, 9)] == ["@(b)"]


def test_an_address_has_one_registration() -> None:
    directory = filled("@(a)")
    directory.put(Actor("@(p)"), record("@(a)", token="another"))
    assert len(directory) == 1
    assert directory.find_token("token of @(a)", 0) is None
    found = directory.find_token("another", 0)
    assert found is not None
    assert found.owner.address == "@(p)"


def test_a_renewal_counts_only_with_a_new_token() -> None:
    directory = filled("@(a)")
    registration = directory.find("@(a)", 0)
    assert registration is not None
    directory.renew(registration, 50)
    assert (registration.expires_ms, registration.record.shown.version) == (150, 1)
    assert directory.find_token("token of @(a)", 140) is registration
    directory.renew(registration, 60, "next")
    assert (registration.expires_ms, registration.record.shown.version) == (160, 2)
    assert directory.find_token("token of @(a)", 0) is None
    assert directory.find_token("next", 0) is registration


def test_tokens_differ_by_secret_address_and_nonce() -> None:
    one, other = Directory(b"1"), Directory(b"2")
    made = {
        one.token("@(a)", "1"),
        one.token("@(a)", "2"),
        one.token("@(b)", "1"),
        other.token("@(a)", "1"),
    }
    assert len(made) == 4
    assert one.token("@(a)", "1") in made


@given(addresses=st.sets(ADDRESSES, max_size=12), pattern=st.text("@()ab/-*", min_size=1))
def test_a_search_finds_what_matches_in_order(addresses: set[str], pattern: str) -> None:
    found = [one.actor_address for one in filled(*addresses).search(pattern[:256], 100)]
    assert found == sorted(one for one in addresses if matches(pattern[:256], one))


def test_a_search_stops_at_its_limit() -> None:
    directory = filled("@(a)", "@(b)", "@(c)")
    assert [one.actor_address for one in directory.search("*", 2)] == ["@(a)", "@(b)"]


def test_a_bomb_of_stars_does_not_explode() -> None:
    directory = filled(*(f"@({'a' * 200}{number})" for number in range(50)))
    assert directory.search("*a" * 127 + "*b", 100) == []  # backtracking would never end


def test_actors_are_selected_by_capability_and_without_one_of_them() -> None:
    directory = Directory(b"s")
    one, other = Actor("@(1)"), Actor("@(2)")
    directory.put(one, record("@(a)", capabilities=("x", "y")))
    directory.put(other, record("@(b)", capabilities=("x",)))
    assert [got.address for got in directory.selected(None, None)] == ["@(a)", "@(b)"]
    assert [got.address for got in directory.selected("y", None)] == ["@(a)"]
    assert [got.address for got in directory.selected("x", one)] == ["@(b)"]


def test_a_registration_comes_back_from_the_store_as_it_was() -> None:
    registration = filled("@(a)").find("@(a)", 0)
    assert registration is not None
    stored = registration.store()
    assert (stored.kind, stored.key) == ("registration", "@(a)")
    assert restored(stored.value) == registration.record
    assert restored(b"{}") is restored(b"\xff") is None
    assert registration.forget() == Forget("registration", "@(a)")


def test_the_size_of_a_registration_is_that_of_its_json() -> None:
    assert size(record("@(a)").shown) == len(
        b'{"actorAddress":"@(a)","capabilities":["x"],"metadata":{},"connectionId":"conn-1",'
        b'"registeredAt":0,"expiresAt":100,"version":1}'
    )
