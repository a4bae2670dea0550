"""Cthun URIs and what their wildcards stand for."""

from typing import Any

import pytest

from protocols.cthun.outside import checks
from wireloom.protocols.cthun.uris import Uri, is_server, is_wildcard, parse
from wireloom.wire.errors import MalformedError


@checks("uri")
def test_uri_vector_holds(vector: dict[str, Any]) -> None:
    text = bytes.fromhex(vector["hex"]).decode()
    if not vector["expect"]["ok"]:
        with pytest.raises(MalformedError, match="is not a Cthun URI"):
            parse(text)
        return
    assert str(parse(text)) == text
    assert is_wildcard(text) == vector["expect"].get("wildcard", False)


@pytest.mark.parametrize(
    ("text", "uri"),
    [
        ("cth:///server", Uri("", "server")),
        ("cth://localhost/agent", Uri("localhost", "agent")),
        ("cth://a-b.c:8090/x_1", Uri("a-b.c:8090", "x_1")),
        ("cth://*/*", Uri("*", "*")),
    ],
)
def test_parse_gives_the_components(text: str, uri: Uri) -> None:
    assert parse(text) == uri
    assert str(uri) == text


@pytest.mark.parametrize(
    "text",
    [
        "cth:///agent",
        "cth:///*",
        "cth://a/",
        "cth://a//b",
        "cth://a/b/",
        "cth://a/b\n",
        "\ncth://a/b",
        "cth://a\0/b",
        "cth://a b/c",
        "cth://é/b",
        "cth://a*/b",
        "cth://**/b",
        "CTH://a/b",
        "pcp://a/b",
    ],
)
def test_parse_refuses(text: str) -> None:
    with pytest.raises(MalformedError):
        parse(text)


def test_type_server_is_a_brokers() -> None:
    assert is_server("cth:///server")
    assert is_server("cth://a/server")
    assert not is_server("cth://server/agent")
