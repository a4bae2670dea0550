"""Cthun URIs: `cth://<common name>/<type>`, where `*` can stand for either component.

The common name is that of the node's certificate. It is empty only in `cth:///server`,
the broker at the other end of a connection (R9).
"""

import re
from typing import Final, NamedTuple

from wireloom.protocols.cthun.constants import SCHEME, SERVER_TYPE, WILDCARD
from wireloom.wire.errors import MalformedError

_NAME: Final = r"[A-Za-z0-9_.:\-]+"
_NAME_OR_ANY: Final = rf"(?:{_NAME}|\*)"

ADDRESS_PATTERN: Final = rf"\A{SCHEME}://(?:{_NAME}/{_NAME}|/{SERVER_TYPE})\Z"
"""The URI of one node."""

TARGET_PATTERN: Final = rf"\A{SCHEME}://(?:{_NAME_OR_ANY}/{_NAME_OR_ANY}|/{SERVER_TYPE})\Z"
"""The URI of one node or, with wildcards, of many (R16)."""

_TARGET: Final = re.compile(TARGET_PATTERN)
_PREFIX: Final = f"{SCHEME}://"


class Uri(NamedTuple):
    """The two components of a URI."""

    common_name: str
    type: str

    def __str__(self) -> str:
        return f"{_PREFIX}{self.common_name}/{self.type}"


def parse(text: str) -> Uri:
    """The components of a URI, with or without wildcards.

    Raises:
        MalformedError: If `text` is no Cthun URI.
    """
    if not _TARGET.match(text):
        raise MalformedError(f"{text!r:.60} is not a Cthun URI")
    return split(text)


def is_wildcard(text: str) -> bool:
    """Whether a URI can stand for several nodes."""
    return WILDCARD in split(text)


def is_server(text: str) -> bool:
    """Whether a URI claims to be a broker's."""
    return split(text).type == SERVER_TYPE


def split(text: str) -> Uri:
    """The components of a URI that was checked before."""
    name, _, type_ = text.removeprefix(_PREFIX).partition("/")
    return Uri(name, type_)
