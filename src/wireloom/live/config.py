"""What an operator sets: one TOML file, environment variables over it, options over both.

The file has a table for the node and one for each endpoint. A key's variable is its path in
capitals: `WIRELOOM_NODE_NAME`. Variables that are no text are written as in TOML.
"""

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from socket import gethostname
from types import UnionType
from typing import Any, Final, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Struct, field

from wireloom.capture.retention import Bounds, take_age
from wireloom.live.endpoint import LIMITS, AnyEndpoint, Endpoint, EndpointSection, Place
from wireloom.live.endpoints import all_endpoints
from wireloom.live.errors import ConfigError
from wireloom.live.plausible import explained, limit_objection, objection
from wireloom.live.sections import Address, Section, take_address
from wireloom.remote import RemotePath, any_path
from wireloom.wire.visible import visible

PREFIX: Final = "WIRELOOM_"
MIN_CAPTURE_BYTES: Final = 256 * 1024 * 1024
"""Less has no room for what is written at once."""

OTHER_VARIABLES: Final = frozenset(
    f"{PREFIX}{name}" for name in ("CONFIG", "HUB_URL", "BROKER_URL", "SWARM_PEER", "DEBUG")
)
"""What other commands read, and the name of the file itself."""

_NODE: Final = "node"
S = TypeVar("S", bound=EndpointSection)


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

    ship: str = ""
    """Where its sealed captures are sent: a folder, or a URL like `s3://bucket/captures`; empty:
    nowhere."""

    metrics: str = "127.0.0.1:9464"
    """Where `/metrics` and `/healthz` are served; empty: nowhere."""

    stop_seconds: float = 10.0
    """How long a stop in good order may take."""

    insecure_listen: bool = False
    """Whether endpoints may listen beyond this machine without authentication and TLS."""

    def metrics_address(self) -> Address | None:
        """Where the pages are served; None if nowhere.

        Raises:
            ConfigError: If that is no address.
        """
        return take_address(self.metrics, "node.metrics") if self.metrics else None


class Config(Struct, frozen=True, kw_only=True):
    """All that is set."""

    node: NodeSection = NodeSection()
    endpoints: Mapping[str, EndpointSection] = {}
    """The sections of endpoints by name; a missing one has its defaults."""

    def of(self, endpoint: Endpoint[S, Any]) -> S:
        """What is set of an endpoint."""
        section = self.endpoints.get(endpoint.name)
        return endpoint.section() if section is None else cast("S", section)


def load(
    path: Path | None,
    environ: Mapping[str, str],
    options: Mapping[tuple[str, ...], object],
    endpoints: Sequence[AnyEndpoint] | None = None,
) -> Config:
    """What is set by a file, then by the environment, then by options.

    Args:
        path: The file, if there is one.
        environ: The environment.
        options: By the path of their keys; None where an option was not given.
        endpoints: What can be served, if not the endpoints of all protocols.

    Raises:
        ConfigError: If it cannot be read, or something in it cannot be.
    """
    endpoints = all_endpoints() if endpoints is None else endpoints
    shape = _shape(endpoints)
    tables = {} if path is None else _read(path)
    for keys, value in _from_environment(environ, shape):
        _set(tables, keys, value)
    for keys, value in options.items():
        if value is not None:
            _set(tables, keys, value)
    try:
        whole = msgspec.convert(tables, shape)
    except msgspec.ValidationError as error:
        what = explained(error, dict(_tables(shape)))
        raise ConfigError(f"the configuration is wrong: {what}") from None
    sections = {endpoint.name: getattr(whole, endpoint.name) for endpoint in endpoints}
    config = Config(node=getattr(whole, _NODE), endpoints=sections)
    _check(config, endpoints)
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


def _shape(endpoints: Sequence[AnyEndpoint]) -> type[Section]:
    """The whole file as a section: its tables, with their defaults."""
    tables = [(endpoint.name, endpoint.section, endpoint.section()) for endpoint in endpoints]
    made = msgspec.defstruct(
        "File",
        [(_NODE, NodeSection, NodeSection()), *tables],
        bases=(Section,),
        frozen=True,
    )
    return cast("type[Section]", made)


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


