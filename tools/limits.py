"""The limits of the servers' sessions, for the docs: name, default and meaning."""

import ast
import inspect
from types import ModuleType
from typing import Any, Final

import msgspec

from wireloom.protocols.cthun import constants as cthun_constants
from wireloom.protocols.cthun.broker.settings import BrokerSettings
from wireloom.protocols.signalhub import constants as hub_constants
from wireloom.protocols.signalhub.hub.settings import HubSettings

NOT_LIMITS: Final = {"secret", "auth", "address", "token_secrets", "token_keys", "trust_sender"}
"""What follows from other keys of the configuration."""

SEE_CONSTANTS: Final = "see the constants"
MANY: Final = 100


def limit_tables() -> str:
    """A table for the limits of each server."""
    hub = _table("signalhub.limits", HubSettings, hub_constants)
    return f"{hub}\n{_table('cthun.limits', BrokerSettings, cthun_constants)}"


def _table(name: str, settings: type[Any], constants: ModuleType) -> str:
    own, of_constants = _strings(settings, 1), _strings(constants, MANY)
    sources = _sources(settings)
    lines = [f"### {name}", "", "| key | default | what |", "|---|---|---|"]
    for field in msgspec.structs.fields(settings):
        if field.name not in NOT_LIMITS:
            meaning = own.get(field.name, "")
            if not meaning or SEE_CONSTANTS in meaning:
                meaning = of_constants.get(sources[field.name], "")
            lines.append(f"| `{field.name}` | {_default(field.default)} | {meaning} |")
    return "\n".join([*lines, ""])


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
