"""The endpoints that a node can serve: one module each, which declares it as `ENDPOINT`."""

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Final

from wireloom import registry
from wireloom.live.endpoint import AnyEndpoint

FIRST: Final = ("signalhub", "cthun")
"""Endpoints that start first and are listed first; all others follow in the registry's order."""


@cache
def all_endpoints() -> tuple[AnyEndpoint, ...]:
    """The endpoints of all protocols that have one."""
    return tuple(import_module(name).ENDPOINT for name in _modules())


def _modules() -> Iterator[str]:
    """The modules that declare an endpoint: a protocol without such a module has none."""
    for name in (*FIRST, *(one for one in registry.NAMES if one not in FIRST)):
        module = registry.protocol(name).endpoint_module
        if find_spec(module) is not None:
            yield module
