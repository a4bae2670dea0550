"""What an endpoint declares, and what follows from it."""

from pathlib import Path
from typing import Any

import pytest

from live.echoes import SWITCHBOARD, TCP, EchoSettings, SwitchboardSection, TcpEchoSection
from wireloom.live.endpoint import Context
from wireloom.live.errors import ConfigError, NodeError


def settings(section: Any) -> EchoSettings:
    return TCP.settings_of(section, Context(Path("nowhere"), "b007"))


def test_limits_and_what_follows_from_other_keys_become_settings() -> None:
    made = settings(TcpEchoSection(greeting="hi", limits={"max_message_size": 9}))
    assert (made.greeting, made.boot, made.max_message_size) == ("hi", "b007", 9)
    assert TCP.limits() == ("max_message_size",)


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        ({"max_size": 1}, "tcpecho.limits has no max_size"),
        ({"greeting": "x"}, "tcpecho.limits has no greeting"),
        ({"max_message_size": "x"}, "tcpecho.limits is wrong"),
    ],
)
def test_limits_that_cannot_be(limits: dict[str, object], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        settings(TcpEchoSection(limits=limits))


def test_the_table_of_an_endpoint_with_one_link_is_the_links() -> None:
    section = TcpEchoSection(listen="127.0.0.1:1")
    (place,) = TCP.places(section)
    assert (place.name, place.link, place.section) == ("tcpecho", "tcp", section)
    assert [place.keys for place in TCP.places()] == [("tcpecho",)]


def test_several_links_have_tables_below_their_endpoints() -> None:
    places = SWITCHBOARD.places(SwitchboardSection())
    assert [(place.name, place.link) for place in places] == [
        ("switchboard.tcp", "tcp"),
        ("switchboard.udp", "udp"),
    ]


def test_the_secret_is_made_once_and_kept(tmp_path: Path) -> None:
    context = Context(tmp_path, "boot")
    first = context.secret()
    assert len(first) == 32
    assert context.secret() == first
    assert (tmp_path / "secret").stat().st_mode & 0o777 == 0o600
    (tmp_path / "secret").chmod(0o620)
    with pytest.raises(NodeError, match="can be written by others"):
        context.secret()
    (tmp_path / "secret").chmod(0o600)
    (tmp_path / "secret").write_bytes(b"short")
    with pytest.raises(NodeError, match="is damaged"):
        context.secret()
    with pytest.raises(NodeError, match="cannot be used"):
        Context(tmp_path / "missing", "boot").secret()


def test_a_secret_behind_a_symbolic_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "known").write_bytes(bytes(64))
    (tmp_path / "secret").symlink_to(tmp_path / "known")
    with pytest.raises(NodeError, match="secret is a symbolic link"):
        Context(tmp_path, "boot").secret()
