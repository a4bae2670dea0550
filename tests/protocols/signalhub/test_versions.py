"""Form and compatibility of semantic versions."""

import pytest

from wireloom.protocols.signalhub.versions import check_compatible, major
from wireloom.wire.errors import MalformedError, UnsupportedVersionError

VERSIONS = [
    "0.1.0",
    "0.10.0",
    "1.0.0-alpha",
    "1.0.0-alpha.beta",
    "1.0.0-beta.11",
    "1.0.0-rc.1+build.5",
    "12.0.1",
]


@pytest.mark.parametrize("text", VERSIONS)
def test_the_major_of_a_version_stands_before_its_first_dot(text: str) -> None:
    assert major(text) == int(text.split(".", maxsplit=1)[0])


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
        major(text)


def test_a_version_has_up_to_256_characters() -> None:
    assert major("1.0.0-" + "a" * 250) == 1


@pytest.mark.parametrize("client", ["0.1.0", "0.9.3", "0.1.0-rc.1"])
def test_the_same_major_is_compatible(client: str) -> None:
    check_compatible(client)


@pytest.mark.parametrize("client", ["1.0.0", "2.1.0"])
def test_another_major_is_not(client: str) -> None:
    with pytest.raises(UnsupportedVersionError, match="MAJOR differs"):
        check_compatible(client)
