"""The hub's endpoint: what is configured becomes settings."""

from pathlib import Path

import pytest

from wireloom.live.endpoint import Context
from wireloom.live.endpoints.signalhub import ENDPOINT, Auth, HubSection
from wireloom.live.errors import ConfigError
from wireloom.live.links.sections import Tls
from wireloom.protocols.signalhub.hub.session import HubSession
from wireloom.protocols.signalhub.hub.settings import HubSettings
from wireloom.wire.ids import Ids

KNOWN = b"k" * 32


@pytest.fixture
def context(tmp_path: Path) -> Context:
    """A node whose secret is known."""
    (tmp_path / "secret").write_bytes(KNOWN)
    (tmp_path / "secret").chmod(0o600)
    return Context(tmp_path, "boot")


def test_limits_become_settings(context: Context) -> None:
    limits = {"max_queued": 7, "line_rate": {"count": 3, "per_ms": 50}}
    hub = ENDPOINT.settings_of(HubSection(limits=limits), context)
    assert (hub.secret, hub.auth, hub.max_queued) == (KNOWN, False, 7)
    assert hub.line_rate is not None
    assert hub.line_rate.per_ms == 50


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        ({"max_queue": 7}, "signalhub.limits has no max_queue"),
        ({"secret": "x"}, "signalhub.limits has no secret"),
        ({"token_keys": ["x"]}, "signalhub.limits has no token_keys"),
        ({"max_queued": "many"}, "signalhub.limits is wrong"),
    ],
)
def test_limits_that_cannot_be(context: Context, limits: dict[str, object], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        ENDPOINT.settings_of(HubSection(limits=limits), context)


def test_the_hub_has_the_address_that_is_configured(context: Context) -> None:
    def settings(**keys: object) -> HubSettings:
        return ENDPOINT.settings_of(HubSection(**keys), context)  # type: ignore[arg-type]

    assert settings().address == "@(cloudflare/signal-hub)"
    assert settings(address="@(east/hub)").address == "@(east/hub)"
    for wrong in ("", "hub", "@()", "@(a\nb)", "@(" + "x" * 600 + ")"):
        with pytest.raises(ConfigError, match=r"signalhub.address = .* looks like @\(cloud"):
            settings(address=wrong)
    with pytest.raises(ConfigError, match=r"signalhub.limits has no address"):
        settings(limits={"address": "@(east/hub)"})


def test_who_may_sign_tokens(context: Context, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.write_text(f"  {'s' * 32}\n")
    shared.chmod(0o600)
    hub = ENDPOINT.settings_of(HubSection(auth=Auth(secret_file=str(shared))), context)
    assert (hub.auth, hub.token_secrets, hub.token_keys) == (True, (b"s" * 32,), ())
    hub = ENDPOINT.settings_of(HubSection(auth=Auth(public_keys=("ab" * 32,))), context)
    assert hub.token_keys == (b"\xab" * 32,)


@pytest.mark.parametrize("key", ["", "xyz", "ab" * 31, "ab" * 33, "é" * 64])
def test_a_public_key_has_32_bytes(context: Context, key: str) -> None:
    with pytest.raises(ConfigError, match=r"is no Ed25519 public key; one has 32 bytes"):
        ENDPOINT.settings_of(HubSection(auth=Auth(public_keys=("ab" * 32, key))), context)


def test_a_hub_does_not_start_with_a_secret_that_is_none(context: Context, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="neither"):
        ENDPOINT.settings_of(HubSection(auth=Auth()), context)
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
            ENDPOINT.settings_of(HubSection(auth=Auth(secret_file=str(path))), context)


def test_what_it_lacks_before_others_may_reach_it() -> None:
    tls = Tls(certificate="a", key="b")
    assert HubSection().lack() == "TLS"
    assert HubSection(tls=tls).lack() == "authentication"
    assert HubSection(tls=tls, auth=Auth()).lack() == ""


def test_its_session_is_a_hub_and_its_link_grants_what_it_takes(context: Context) -> None:
    section = HubSection(max_connections=5)
    settings = ENDPOINT.settings_of(section, context)
    granted = section.limits_for(settings.max_message_size)
    assert granted.max_connections == 5
    assert granted.max_frame_size == 1_048_576
    assert isinstance(ENDPOINT.session(settings, Ids("boot")), HubSession)
