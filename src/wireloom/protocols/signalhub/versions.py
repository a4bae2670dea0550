"""Semantic versions: which ones understand each other."""

import re
from typing import Final

from wireloom.protocols.signalhub.constants import (
    MAX_SEMVER_SIZE,
    PROTOCOL_VERSION,
    SEMVER_PATTERN,
)
from wireloom.wire.errors import MalformedError, UnsupportedVersionError

_SEMVER: Final = re.compile(SEMVER_PATTERN)


def major(version: str) -> int:
    """The MAJOR of a semantic version.

    Raises:
        MalformedError: If it is no semantic version.
    """
    if len(version) > MAX_SEMVER_SIZE or not _SEMVER.search(version):
        raise MalformedError(f"{version!r:.60} is not a semantic version like 0.1.0")
    return int(version.partition(".")[0])


def check_compatible(client: str, server: str = PROTOCOL_VERSION) -> None:
    """Refuses a client whose MAJOR is not the server's (R28).

    Raises:
        MalformedError: If one of them is no semantic version.
        UnsupportedVersionError: If they do not understand each other.
    """
    if major(client) != major(server):
        raise UnsupportedVersionError(f"version {client} does not fit {server}: MAJOR differs")
