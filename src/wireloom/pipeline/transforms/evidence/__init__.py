"""Fate rules, one file a protocol: which messages are accountable, and what proves their fate.

Only what is verified proves anything: a signature that holds, or a server's word as it leaves
the server. What a client sends *to* a server in the server's name is not the server's.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from types import MappingProxyType

from wireloom.pipeline.decoding import schema
from wireloom.pipeline.transforms.evidence.rows import Rules
from wireloom.registry import NAMES, protocol


@cache
def rules() -> Mapping[str, Rules]:
    """The rules of every protocol that has some, by its name."""
    found = {name: _rules(protocol(name).evidence_module) for name in NAMES}
    return MappingProxyType({name: one for name, one in found.items() if one is not None})


def _rules(module: str) -> Rules | None:
    """The rules in a module; None if there is no such module."""
    try:
        return import_module(module).RULES  # type: ignore[no-any-return]
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        return None


def columns() -> list[str]:
    """The columns of frames that the rules look at, fields of a struct by their path."""
    return _named(text for one in rules().values() for text in one.looks_at())


def accountable_columns() -> list[str]:
    """Those that tell which messages are accountable."""
    return _named(one.accountable.when for one in rules().values())


def app_type_columns() -> list[str]:
    """Those that tell what messages carry."""
    texts = [one.accountable.app_type for one in rules().values()]
    return _named(text for text in texts if text is not None)


def _named(texts: Iterable[str]) -> list[str]:
    known = set(schema().names)
    words = {word for text in texts for word in _words(text)}
    return sorted(word for word in words if word.partition(".")[0] in known)


def _words(sql: str) -> list[str]:
    """Names in SQL, dotted ones whole; functions and texts in quotes are none."""
    return re.findall(r"[a-z_]\w*(?:\.\w+)*(?![\w.]|\s*\()", re.sub(r"'[^']*'", "", sql))
