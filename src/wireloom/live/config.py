"""What an operator sets: one TOML file, environment variables over it, options over both.

```toml
[node]
name = "east"
[signalhub]
listen = "127.0.0.1:8787"
[cthun]
listen = "0.0.0.0:8142"
tls = {certificate = "broker.pem", key = "broker.key", client_authority = "ca.pem"}
```

A key's variable is its path in capitals: `WIRELOOM_SIGNALHUB_LISTEN`. Variables that are no
text are written as in TOML.
"""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from ipaddress import ip_address
from pathlib import Path
from socket import gethostname
from types import UnionType
from typing import Any, Final, NamedTuple, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Struct, field

from wireloom.capture.retention import Bounds, take_age
from wireloom.live.links.handshake import is_loopback
from wireloom.live.plausible import explained, limit_objection, objection
from wireloom.protocols.signalhub.constants import HUB_ADDRESS
from wireloom.wire.visible import visible

PREFIX: Final = "WIRELOOM_"
MIN_CAPTURE_BYTES: Final = 256 * 1024 * 1024
"""Less has no room for what is written at once."""

ENDPOINTS: Final = ("signalhub", "cthun")
OTHER_VARIABLES: Final = frozenset(
    f"{PREFIX}{name}" for name in ("CONFIG", "HUB_URL", "BROKER_URL", "DEBUG")
)
"""What other commands read, and this file's own name."""

_LIMITS: Final = "limits"
_MAX_PORT: Final = 65_535


class ConfigError(Exception):
    """Something that was set cannot be; the text says what and why."""


class Section(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of the file."""


class Tls(Section, frozen=True):
    """What an endpoint secures its connections with."""

    certificate: str
    """The certificate and those between it and the root, PEM."""

    key: str
    """Its private key, PEM, not encrypted."""

    client_authority: str | None = None
    """Who vouches for clients' certificates, PEM."""


class Auth(Section, frozen=True):
    """What clients of the hub prove themselves with: tokens signed by one of these."""

    secret_file: str | None = None
    """A file with the secret of HS256 tokens; white space around it does not count."""

    public_keys: tuple[str, ...] = ()
    """Ed25519 keys of those who sign EdDSA tokens, hex."""


class NodeSection(Section, frozen=True):
    """The process as a whole."""

    name: str = field(default_factory=gethostname)
    """What its frames are captured under."""

    data: str = "wireloom-data"
    """Where captures, the store and the node's secret lie."""

    capture: bool = True
    """Whether frames are captured."""

    capture_max_bytes: int = 64 * 1024**3
    """How much of its captures this node keeps; 0: no bound."""

    capture_max_age: str = ""
    """For how long it keeps them: `12h`, `7d`; empty: no bound."""

    capture_tokens: bool = False
    """Whether they are captured with the tokens in them that let clients in."""

    metrics: str = "127.0.0.1:9464"
    """Where `/metrics` and `/healthz` are served; empty: nowhere."""

    stop_seconds: float = 10.0
    """How long a stop in good order may take."""

    insecure_listen: bool = False
    """Whether endpoints may listen beyond this machine without authentication and TLS."""


class EndpointSection(Section, frozen=True):
    """What the endpoints of all protocols have."""

    listen: str
    """Address and port; empty: the endpoint is off."""

    path: str
    """Where the WebSocket is."""

    origins: tuple[str, ...] = ()
    """Whose web pages may connect besides those of this machine: `https://example.com`."""

    tls: Tls | None = None
    """Without it connections are plain."""

    max_connections: int = 20_000
    """Further ones are refused."""

    max_strangers: int = 1_024
    """Connections that have not logged in yet; one address may have half of them."""

    stranger_rate: float = 20.0
    """Connections a second that one address may begin without logging in on them, ten times as
    many at once."""

    ping_seconds: float = 20.0
    """How long a connection may be silent before it is asked for a sign of life."""

    limits: dict[str, Any] = {}
    """The session's settings by name."""


class HubSection(EndpointSection, frozen=True):
    """The Signal Hub."""

    listen: str = "127.0.0.1:8787"
    path: str = "/hub"
    address: str = HUB_ADDRESS
    """The hub's own address, `@(…)`: what it signs its answers with, and nobody else may be."""

    auth: Auth | None = None
    """Without it clients are who they say they are."""


class BrokerSection(EndpointSection, frozen=True):
    """The Cthun broker."""

    listen: str = "127.0.0.1:8142"
    path: str = "/cthun"


class Config(Section, frozen=True):
    """All that can be set."""

    node: NodeSection = NodeSection()
    signalhub: HubSection = HubSection()
    cthun: BrokerSection = BrokerSection()


class Address(NamedTuple):
    """Where to listen."""

    host: str
    port: int

    @property
    def is_local(self) -> bool:
        """Whether only this machine reaches it."""
        return is_loopback(self.host)

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def load(
    path: Path | None, environ: Mapping[str, str], options: Mapping[tuple[str, str], object]
) -> Config:
    """What is set by a file, then by the environment, then by options.

    Args:
        path: The file, if there is one.
        environ: The environment.
        options: By section and key; None where an option was not given.

    Raises:
        ConfigError: If it cannot be read, or something in it cannot be.
    """
    tables = {} if path is None else _read(path)
    for keys, value in _from_environment(environ):
        _set(tables, keys, value)
    for (section, key), value in options.items():
        if value is not None:
            _set(tables, (section, key), value)
    try:
        config = msgspec.convert(tables, Config)
    except msgspec.ValidationError as error:
        told = explained(error, dict(_tables(Config)))
        raise ConfigError(f"the configuration is wrong: {told}") from None
    _check(config)
    return config


def capture_bounds(node: NodeSection) -> Bounds:
    """How much is captured, and for how long it is kept.

    Raises:
        ConfigError: If a bound cannot be.
    """
    if 0 != node.capture_max_bytes < MIN_CAPTURE_BYTES:
        raise ConfigError(
            f"node.capture_max_bytes = {node.capture_max_bytes} is too few; "
            f"write 0 for no bound, or at least {MIN_CAPTURE_BYTES}"
        )
    try:
        age = take_age(node.capture_max_age) if node.capture_max_age else None
    except ValueError as error:
        raise ConfigError(f"node.capture_max_age = {error}") from None
    return Bounds(node.capture_max_bytes or None, age)


def take_address(text: str, name: str) -> Address | None:
    """An address as it is written in the file; None if it is empty.

    Raises:
        ConfigError: If it is none.
    """
    if not text:
        return None
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not (colon and host and port.isdecimal() and int(port) <= _MAX_PORT):
        raise ConfigError(f"{name} = {text!r} is no address; write it like 127.0.0.1:8787")
    if ":" in host:
        try:
            ip_address(host)
        except ValueError:
            raise ConfigError(f"{name} = {text!r} is no address") from None
    return Address(host, int(port))


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text())
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not TOML: {error}") from None


