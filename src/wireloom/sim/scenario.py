"""Scenarios: who takes part, what links are like, what goes wrong, and for how long.

A scenario is a TOML file. It is read as strictly as a node's configuration: what it does not know,
or what cannot be, is told in one sentence.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from math import isfinite
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from wireloom.sim.casts import ROLES
from wireloom.sim.network import Quality
from wireloom.sim.tables import Cast, Fault, Mobility, Table

MAX_SHARE: Final = 0.95
"""Of so many lost frames something still comes through."""

MAX_COUNT: Final = 100_000
_SHARES: Final = ("loss", "duplication", "reordering", "corruption", "truncation")
_AT: Final = re.compile(r"(?P<what>.*?)(?: - at `\$\.?(?P<where>.*)`)?", re.DOTALL)
_UNKNOWN: Final = re.compile(r"Object contains unknown field `(.*)`", re.DOTALL)


class ScenarioError(Exception):
    """A scenario that cannot be played."""


class Scenario(Table, frozen=True, kw_only=True):
    """A play, as it is written."""

    about: str
    """What it shows, in one sentence."""

    seconds: float = 300.0
    """How long it takes."""

    calm_seconds: float = 90.0
    """How much of that, at its end, nothing goes wrong in and nobody says anything."""

    cast: dict[str, Cast]
    """Who takes part."""

    links: Quality = Quality()
    """What links are like."""

    faults: dict[str, Fault] = {}
    """What goes wrong."""

    mobility: Mobility | None = None
    """Who is near whom; without it everybody reaches everybody."""


def load(path: Path, changes: Iterable[str] = ()) -> Scenario:
    """A scenario from its file, with changes like `links.loss=0.3`.

    Raises:
        ScenarioError: If it cannot be read, or something in it cannot be.
    """
    try:
        tables = tomllib.loads(path.read_text())
    except OSError as error:
        raise ScenarioError(f"{path} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ScenarioError(f"{path} is not TOML: {error}") from None
    for change in changes:
        _change(tables, change)
    scenario = scenario_of(tables)
    if scenario.mobility is not None and scenario.mobility.contacts:
        beside = str(path.parent / scenario.mobility.contacts)
        moved = msgspec.structs.replace(scenario.mobility, contacts=beside)
        scenario = msgspec.structs.replace(scenario, mobility=moved)
    return scenario


def scenario_of(tables: Mapping[str, Any]) -> Scenario:
    """A scenario from its tables.

    Raises:
        ScenarioError: If something in it cannot be.
    """
    try:
        scenario = msgspec.convert(tables, Scenario)
    except msgspec.ValidationError as error:
        raise ScenarioError(f"the scenario is wrong: {_explained(error)}") from None
    _check(scenario)
    return scenario


def text_of(scenario: Scenario) -> str:
    """The file of a scenario; what is as it would be anyway is left out."""
    tables: dict[str, Any] = {}
    for name in scenario.__struct_fields__:
        value = getattr(scenario, name)
        if isinstance(value, dict):
            tables |= {f"{name}.{key}": _said(one) for key, one in value.items()}
        elif isinstance(value, Struct):
            tables[name] = _said(value)
    head = {name: getattr(scenario, name) for name in ("about", "seconds", "calm_seconds")}
    lines = [f"{key} = {_toml(value)}" for key, value in head.items()]
    for name, table in tables.items():
        lines += ["", f"[{name}]", *(f"{key} = {_toml(value)}" for key, value in table.items())]
    return "\n".join(lines) + "\n"


def _said(table: Struct) -> dict[str, Any]:
    """The keys of a table whose values are not the default."""
    said: dict[str, Any] = {}
    for field in msgspec.structs.fields(table):
        value = getattr(table, field.name)
        if isinstance(value, Struct):
            said |= {f"{field.name}.{key}": one for key, one in _said(value).items()}
        elif value not in (field.default, {}):
            said[field.name] = value
    return said


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_toml(one)}" for key, one in value.items()) + "}"
    return msgspec.json.encode(value).decode()


def _change(tables: dict[str, Any], change: str) -> None:
    path, equals, text = change.partition("=")
    keys = path.split(".")
    if not (equals and all(keys)):
        raise ScenarioError(f"{change} changes nothing; write it like links.loss=0.3")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, KeyError):
        value = text
    table: Any = tables
    for key in keys[:-1]:
        table = table.setdefault(key, {})
        if not isinstance(table, dict):
            raise ScenarioError(f"{path} is set, but {key} is no table")
    table[keys[-1]] = value


def _explained(error: msgspec.ValidationError) -> str:
    found = _AT.fullmatch(str(error))
    what, where = (found["what"], found["where"] or "") if found else (str(error), "")
    unknown = _UNKNOWN.fullmatch(what)
    if unknown is not None:
        return f"{where or 'the file'} has no {unknown[1]}"
    return f"{where}: {what}" if where else what


def _check(scenario: Scenario) -> None:
    for name, share in ((f"links.{key}", getattr(scenario.links, key)) for key in _SHARES):
        _within(name, share, 0, MAX_SHARE)
    for key in ("delay_ms", "jitter_ms", "bandwidth", "mtu"):
        _within(f"links.{key}", getattr(scenario.links, key), 0, 1e12)
    _within("seconds", scenario.seconds, 1, 1e8)
    _within("calm_seconds", scenario.calm_seconds, 0, scenario.seconds)
    for name, cast in scenario.cast.items():
        _check_cast(f"cast.{name}", cast)
    for name, fault in scenario.faults.items():
        _within(f"faults.{name}.every_seconds", fault.every_seconds, 0.01, 1e8)
        _within(f"faults.{name}.for_seconds", fault.for_seconds, 0, 1e8)
        _within(f"faults.{name}.share", fault.share, 0, 1)
        if fault.who not in scenario.cast:
            raise ScenarioError(f"faults.{name}.who: {_nearest(fault.who, scenario.cast)}")


def _check_cast(name: str, cast: Cast) -> None:
    if cast.role not in ROLES:
        raise ScenarioError(f"{name}.role: {_nearest(cast.role, ROLES)}")
    _within(f"{name}.count", cast.count, 0, MAX_COUNT)
    _within(f"{name}.traffic.rate", cast.traffic.rate, 0, 1e6)
    _within(f"{name}.traffic.size", cast.traffic.size, 60, 1 << 20)
    known = ROLES[cast.role].kinds()
    for kind in cast.traffic.kinds:
        if kind not in known:
            raise ScenarioError(f"{name}.traffic.kinds: {_nearest(kind, known)}")
    ROLES[cast.role].check(name, cast.limits, ScenarioError)


def _within(name: str, value: float, least: float, most: float) -> None:
    if not (isfinite(value) and least <= value <= most):
        raise ScenarioError(f"{name} = {value} cannot be; it must be from {least:g} to {most:g}")


def _nearest(name: str, known: Iterable[str]) -> str:
    names = sorted(known)
    close = get_close_matches(name, names, 1)
    meant = f"did you mean {close[0]}?" if close else f"there is {', '.join(names) or 'none'}"
    return f"there is no {name}; {meant}"
