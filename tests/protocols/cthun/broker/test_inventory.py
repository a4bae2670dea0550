"""Who is connected, by name and by wildcard."""

from fnmatch import fnmatchcase
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireloom.protocols.cthun.broker.clients import Client, State
from wireloom.protocols.cthun.broker.inventory import Inventory
from wireloom.protocols.cthun.constants import CloseCode
from wireloom.wire.ids import Ids
from wireloom.wire.session import Close, Turn

COMPONENTS = ("a", "b", "c")
URIS = [f"cth://{name}/{type_}" for name, type_ in product(COMPONENTS, COMPONENTS)]
PATTERNS = [f"cth://{name}/{type_}" for name, type_ in product("abc*", "abc*")]


def connected(inventory: Inventory, uri: str, line: int = 1) -> Client:
    client = Client(line, None, 0)
    client.associate(uri)
    inventory.add(uri, client)
    return client


@given(st.lists(st.sampled_from(URIS)), st.sets(st.sampled_from(URIS)), st.data())
def test_a_query_finds_what_its_patterns_match(
    joined: list[str], left: set[str], data: st.DataObject
) -> None:
    inventory = Inventory()
    for uri in joined:
        connected(inventory, uri)
    for uri in left & set(joined):
        inventory.remove(inventory.clients[uri])
    here = set(joined) - left
    queries = data.draw(st.lists(st.sampled_from(PATTERNS), max_size=4))
    found = {uri for uri in here if any(fnmatchcase(uri, query) for query in queries)}
    assert inventory.connected(queries) == sorted(found)
    named = {query for query in queries if "*" not in query}
    assert inventory.receivers(queries) == sorted(found | named)


def test_nothing_is_left_of_who_left() -> None:
    inventory = Inventory()
    for uri in URIS:
        inventory.remove(connected(inventory, uri))
    assert (inventory.clients, inventory._by_name, inventory._by_type) == ({}, {}, {})


def test_who_was_replaced_does_not_take_the_other_out() -> None:
    inventory = Inventory()
    old = connected(inventory, URIS[0])
    new = connected(inventory, URIS[0], line=2)
    inventory.remove(old)
    assert inventory.clients == {URIS[0]: new}


def test_a_connection_without_name_can_be_taken_out() -> None:
    inventory = Inventory()
    inventory.remove(Client(1, None, 0))
    assert inventory.connected(["cth://*/*"]) == []


def test_who_is_closed_is_out_at_once() -> None:
    inventory = Inventory()
    client = connected(inventory, URIS[0], line=7)
    client.ready = True
    turn = Turn(Ids("boot"))
    inventory.close(turn, client, CloseCode.SUPERSEDED, "why")
    assert turn.commands == [Close(7, 4000, "why")]
    assert client.state is State.CLOSING
    assert not client.ready
    assert inventory.clients == {}


def test_an_answer_is_remembered_until_somebody_comes_or_goes() -> None:
    inventory = Inventory()
    client = connected(inventory, URIS[0])
    first = inventory.answer(["cth://*/*", "cth://*/*"])
    assert inventory.answer(["cth://*/*"]) is first
    inventory.remove(client)
    assert inventory.answer(["cth://*/*"]) == []
    for number in range(100):
        inventory.answer([f"cth://*/t{number}"])
        inventory.answer([f"cth://*/t{one}" for one in range(number)])
    assert len(inventory._answers) <= 16


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("cth://a/agent", "cth://a/agent", True),
        ("cth://a/agent", "cth://A/agent", False),
        ("cth://a/agent", "cth://a/agents", False),
        ("cth://*/agent", "cth://a/agent", True),
        ("cth://*/agent", "cth://a/controller", False),
        ("cth://a/*", "cth://a/agent", True),
        ("cth://a/*", "cth://b/agent", False),
        ("cth://*/*", "cth://b/agent", True),
        ("cth://*/server", "cth:///server", True),
        ("cth:///server", "cth://b/server", False),
    ],
)
def test_a_wildcard_stands_for_a_whole_component(pattern: str, text: str, expected: bool) -> None:
    inventory = Inventory()
    inventory.add(text, Client(1, None, 0))
    assert inventory.connected([pattern]) == [text] * expected
