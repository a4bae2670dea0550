"""Semantic versions: which one comes first, and which ones understand each other."""

import re
from typing import Final, NamedTuple

from wireloom.protocols.signalhub.constants import (
    MAX_SEMVER_SIZE,
    PROTOCOL_VERSION,
    SEMVER_PATTERN,
)
from wireloom.wire.errors import MalformedError, UnsupportedVersionError

_SEMVER: Final = re.compile(SEMVER_PATTERN)


class Version(NamedTuple):
    """A version, taken apart. Compare by `precedence`: the build has no say in it."""

    major: int
    minor: int
    patch: int
    prerelease: tuple[str, ...] = ()
    build: tuple[str, ...] = ()

    @property
    def precedence(self) -> tuple[object, ...]:
        """Sorts as Semantic Versioning 2.0.0 says: a prerelease before its release."""
        identifiers = tuple(
            (0, int(one), "") if one.isdigit() else (1, 0, one) for one in self.prerelease
        )
        return (self.major, self.minor, self.patch, not self.prerelease, identifiers)


def version(text: str) -> Version:
    """The version that `text` says.

    Raises:
        MalformedError: If it is no semantic version.
    """
    if len(text) > MAX_SEMVER_SIZE or not _SEMVER.search(text):
        raise MalformedError(f"{text!r:.60} is not a semantic version like 0.1.0")
    rest, _, build = text.partition("+")
    core, _, prerelease = rest.partition("-")
    major, minor, patch = map(int, core.split("."))
    return Version(major, minor, patch, _identifiers(prerelease), _identifiers(build))


def check_compatible(client: str, server: str = PROTOCOL_VERSION) -> None:
    """Refuses a client whose MAJOR is not the server's (R28).

    Raises:
        MalformedError: If one of them is no semantic version.
        UnsupportedVersionError: If they do not understand each other.
    """
    if version(client).major != version(server).major:
        raise UnsupportedVersionError(f"version {client} does not fit {server}: MAJOR differs")


def _identifiers(text: str) -> tuple[str, ...]:
    return tuple(text.split(".")) if text else ()
