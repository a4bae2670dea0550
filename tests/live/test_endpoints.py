"""The parts of a node's endpoints."""

import socket
from pathlib import Path

import pytest

from live.certificates import Authority
from wireloom.live.config import Address, Auth, BrokerSection, ConfigError, HubSection, Tls
from wireloom.live.endpoints import (
    NodeError,
    add_gauges,
    bound,
    broker_settings,
    hub_settings,
    secret,
    secured,
    session,
    shown,
)
from wireloom.live.metrics import Meters

KNOWN = b"k" * 32


def test_limits_become_settings() -> None:
    limits = {"max_queued": 7, "line_rate": {"count": 3, "per_ms": 50}}
    hub = hub_settings(HubSection(limits=limits), KNOWN)
    assert (hub.secret, hub.auth, hub.max_queued) == (KNOWN, False, 7)
    assert hub.line_rate is not None
    assert hub.line_rate.per_ms == 50
    assert broker_settings(BrokerSection(limits={"held_count": 9})).held_count == 9


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        ({"max_queue": 7}, "signalhub.limits has no max_queue"),
        ({"secret": "x"}, "signalhub.limits has no secret"),
        ({"max_queued": "many"}, "signalhub.limits is wrong"),
    ],
)
def test_limits_that_cannot_be(limits: dict[str, object], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        hub_settings(HubSection(limits=limits), KNOWN)


def test_the_hub_has_the_address_that_is_configured() -> None:
    assert hub_settings(HubSection(), KNOWN).address == "@(cloudflare/signal-hub)"
    assert hub_settings(HubSection(address="@(east/hub)"), KNOWN).address == "@(east/hub)"
    for wrong in ("", "hub", "@()", "@(a\nb)", "@(" + "x" * 600 + ")"):
        with pytest.raises(ConfigError, match=r"signalhub.address = .* looks like @\(cloud"):
            hub_settings(HubSection(address=wrong), KNOWN)
    with pytest.raises(ConfigError, match=r"signalhub.limits has no address"):
        hub_settings(HubSection(limits={"address": "@(east/hub)"}), KNOWN)


def test_who_may_sign_tokens(tmp_path: Path) -> None:
    shared = tmp_path / "secret"
    shared.write_text(f"  {'s' * 32}\n")
    shared.chmod(0o600)
    hub = hub_settings(HubSection(auth=Auth(secret_file=str(shared))), KNOWN)
    assert (hub.auth, hub.token_secrets, hub.token_keys) == (True, (b"s" * 32,), ())
    hub = hub_settings(HubSection(auth=Auth(public_keys=("ab" * 32,))), KNOWN)
    assert hub.token_keys == (b"\xab" * 32,)


@pytest.mark.parametrize("key", ["", "xyz", "ab" * 31, "ab" * 33, "é" * 64])
def test_a_public_key_has_32_bytes(key: str) -> None:
    with pytest.raises(ConfigError, match=r"is no Ed25519 public key; one has 32 bytes"):
        hub_settings(HubSection(auth=Auth(public_keys=("ab" * 32, key))), KNOWN)


def test_a_hub_does_not_start_with_a_secret_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="neither"):
        hub_settings(HubSection(auth=Auth()), KNOWN)
    short, open_, known = tmp_path / "short", tmp_path / "open", tmp_path / "known"
    short.write_text("s3cret")
    open_.write_text("s" * 32)
    open_.chmod(0o666)
    known.write_text("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI")
    known.chmod(0o600)
    for path, told in (
        (short, "has 6 bytes, and 32 are needed"),
        (open_, "can be written by others"),
        (known, "is an asymmetric key"),
        (tmp_path / "missing", "cannot be read"),
    ):
        with pytest.raises(ConfigError, match=f"signalhub.auth.secret_file: .*{told}"):
            hub_settings(HubSection(auth=Auth(secret_file=str(path))), KNOWN)


def test_a_broker_trusts_what_clients_say_only_without_tls() -> None:
    assert broker_settings(BrokerSection()).trust_sender
    tls = Tls(certificate="a", key="b")
    assert not broker_settings(BrokerSection(tls=tls)).trust_sender


def test_links_grant_what_their_sessions_take(tmp_path: Path) -> None:
    _, hub = session(HubSection(max_connections=5), tmp_path, "boot")
    assert hub.max_connections == 5
    assert hub.max_frame_size == 1_048_576
    _, broker = session(BrokerSection(limits={"max_message_size": 1_000}), tmp_path, "boot")
    assert broker.max_frame_size == 1_000


def test_the_secret_is_made_once_and_kept(tmp_path: Path) -> None:
    first = secret(tmp_path)
    assert len(first) == 32
    assert secret(tmp_path) == first
    assert (tmp_path / "secret").stat().st_mode & 0o777 == 0o600
    (tmp_path / "secret").chmod(0o620)
    with pytest.raises(NodeError, match="can be written by others"):
        secret(tmp_path)
    (tmp_path / "secret").chmod(0o600)
    (tmp_path / "secret").write_bytes(b"short")
    with pytest.raises(NodeError, match="is damaged"):
        secret(tmp_path)
    with pytest.raises(NodeError, match="cannot be used"):
        secret(tmp_path / "missing")


def test_certificates(tmp_path: Path) -> None:
    certificate, key = Authority(tmp_path).issue("server")
    assert secured(BrokerSection(), "cthun") is None
    tls = Tls(certificate=str(certificate), key=str(key), client_authority=str(tmp_path / "ca.pem"))
    assert secured(BrokerSection(tls=tls), "cthun") is not None
    tls = Tls(certificate=str(certificate), key="missing")
    with pytest.raises(NodeError, match=r"cthun.tls: missing cannot be read"):
        secured(BrokerSection(tls=tls), "cthun")


def test_sockets() -> None:
    with bound(Address("127.0.0.1", 0), "hub") as listening:
        port = listening.getsockname()[1]
        assert shown(listening, Address("127.0.0.1", 0)) == f"127.0.0.1:{port}"
        with socket.create_connection(("127.0.0.1", port)):
            pass
        with pytest.raises(NodeError, match=f"hub cannot listen on .*:{port}: the port is in use"):
            bound(Address("127.0.0.1", port), "hub")
    with pytest.raises(NodeError, match="Cannot assign requested address"):
        bound(Address("192.0.2.1", 0), "hub")
    with pytest.raises(NodeError, match=r"hub cannot listen on nowhere.invalid:0"):
        bound(Address("nowhere.invalid", 0), "hub")


def test_a_session_shows_its_own_numbers(tmp_path: Path) -> None:
    class Counting:
        slow = {"a": 1}

        def gauges(self) -> dict[str, int]:
            return {"queued": 3}

    meters = Meters()
    add_gauges(meters, Counting())  # type: ignore[arg-type]
    assert meters.session() == {"queued": 3}
    assert meters.session_cut == {"a": 1}
    add_gauges(meters, object())  # type: ignore[arg-type]
    assert meters.session() == {"queued": 3}


def test_a_secret_behind_a_symbolic_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "known").write_bytes(bytes(64))
    (tmp_path / "secret").symlink_to(tmp_path / "known")
    with pytest.raises(NodeError, match="secret is a symbolic link"):
        secret(tmp_path)
