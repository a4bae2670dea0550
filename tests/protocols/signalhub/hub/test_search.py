"""Searches in steps, as transcripts."""

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.signalhub.transcript import Client, Transcript
from wireloom.protocols.signalhub.addresses import Glob, glob
from wireloom.protocols.signalhub.constants import SEARCH_STEPS

ADDRESSES = st.text("ab/-", min_size=1, max_size=6).map(lambda path: f"@({path})")
BOMB = "*a" * 127 + "*b"


def stocked(hub: Transcript, addresses: Iterable[str]) -> Client:
    """A client after others registered these addresses."""
    names = sorted(addresses)
    for begin in range(0, len(names), 100):
        client = hub.client(f"@(x/{begin})")
        for address in names[begin : begin + 100]:
            client.registers(address)
    return hub.client("@(me)")


def found(client: Client, pattern: str, **more: Any) -> list[str]:
    asked = client.asks("hub:discover", {"pattern": pattern, **more})
    client.hub.passes(60_000)
    answer = client.hears("hub:discovered", correlationId=asked)
    return [one["actorAddress"] for one in answer["payload"]["actors"]]


@given(addresses=st.sets(ADDRESSES, max_size=12), pattern=st.text("@()ab/-*", min_size=1))
def test_a_search_finds_what_matches_in_order(addresses: set[str], pattern: str) -> None:
    client = stocked(Transcript(silence_ms=10**9), addresses)
    assert found(client, pattern[:256]) == sorted(
        one for one in addresses if glob(pattern[:256]).matches(one)
    )


def test_a_search_stops_at_its_limit() -> None:
    hub = Transcript()
    client = stocked(hub, ("@(a)", "@(b)", "@(c)"))
    asked = client.asks("hub:discover", {"pattern": "*", "limit": 2})
    answer = client.hears("hub:discovered", correlationId=asked, payload__hasMore=True)
    assert [one["actorAddress"] for one in answer["payload"]["actors"]] == ["@(a)", "@(b)"]


def test_no_turn_takes_more_steps_than_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten searches at once, over more addresses than a turn can look at."""
    hub = Transcript(silence_ms=10**9)
    client = stocked(hub, [f"@({'a' * 50}{number:04d})" for number in range(500)])
    looked = []
    plain = Glob.matches

    def counted(self: Glob, address: str) -> bool:
        looked.append((hub.now_ms, self.cost))
        return plain(self, address)

    monkeypatch.setattr(Glob, "matches", counted)
    for _ in range(10):
        client.asks("hub:discover", {"pattern": BOMB})
    for _ in range(1_000):
        hub.passes(1)
    for _ in range(10):
        client.hears("hub:discovered", payload__actors=[])
    steps: dict[int, int] = {}
    for at_ms, cost in looked:
        steps[at_ms] = steps.get(at_ms, 0) + cost
    assert len(looked) == 10 * 500
    assert max(steps.values()) <= 1.1 * SEARCH_STEPS


def test_a_search_goes_on_where_it_was_while_others_come_and_go() -> None:
    hub = Transcript(silence_ms=10**9)
    addresses = [f"@(m/{number:04d})" for number in range(300)]
    client = stocked(hub, addresses)
    asked = client.asks("hub:discover", {"pattern": "*9" + "*" * 200 + "0" * 50 + "*"})
    client.asks("hub:discover", {"pattern": "@(" + "*a" * 120 + "*"})
    other = hub.client("@(other)")
    other.registers("@(m/0150x)")
    hub.passes(1_000)
    client.hears("hub:discovered", correlationId=asked)
    client.hears("hub:discovered", payload__actors=[])


def test_a_search_of_one_who_left_is_dropped() -> None:
    hub = Transcript()
    client = stocked(hub, [f"@({'a' * 60}{number:04d})" for number in range(200)])
    client.asks("hub:discover", {"pattern": BOMB})
    client.hears_nothing()
    client.leaves()
    hub.passes(1_000)
    assert ("search",) not in hub.timers


def test_searches_under_way_are_bounded_and_others_still_find(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("wireloom.protocols.signalhub.hub.search.MAX_SEARCHES", 4)
    hub = Transcript()
    client = stocked(hub, [f"@({'a' * 60}{number:04d})" for number in range(200)])
    for _ in range(2):
        client.asks("hub:discover", {"pattern": BOMB})
        client.hears_nothing()
    client.asks("hub:discover", {"pattern": BOMB})
    client.hears("hub:error", payload__details__reason="limit_reached")
    other = hub.client("@(other)", peer="192.0.2.2:1")
    assert len(found(other, "@(aaa*7)")) == 20
