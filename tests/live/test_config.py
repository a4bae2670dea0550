"""What an operator sets."""

from pathlib import Path

import pytest

from live.echoes import SWITCHBOARD, TCP
from wireloom.live.config import Config, NodeSection, capture_bounds, load
from wireloom.live.endpoints import cthun, signalhub
from wireloom.live.endpoints.cthun import BrokerSection
from wireloom.live.endpoints.signalhub import HubSection
from wireloom.live.errors import ConfigError
from wireloom.live.links.sections import Tls
from wireloom.live.sections import Address

SECURE = """
[node]
name = "east"
[signalhub]
listen = "0.0.0.0:8787"
tls = {certificate = "hub.pem", key = "hub.key"}
auth = {secret_file = "jwt.secret"}
limits = {max_queued = 5, line_rate = {count = 1, per_ms = 10}}
[cthun]
listen = "[::]:8142"
[cthun.tls]
certificate = "broker.pem"
key = "broker.key"
client_authority = "ca.pem"
"""


def loaded(text: str = "", environ: dict[str, str] | None = None, **options: object) -> Config:
    path = None
    if text:
        path = Path("wireloom.toml")
        path.write_text(text)
    keys = {tuple(name.split("_", 1)): value for name, value in options.items()}
    return load(path, environ or {}, keys)


def hub(config: Config) -> HubSection:
    return config.of(signalhub.ENDPOINT)


def broker(config: Config) -> BrokerSection:
    return config.of(cthun.ENDPOINT)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_without_anything_all_listen_on_this_machine() -> None:
    config = loaded()
    assert (hub(config).listen, hub(config).path) == ("127.0.0.1:8787", "/hub")
    assert (broker(config).listen, broker(config).path) == ("127.0.0.1:8142", "/cthun")
    assert config.node.metrics == "127.0.0.1:9464"
    assert config.node.name
    assert hub(config).auth is None


def test_a_file_is_read() -> None:
    config = loaded(SECURE)
    assert config.node.name == "east"
    assert hub(config).limits == {"max_queued": 5, "line_rate": {"count": 1, "per_ms": 10}}
    assert broker(config).tls == Tls(
        certificate="broker.pem", key="broker.key", client_authority="ca.pem"
    )


def test_variables_go_over_the_file_and_options_over_both() -> None:
    environ = {
        "WIRELOOM_NODE_NAME": "007",
        "WIRELOOM_NODE_CAPTURE": "false",
        "WIRELOOM_NODE_STOP_SECONDS": "2.5",
        "WIRELOOM_SIGNALHUB_LISTEN": "127.0.0.1:1",
        "WIRELOOM_SIGNALHUB_ORIGINS": '["https://a.example"]',
        "WIRELOOM_SIGNALHUB_LIMITS_MAX_QUEUED": "6",
        "WIRELOOM_CTHUN_TLS_KEY": "other.key",
        "WIRELOOM_DEBUG": "1",
        "WIRELOOM_HUB_URL": "ws://127.0.0.1:1/hub",
        "HOME": "/",
    }
    config = loaded(SECURE, environ, signalhub_listen="127.0.0.1:2", cthun_listen=None)
    assert config.node.name == "007"
    assert config.node.capture is False
    assert config.node.stop_seconds == 2.5
    assert hub(config).listen == "127.0.0.1:2"
    assert hub(config).origins == ("https://a.example",)
    assert hub(config).limits["max_queued"] == 6
    assert broker(config).listen == "[::]:8142"
    tls = broker(config).tls
    assert tls is not None
    assert tls.key == "other.key"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[node", "wireloom.toml is not TOML"),
        ("[nod]\nname = 'x'", r"the file has no nod; did you mean node\?"),
        ("[node]\nlabl = 'x'", "node has no labl; there is capture, .*, stop_seconds"),
        (
            "[cthun]\ntls = {certificat_ = 'x'}",
            r"cthun.tls has no certificat_; did you mean certificate\?",
        ),
        ("[signalhub]\nlisten = 8787", "signalhub.listen: Expected `str`, got `int`"),
        (
            "[signalhub]\nping_seconds = 0",
            "signalhub.ping_seconds = 0.0 cannot work; it must be from",
        ),
        ("[signalhub]\nping_seconds = nan", "signalhub.ping_seconds = nan cannot work"),
        (
            "[uep12.swarms.tea]\nlistn = 'x'",
            r"uep12.swarms\[...\] has no listn; did you mean listen\?",
        ),
        ("[uep12.swarms.tea]\nping_seconds = 0", "uep12.swarms.tea.ping_seconds = 0.0 cannot work"),
        ("[cthun]\nping_seconds = -1", "cthun.ping_seconds = -1.0 cannot work"),
        ("[cthun]\nping_seconds = inf", "cthun.ping_seconds = inf cannot work"),
        ("[cthun]\nmax_connections = 0", "cthun.max_connections = 0 cannot work"),
        ("[cthun]\nmax_strangers = 0", "cthun.max_strangers = 0 cannot work"),
        ("[cthun]\nstranger_rate = 0", "cthun.stranger_rate = 0.0 cannot work"),
        ("[node]\nstop_seconds = nan", "node.stop_seconds = nan cannot work"),
        ("[node]\nstop_seconds = -3", "node.stop_seconds = -3.0 cannot work"),
        ("[cthun]\nlimits = {idle_timeout_ms = -1}", "idle_timeout_ms = -1 cannot work"),
        ("[cthun]\nlimits = {idle_timeout_ms = nan}", "idle_timeout_ms = nan is no limit"),
        ("[signalhub]\nlisten = '8787'", "signalhub.listen = '8787' is no address"),
        ("[signalhub]\nlisten = 'x:99999'", "no address"),
        ("[signalhub]\nlisten = '1:2:3:4'", "no address"),
        ("[cthun]\npath = 'cthun'", "does not begin with /"),
        ("[cthun]\ntls = {key = 'x'}", "missing required field `certificate`"),
    ],
)
def test_what_cannot_be_is_told_in_one_sentence(text: str, told: str) -> None:
    with pytest.raises(ConfigError, match=told) as error:
        loaded(text)
    assert "\n" not in str(error.value)


