"""Order and compatibility of semantic versions."""

import itertools

import pytest

from wireloom.protocols.signalhub.versions import Version, check_compatible, version
from wireloom.wire.errors import MalformedError, UnsupportedVersionError

SORTED = [
    "0.1.0",
    "0.2.0",
    "0.10.0",
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-alpha.beta",
    "1.0.0-beta",
    "1.0.0-beta.2",
    "1.0.0-beta.11",
    "1.0.0-rc.1",
    "1.0.0",
    "1.0.1",
]
"""The order of Semantic Versioning 2.0.0, section 11, and some more."""


def test_a_version_is_taken_apart() -> None:
    assert version("1.2.3-rc.1+build.5") == Version(1, 2, 3, ("rc", "1"), ("build", "5"))
    assert version("0.1.0") == Version(0, 1, 0)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1",
        "0.1",
        "0.1.0.0",
        "v0.1.0",
        "01.0.0",
        "1.0.0-",
        "1.0.0-01",
        "1.0.0+",
        "1.0.0\n",
        "1.0.0-a..b",
        "1234567890.0.0",
        "1.0.0-é",
        " 1.0.0",
        "1.0.0-" + "a" * 251,
    ],
)
def test_what_is_no_version_is_refused(text: str) -> None:
    with pytest.raises(MalformedError, match="not a semantic version"):
        version(text)


def test_a_version_has_up_to_256_characters() -> None:
    assert version("1.0.0-" + "a" * 250).prerelease == ("a" * 250,)


@pytest.mark.parametrize(("lower", "higher"), list(itertools.pairwise(SORTED)))
def test_precedence_is_that_of_semantic_versioning(lower: str, higher: str) -> None:
    assert version(lower).precedence < version(higher).precedence


def test_the_build_has_no_say() -> None:
    assert version("1.0.0+a").precedence == version("1.0.0+b").precedence


@pytest.mark.parametrize("client", ["0.1.0", "0.9.3", "0.1.0-rc.1"])
def test_the_same_major_is_compatible(client: str) -> None:
    check_compatible(client)


@pytest.mark.parametrize("client", ["1.0.0", "2.1.0"])
def test_another_major_is_not(client: str) -> None:
    with pytest.raises(UnsupportedVersionError, match="MAJOR differs"):
        check_compatible(client)