def _set(tables: dict[str, Any], keys: tuple[str, ...], value: object) -> None:
    table = tables
    for key in keys[:-1]:
        table = table.setdefault(key, {})
        if not isinstance(table, dict):
            raise ConfigError(f"{'.'.join(keys)} is set, but {key} is no table")
    table[keys[-1]] = value


def _from_environment(environ: Mapping[str, str]) -> Iterator[tuple[tuple[str, ...], object]]:
    known = {PREFIX + "_".join(keys).upper(): (keys, kind) for keys, kind in _keys(Config)}
    for name, text in sorted(environ.items()):
        if name in known:
            keys, kind = known[name]
            yield keys, text if str in _kinds(kind) else _value(name, text)
        elif name.startswith(PREFIX) and name not in OTHER_VARIABLES:
            yield _limit(name, known), _value(name, text)


def _limit(name: str, known: Iterable[str]) -> tuple[str, str, str]:
    section, _, rest = name.removeprefix(PREFIX).lower().partition("_")
    mark, _, key = rest.partition("_")
    if mark != _LIMITS or not key or section not in ENDPOINTS:
        raise ConfigError(f"there is nothing to set by {visible(name)}; {_meant(name, known)}")
    return section, _LIMITS, key


def _meant(name: str, known: Iterable[str]) -> str:
    close = get_close_matches(name, known, 1)
    return f"did you mean {close[0]}?" if close else "a variable is a key in capitals"


def _value(name: str, text: str) -> object:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, KeyError):
        raise ConfigError(f"{name} = {text!r:.60} is no value as TOML has it") from None


def _keys(section: type[Section]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every key below a section, with its type."""
    hints = get_type_hints(section)
    for name in section.__struct_fields__:
        inner = [one for one in _kinds(hints[name]) if _is_section(one)]
        if inner:
            for keys, kind in _keys(inner[0]):
                yield (name, *keys), kind
        elif name != _LIMITS:
            yield (name,), hints[name]


def _tables(section: type[Section], path: str = "") -> Iterator[tuple[str, tuple[str, ...]]]:
    """The keys of every table from a section on, by its path."""
    hints = get_type_hints(section)
    yield path, section.__struct_fields__
    for name in section.__struct_fields__:
        for inner in filter(_is_section, _kinds(hints[name])):
            yield from _tables(inner, f"{path}.{name}".lstrip("."))


def _kinds(kind: Any) -> tuple[Any, ...]:
    """The types that a value may have."""
    return get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)


def _is_section(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Section)


def _check(config: Config) -> None:
    for name in Config.__struct_fields__:
        _check_numbers(name, getattr(config, name))
    capture_bounds(config.node)
    for name in ENDPOINTS:
        section: EndpointSection = getattr(config, name)
        if not section.path.startswith("/"):
            raise ConfigError(f"{name}.path = {section.path!r} does not begin with /")
        address = take_address(section.listen, f"{name}.listen")
        if address and not address.is_local and not config.node.insecure_listen:
            _check_secured(name, section)
    metrics = take_address(config.node.metrics, "node.metrics")
    if metrics and not metrics.is_local and not config.node.insecure_listen:
        raise ConfigError(
            f"node.metrics = {config.node.metrics} can be reached by others, and everyone may "
            "read it; listen on 127.0.0.1, or set insecure_listen"
        )


def _check_numbers(name: str, section: Section) -> None:
    for key in section.__struct_fields__:
        why = objection(key, getattr(section, key))
        if why is not None:
            raise ConfigError(f"{name}.{key} = {why}")
    for key, value in getattr(section, _LIMITS, {}).items():
        why = limit_objection(value)
        if why is not None:
            raise ConfigError(f"{name}.{_LIMITS}.{key} = {why}")


def _check_secured(name: str, section: EndpointSection) -> None:
    if section.tls is None:
        lacks = "TLS"
    elif isinstance(section, HubSection):
        lacks = "" if section.auth else "authentication"
    else:
        lacks = "" if section.tls.client_authority else "tls.client_authority"
    if lacks:
        raise ConfigError(
            f"{name}.listen = {section.listen} can be reached by others, and {name} has no "
            f"{lacks}; set it, listen on 127.0.0.1, or set insecure_listen"
        )
