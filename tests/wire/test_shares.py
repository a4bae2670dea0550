"""One bounded place, and no owner that fills it for the others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireloom.wire.shares import Shares, network


def fill(shares: Shares, owner: str, size: int = 1) -> int:
    """Keeps things until no more fit; gives how many did."""
    count = 0
    while shares.fits(owner, 1, size):
        shares.add(owner, 1, size)
        count += 1
    return count


def test_an_owner_gets_half_and_the_next_half_of_the_rest() -> None:
    shares = Shares(100, 10**6)
    assert [fill(shares, owner) for owner in "abc"] == [50, 25, 13]
    assert shares.count == 88


def test_bytes_are_shared_like_things() -> None:
    shares = Shares(10**6, 1_000)
    assert [fill(shares, owner, 10) for owner in "ab"] == [50, 25]
    assert not shares.fits("c", 1, 126)
    assert shares.fits("c", 1, 125)


def test_a_place_for_one_thing_takes_one() -> None:
    shares = Shares(1, 100)
    assert fill(shares, "a") == 1
    assert fill(shares, "b") == 0


def test_what_is_gone_makes_room_and_owners_without_anything_are_forgotten() -> None:
    shares = Shares(10, 100)
    shares.add("a", 5, 40)
    assert not shares.fits("a", 1, 20)
    shares.remove("a", 5, 40)
    assert (shares.count, shares.size) == (0, 0)
    assert shares.fits("a", 5, 50)
    assert shares._by_owner == {}


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(1, 40)), max_size=200))
def test_what_fits_never_exceeds_the_place(wishes: list[tuple[str, int]]) -> None:
    shares = Shares(30, 400)
    for owner, size in wishes:
        if shares.fits(owner, 1, size):
            shares.add(owner, 1, size)
    assert shares.count <= 30
    assert shares.size <= 400


def test_a_replacement_that_is_no_larger_fits_in_a_full_place() -> None:
    shares = Shares(1, 100)
    shares.add("a", 1, 100)
    assert shares.fits("a", 0, 0)
    assert shares.fits("a", 0, -1)
    assert not shares.fits("a", 0, 1)


@pytest.mark.parametrize(
    ("peer", "expected"),
    [
        ("192.0.2.1:80", "192.0.2.1"),
        ("[2001:db8:1:2:3:4:5:6]:80", "2001:db8:1:2::/64"),
        ("[2001:db8:1:2::9]:81", "2001:db8:1:2::/64"),
        ("[::ffff:192.0.2.1]:80", "192.0.2.1"),
        ("unknown", "unknown"),
        ("", ""),
        ("host:1", "host"),
    ],
)
def test_a_peer_is_known_by_its_network(peer: str, expected: str) -> None:
    assert network(peer) == expected


@pytest.mark.parametrize(
    ("one", "other", "are_same"),
    [
        ("10.0.0.1:1", "10.0.0.2:1", False),
        ("[2001:db8::1]:1", "[2001:db8::ffff:2]:2", True),
        ("[2001:db8::1]:1", "[2001:db8:0:1::1]:1", False),
        ("[::ffff:10.0.0.1]:1", "10.0.0.1:2", True),
        ("[fe80::1%eth0]:1", "[fe80::2%eth0]:1", True),
    ],
)
def test_whom_an_address_belongs_to(one: str, other: str, are_same: bool) -> None:
    assert (network(one) == network(other)) is are_same
