"""Limits of what is said about messages."""

from typing import Any

import pytest

from protocols.signalhub.documents import ABSENT, frame
from wireloom.protocols.signalhub.codec import decode, encode
from wireloom.wire.errors import MalformedError

TAKEN: list[tuple[str, str, Any]] = [
    ("hub:connect", "metadata__protocolVersion", "1.0.0-rc.1+5"),
    ("hub:connect", "metadata__protocolVersion", "1.0.0-" + "a" * 250),
    ("hub:connect", "metadata__capabilities", [""]),
    ("hub:connect", "metadata__authToken", ABSENT),
    ("hub:connect", "metadata__clientMetadata", {}),
    ("hub:connect", "metadata__clientMetadata", ABSENT),
    ("hub:connected", "metadata", {}),
    ("hub:register", "metadata", {}),
    ("hub:send", "metadata__priority", 0),
    ("hub:send", "metadata__priority", 2),
    ("hub:send", "metadata", {}),
]

REFUSED: list[tuple[str, str, Any]] = [
    ("hub:connect", "metadata", ABSENT),
    ("hub:connect", "metadata__protocolVersion", ABSENT),
    ("hub:connect", "metadata__protocolVersion", "0.1"),
    ("hub:connect", "metadata__protocolVersion", "0.1.0\n"),
    ("hub:connect", "metadata__protocolVersion", "1.0.0-" + "a" * 251),
    ("hub:connect", "metadata__capabilities", []),
    ("hub:connect", "metadata__capabilities", [1]),
    ("hub:connect", "metadata__capabilities", ABSENT),
    ("hub:connect", "metadata__authToken", None),
    ("hub:connect", "metadata__clientMetadata", {"language": "de"}),
    ("hub:connected", "metadata__actorIdentity", "user-1"),
    ("hub:register", "metadata__renewOnHeartbeat", "yes"),
    ("hub:send", "metadata__priority", -1),
    ("hub:send", "metadata__priority", 3),
    ("hub:send", "metadata__priority", 1.0),
]


@pytest.mark.parametrize(("name", "path", "value"), TAKEN)
def test_values_at_the_edge_are_taken(name: str, path: str, value: Any) -> None:
    message = decode(frame(name, **{path: value}))
    assert decode(encode(message)) == message


@pytest.mark.parametrize(("name", "path", "value"), REFUSED)
def test_values_past_the_edge_are_refused(name: str, path: str, value: Any) -> None:
    with pytest.raises(MalformedError):
        decode(frame(name, **{path: value}))