def test_a_file_that_cannot_be_read() -> None:
    with pytest.raises(ConfigError, match=r"missing.toml cannot be read: No such file"):
        load(Path("missing.toml"), {}, {})
    Path("binary.toml").write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="not TOML"):
        load(Path("binary.toml"), {}, {})


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        (
            "WIRELOOM_SIGNALHUB_LISTN",
            "127.0.0.1:1",
            r"nothing to set by WIRELOOM_SIGNALHUB_LISTN; did you mean WIRELOOM_SIGNALHUB_LISTEN\?",
        ),
        ("WIRELOOM_HUB_AUTH_SECRET_FILE", "x", "did you mean WIRELOOM_SIGNALHUB_AUTH_SECRET_FILE"),
        ("WIRELOOM_", "x", "nothing to set by WIRELOOM_"),
        ("WIRELOOM_QQQQQQQQQQQQQQQQQQ", "x", "QQQQ; a variable is a key in capitals"),
        ("WIRELOOM_NODE_LIMITS_X", "1", "nothing to set"),
        ("WIRELOOM_CTHUN_LIMITS_", "1", "nothing to set"),
        ("WIRELOOM_NODE_CAPTURE", "maybe", "no value as TOML has it"),
        ("WIRELOOM_NODE_CAPTURE", "1\nx = 2", "got `int`"),
    ],
)
def test_variables_that_cannot_be(name: str, value: str, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        loaded(environ={name: value})


def test_a_variable_below_something_that_is_no_table() -> None:
    with pytest.raises(ConfigError, match="tls is no table"):
        loaded("[cthun]\ntls = 3", {"WIRELOOM_CTHUN_TLS_KEY": "x"})


@pytest.mark.parametrize(
    ("text", "lacks"),
    [
        ("[signalhub]\nlisten = '0.0.0.0:1'", "signalhub has no TLS"),
        (
            "[signalhub]\nlisten = '0.0.0.0:1'\ntls = {certificate = 'a', key = 'b'}",
            "signalhub has no authentication",
        ),
        ("[cthun]\nlisten = '[::]:1'", "cthun has no TLS"),
        (
            "[cthun]\nlisten = 'example.com:1'\ntls = {certificate = 'a', key = 'b'}",
            "cthun has no tls.client_authority",
        ),
        ("[node]\nmetrics = '0.0.0.0:1'", "everyone may read it"),
    ],
)
def test_nobody_listens_beyond_this_machine_unsecured_by_accident(text: str, lacks: str) -> None:
    with pytest.raises(ConfigError, match=lacks):
        loaded(text)
    assert loaded(text, node_insecure_listen=True).node.insecure_listen


def test_the_pages_are_somewhere_or_nowhere() -> None:
    assert NodeSection(metrics="").metrics_address() is None
    assert NodeSection(metrics="[::1]:80").metrics_address() == Address("::1", 80)


def test_sections_that_are_not_given_have_their_defaults() -> None:
    assert hub(Config()) == HubSection()
    assert broker(Config()) == BrokerSection()


def test_captures_have_a_quota_and_an_age(tmp_path: Path) -> None:
    assert capture_bounds(NodeSection()) == (64 * 1024**3, None)
    set_ = NodeSection(capture_max_bytes=0, capture_max_age="7d")
    assert capture_bounds(set_) == (None, 604_800.0)


@pytest.mark.parametrize(
    ("set_", "said"),
    [
        ({"capture_max_bytes": 5}, "write 0 for no bound, or at least 268435456"),
        ({"capture_max_bytes": -1}, "write 0 for no bound"),
        ({"capture_max_age": "soon"}, "node.capture_max_age = 'soon' is no age; write it like"),
    ],
)
def test_a_bound_of_captures_that_cannot_be_is_refused(
    tmp_path: Path, set_: dict[str, object], said: str
) -> None:
    with pytest.raises(ConfigError, match=said):
        load(None, {}, {("node", key): value for key, value in set_.items()})


def test_any_endpoints_can_be_configured() -> None:
    Path("x.toml").write_text(
        "[tcpecho]\ngreeting = 'hi'\nmax_connections = 3\n"
        "[switchboard.udp]\nlisten = '127.0.0.1:1'\n"
    )
    environ = {
        "WIRELOOM_SWITCHBOARD_TCP_LISTEN": "127.0.0.1:2",
        "WIRELOOM_SWITCHBOARD_LIMITS_MAX_MESSAGE_SIZE": "7",
    }
    options: dict[tuple[str, ...], object] = {("switchboard", "udp", "max_connections"): 9}
    config = load(Path("x.toml"), environ, options, [TCP, SWITCHBOARD])
    assert (config.of(TCP).greeting, config.of(TCP).max_connections) == ("hi", 3)
    both = config.of(SWITCHBOARD)
    assert (both.tcp.listen, both.udp.listen) == ("127.0.0.1:2", "127.0.0.1:1")
    assert (both.udp.max_connections, both.limits) == (9, {"max_message_size": 7})


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({("signalhub", "listen"): ""}, "the file has no signalhub; there is node, switchboard, t"),
        ({("tcpecho", "path"): "/"}, "tcpecho has no path"),
        ({("tcpecho", "tls"): {}}, "tcpecho has no tls"),
        ({("switchboard", "listen"): ""}, "switchboard has no listen"),
        ({("switchboard", "udp", "listen"): "1"}, "switchboard.udp.listen = '1' is no address"),
        ({("switchboard", "tcp", "ping_seconds"): 0}, "switchboard.tcp.ping_seconds = 0"),
        (
            {("switchboard", "udp", "listen"): "0.0.0.0:1"},
            "switchboard.udp.listen = 0.0.0.0:1 can be reached by others, and switchboard has no "
            "authentication",
        ),
    ],
)
def test_what_endpoints_do_not_have_is_refused(
    options: dict[tuple[str, ...], object], told: str
) -> None:
    with pytest.raises(ConfigError, match=told):
        load(None, {}, options, [TCP, SWITCHBOARD])


@pytest.mark.parametrize("ship", ["s3://bucket/captures", "gs://bucket/captures", "/mnt/shared"])
def test_captures_are_shipped_to_a_folder_or_object_storage(ship: str) -> None:
    assert loaded(f'[node]\nship = "{ship}"\n').node.ship == ship


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('ship = "gopher://x"', "node.ship = gopher://x is no place; write it like s3://"),
        ('ship = "wireloom-data/captures"', "is where the captures lie already"),
        ('data = "s3://bucket/lake"', "node.data = s3://bucket/lake is on object storage"),
    ],
)
def test_a_place_that_cannot_be_is_refused(text: str, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        loaded(f"[node]\n{text}\n")
