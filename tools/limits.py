"""The limits of the servers' sessions, for the docs: name, default and meaning."""

import ast
import inspect
from importlib import import_module
from types import ModuleType
from typing import Any, Final

import msgspec

from wireloom.live.endpoint import AnyEndpoint
from wireloom.live.endpoints import all_endpoints

SEE_CONSTANTS: Final = "see the constants"
MANY: Final = 100


def limit_tables() -> str:
    """A table for the limits of each server."""
    return "\n".join(map(_table, all_endpoints()))


def _table(endpoint: AnyEndpoint) -> str:
    settings, limits = endpoint.settings, endpoint.limits()
    own, of_constants = _strings(settings, 1), _strings(_constants(settings), MANY)
    sources = _sources(settings)
    lines = [f"### {endpoint.name}.limits", "", "| key | default | what |", "|---|---|---|"]
    for field in msgspec.structs.fields(settings):
        if field.name in limits:
            meaning = own.get(field.name, "")
            if not meaning or SEE_CONSTANTS in meaning:
                meaning = of_constants.get(sources[field.name], "")
            lines.append(f"| `{field.name}` | {_default(field.default)} | {meaning} |")
    return "\n".join([*lines, ""])


def _constants(settings: type[Any]) -> ModuleType:
    """The constants of the protocol whose session has these settings."""
    protocol = settings.__module__.rsplit(".", 2)[0]
    return import_module(f"{protocol}.constants")


def _default(value: object) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return f"`{msgspec.json.encode(value).decode()}`"


def _strings(of: Any, count: int) -> dict[str, str]:
    """The string under each name, on one line; it is about so many names above it."""
    found: dict[str, str] = {}
    names: list[str] = []
    for node in _body(of):
        match node:
            case ast.AnnAssign(target=ast.Name(id=str(name))):
                names.append(name)
            case ast.Expr(value=ast.Constant(value=str(text))):
                found |= dict.fromkeys(names[-count:], " ".join(text.split()).replace("|", "\\|"))
                names.clear()
            case _:
                names.clear()
    return found


def _sources(settings: type[Any]) -> dict[str, str]:
    """The constant that each default is."""
    return {
        node.target.id: node.value.attr if isinstance(node.value, ast.Attribute) else node.value.id
        for node in _body(settings)
        if isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and isinstance(node.value, ast.Attribute | ast.Name)
    }


def _body(of: Any) -> list[ast.stmt]:
    tree = ast.parse(inspect.getsource(of))
    first = tree.body[0]
    return first.body if isinstance(first, ast.ClassDef) and len(tree.body) == 1 else tree.body
