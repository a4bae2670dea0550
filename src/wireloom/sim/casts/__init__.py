"""The roles that machines can play: one module a protocol, which names them in `ROLES`."""

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Final

from wireloom import registry
from wireloom.sim.parts import Part


def _found() -> Mapping[str, type[Part]]:
    """The roles of all protocols that have any."""
    names = [f"{__name__}.{name}" for name in registry.NAMES]
    modules = [import_module(name) for name in names if find_spec(name) is not None]
    return {role.ROLE: role for module in modules for role in module.ROLES}


ROLES: Final = _found()
"""All roles by their names in scenarios."""