def _from_environment(
    environ: Mapping[str, str], shape: type[Section]
) -> Iterator[tuple[tuple[str, ...], object]]:
    known = {PREFIX + "_".join(keys).upper(): (keys, kind) for keys, kind in _keys(shape)}
    for name, text in sorted(environ.items()):
        if name in known:
            keys, kind = known[name]
            yield keys, text if str in _kinds(kind) else _value(name, text)
        elif name.startswith(PREFIX) and name not in OTHER_VARIABLES:
            yield _limit(name, shape, known), _value(name, text)


def _limit(name: str, shape: type[Section], known: Iterable[str]) -> tuple[str, str, str]:
    """The keys of a variable that sets a limit of a session."""
    for section, kind in get_type_hints(shape).items():
        before = f"{PREFIX}{section}_{LIMITS}_".upper()
        if LIMITS in kind.__struct_fields__ and name.startswith(before) and name != before:
            return section, LIMITS, name.removeprefix(before).lower()
    raise ConfigError(f"there is nothing to set by {visible(name)}; {_meant(name, known)}")


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
        elif name != LIMITS:
            yield (name,), hints[name]


def _tables(section: type[Section], path: str = "") -> Iterator[tuple[str, tuple[str, ...]]]:
    """The keys of every table from a section on, by its path."""
    hints = get_type_hints(section)
    yield path, section.__struct_fields__
    for name in section.__struct_fields__:
        for kind in _kinds(hints[name]):
            below = f"{path}.{name}".lstrip(".")
            if _is_section(kind):
                yield from _tables(kind, below)
            elif get_origin(kind) is dict and _is_section(get_args(kind)[1]):
                yield from _tables(get_args(kind)[1], f"{below}[...]")


def _kinds(kind: Any) -> tuple[Any, ...]:
    """The types that a value may have."""
    return get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)


def _is_section(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Section)


def _check(config: Config, endpoints: Sequence[AnyEndpoint]) -> None:
    _check_numbers(_NODE, config.node)
    for endpoint in endpoints:
        _check_endpoint_numbers(endpoint, config.of(endpoint))
    capture_bounds(config.node)
    _check_places(config.node)
    for endpoint in endpoints:
        for place in endpoint.places(config.of(endpoint)):
            _check_place(place, endpoint.name, is_open=config.node.insecure_listen)
    metrics = config.node.metrics_address()
    if metrics and not metrics.is_local and not config.node.insecure_listen:
        raise ConfigError(
            f"node.metrics = {config.node.metrics} can be reached by others, and everyone may "
            "read it; listen on 127.0.0.1, or set insecure_listen"
        )


def _check_places(node: NodeSection) -> None:
    if isinstance(any_path(node.data), RemotePath):
        raise ConfigError(
            f"node.data = {node.data} is on object storage, and frames are captured on this "
            "machine only; name a folder, and set ship to send what is sealed"
        )
    target = any_path(node.ship)
    if isinstance(target, RemotePath) and not target.is_known:
        raise ConfigError(
            f"node.ship = {node.ship} is no place; write it like s3://bucket/captures"
        )
    own = Path(node.data) / "captures"
    if node.ship and isinstance(target, Path) and target.resolve() == own.resolve():
        raise ConfigError(f"node.ship = {node.ship} is where the captures lie already")


def _check_endpoint_numbers(endpoint: AnyEndpoint, section: EndpointSection) -> None:
    _check_numbers(endpoint.name, section)
    for place in endpoint.places(section):
        _check_numbers(place.name, place.section)
    for key, value in section.limits.items():
        why = limit_objection(value)
        if why is not None:
            raise ConfigError(f"{endpoint.name}.{LIMITS}.{key} = {why}")


def _check_numbers(name: str, section: Section | EndpointSection) -> None:
    for key in section.__struct_fields__:
        why = objection(key, getattr(section, key))
        if why is not None:
            raise ConfigError(f"{name}.{key} = {why}")


def _check_place(place: Place, endpoint: str, *, is_open: bool) -> None:
    """Refuses a link that cannot work, or that others could reach without what it needs."""
    section = place.section
    section.check(place.name)
    is_local = not section.listen or section.listens_at(place.name).is_local
    lack = "" if is_local or is_open else section.lack()
    if lack:
        raise ConfigError(
            f"{place.name}.listen = {section.listen} can be reached by others, and {endpoint} has "
            f"no {lack}; set it, listen on 127.0.0.1, or set insecure_listen"
        )
