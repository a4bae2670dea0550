"""Addresses, and the patterns that find them."""

import time

import pytest

from wireloom.protocols.signalhub.addresses import address, glob, is_address, is_kept, path
from wireloom.wire.errors import MalformedError


@pytest.mark.parametrize("text", ["@(a)", "@(browser/widget-1)", "@(a b)", "@(é)", "@())"])
def test_an_address_is_anything_printable_in_brackets(text: str) -> None:
    assert is_address(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "@()",
        "browser/widget",
        "@(a",
        "(a)",
        " @(a)",
        "@(a)\n",
        "@(a\nb)",
        "@(a\x7fb)",
        "@(a\x85b)",
        "@(a\u2028b)",
        "@(\x00)",
    ],
)
def test_what_is_not_an_address(text: str) -> None:
    assert not is_address(text)


def test_path_is_what_stands_in_the_brackets() -> None:
    assert path("@(browser/widget-1)") == "browser/widget-1"
    assert path("@(a))") == "a)"


def test_path_refuses_what_is_no_address() -> None:
    with pytest.raises(MalformedError, match="not an address"):
        path("browser/widget-1")


def test_address_puts_brackets_around_a_path_once() -> None:
    assert address("browser/client-ui") == "@(browser/client-ui)"
    assert address("@(browser/client-ui)") == "@(browser/client-ui)"


@pytest.mark.parametrize("text", ["", "a\nb"])
def test_address_refuses_a_path_that_makes_none(text: str) -> None:
    with pytest.raises(MalformedError, match="not the path"):
        address(text)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("@(browser/widget-*)", "@(browser/widget-123)"),
        ("@(browser/widget-*)", "@(browser/widget-)"),
        ("@(*/coordinator)", "@(local/coordinator)"),
        ("@(*/coordinator)", "@(a/b/coordinator)"),
        ("*", "@(a)"),
        ("**", ""),
        ("@(a*b*c)", "@(a-b-b-c)"),
        ("@(a)", "@(a)"),
        ("*a*a", "aXa"),
    ],
)
def test_a_star_matches_any_characters(pattern: str, text: str) -> None:
    assert glob(pattern).matches(text)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("@(browser/widget-*)", "@(browser/other-1)"),
        ("@(*/coordinator)", "@(local/coordinator-2)"),
        ("@(a)", "@(b)"),
        ("@(a*b*c)", "@(a-c)"),
        ("aa*aa", "aaa"),
        ("@(a?)", "@(ab)"),
        ("@([ab])", "@(a)"),
        ("@(A)", "@(a)"),
    ],
)
def test_all_else_matches_only_itself(pattern: str, text: str) -> None:
    assert not glob(pattern).matches(text)


def test_a_pattern_has_up_to_256_characters() -> None:
    assert glob("*" * 256).matches("@(a)")
    with pytest.raises(MalformedError, match="not 257"):
        glob("*" * 257).matches("@(a)")
    with pytest.raises(MalformedError, match="not 0"):
        glob("").matches("@(a)")


def test_many_stars_take_no_time() -> None:
    began = time.perf_counter()
    assert not glob("*a" * 127 + "*b").matches("a" * 100_000)
    assert time.perf_counter() - began < 1


def test_a_hub_keeps_addresses_of_512_bytes_as_json() -> None:
    assert is_kept("@(" + "a" * 507 + ")")
    assert not is_kept("@(" + "a" * 508 + ")")
    assert not is_kept("@(" + "é" * 254 + ")")
    assert not is_kept("nobody")
