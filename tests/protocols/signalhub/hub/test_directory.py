"""The directory by itself."""

import tracemalloc
from sys import getsizeof
from typing import Any

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from wireloom.protocols.signalhub.hub.connections import Actor
from wireloom.protocols.signalhub.hub.directory import (
    Directory,
    Listing,
    StoredRegistration,
    answered,
    restored,
    size,
)
from wireloom.protocols.signalhub.hub.settings import HubSettings
from wireloom.wire.session import Forget


def settings(**more: Any) -> HubSettings:
    return HubSettings(**{"secret": b"s" * 16, **more})


def record(address: str, **more: Any) -> StoredRegistration:
    listing = Listing(
        actor_address=address,
        capabilities=more.pop("capabilities", ("x",)),
        metadata=Raw(more.pop("metadata", b"{}")),
        connection_id="conn-1",
        registered_at=0,
        expires_at=more.pop("expires_at", 100),
        version=1,
    )
    base = {"owner": "@(o)", "ttl_ms": 100, "token": f"token of {address}", "on_heartbeat": False}
    return StoredRegistration(listing=listing, **{**base, **more})


def filled(*addresses: str) -> Directory:
    directory = Directory(settings())
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
    assert [one.address for one in directory.page(0, 9)] == ["@(b)"]


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
    assert (registration.expires_ms, registration.record.listing.version) == (150, 1)
    assert directory.find_token("token of @(a)", 140) is registration
    directory.renew(registration, 60, "next")
    assert (registration.expires_ms, registration.record.listing.version) == (160, 2)
    assert directory.find_token("token of @(a)", 0) is None
    assert directory.find_token("next", 0) is registration


def test_tokens_differ_by_secret_address_and_nonce() -> None:
    one, other = Directory(settings(secret=b"1" * 16)), Directory(settings(secret=b"2" * 16))
    made = {
        one.token("@(a)", "1"),
        one.token("@(a)", "2"),
        one.token("@(b)", "1"),
        other.token("@(a)", "1"),
    }
    assert len(made) == 4
    assert one.token("@(a)", "1") in made


def test_actors_are_selected_by_capability() -> None:
    directory = Directory(settings())
    one, other = Actor("@(1)"), Actor("@(2)")
    directory.put(one, record("@(a)", capabilities=("x", "y", "x")))
    directory.put(other, record("@(b)", capabilities=("x",)))
    assert [got.address for got in directory.selected(None)] == ["@(a)", "@(b)"]
    assert [got.address for got in directory.selected("x")] == ["@(a)", "@(b)"]
    assert [got.address for got in directory.selected("y")] == ["@(a)"]
    directory.remove("@(a)")
    assert directory.selected("y") == directory.selected("z") == []
    assert list(vars(directory)["_by_capability"]) == ["x"]


def test_a_registration_comes_back_from_the_store_as_it_was() -> None:
    registration = filled("@(a)").find("@(a)", 0)
    assert registration is not None
    stored = registration.store()
    assert (stored.kind, stored.key) == ("registration", "@(a)")
    assert restored(stored.value) == replace(registration.record, account="@(o)")
    assert restored(b"{}") is restored(b"\xff") is None
    assert registration.forget() == Forget("registration", "@(a)")


def test_the_size_of_a_registration_is_that_of_its_json() -> None:
    assert size(record("@(a)").listing) == len(
        b'{"actorAddress":"@(a)","capabilities":["x"],"metadata":{},"connectionId":"conn-1",'
        b'"registeredAt":0,"expiresAt":100,"version":1}'
    )


def test_an_account_registers_no_more_than_leaves_room_for_others() -> None:
    directory = Directory(settings(max_actors=10))
    for number in range(5):
        made = record(f"@({number})", account="one")
        assert directory.has_room(made)
        directory.put(Actor("@(o)"), made)
    assert not directory.has_room(record("@(5)", account="one"))
    assert directory.has_room(record("@(4)", account="one"))
    assert directory.has_room(record("@(5)", account="other"))


def test_a_registration_weighs_all_that_is_kept_of_it() -> None:
    metadata = b'{"x":[' + b"[]," * 2_000 + b"0]}"
    tracemalloc.start()
    directory = Directory(settings())
    before = tracemalloc.get_traced_memory()[0]
    for number in range(500):
        made = record(
            f"@(somebody/{number}\U0001f600)",
            capabilities=tuple(f"capability {number} {name}" for name in range(20)),
            metadata=metadata + b" " * (number % 3 + 1),
            account="me",
        )
        directory.put(Actor(f"@(o/{number})"), made)
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown <= directory.shares.size <= 2 * grown


def test_a_restored_registration_does_not_hold_all_bytes_that_it_came_in() -> None:
    stored = Directory(settings()).put(Actor("@(o)"), record("@(a)")).store()
    found = restored(stored.value)
    assert found is not None
    assert getsizeof(bytes(found.listing.metadata)) < 64


def test_answers_show_the_same_in_both_encodings() -> None:
    directory = filled("@(a)", "@(b)")
    text = msgspec.json.encode(answered(directory.page(0, 9), text=True))
    packed = msgspec.msgpack.encode(answered(directory.page(0, 9), text=False))
    assert msgspec.json.decode(text) == msgspec.msgpack.decode(packed)
