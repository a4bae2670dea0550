"""Who is connected, by name and by wildcard.

Wildcards stand for whole components (R16), so an index by each component finds all that match
without looking at others.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from wireloom.protocols.cthun.broker.clients import Client, Step
from wireloom.protocols.cthun.constants import WILDCARD, CloseCode
from wireloom.protocols.cthun.uris import Uri, split
from wireloom.wire.session import Close, Turn

_Index = dict[str, dict[str, Client]]
_NONE: Final[dict[str, Client]] = {}
_ANSWERS: Final = 16
_FEW: Final = 4
"""Answers to so many queries of so many patterns are remembered."""


class Inventory:
    """The associated clients by URI."""

    def __init__(self) -> None:
        self.clients: dict[str, Client] = {}
        self._by_name: _Index = {}
        self._by_type: _Index = {}
        self._answers: dict[frozenset[str], list[str]] = {}

    def add(self, uri: str, client: Client) -> None:
        """Puts a client under a URI, which is checked and free of wildcards."""
        name, type_ = split(uri)
        self._answers.clear()
        self.clients[uri] = client
        self._by_name.setdefault(name, {})[uri] = client
        self._by_type.setdefault(type_, {})[uri] = client

    def remove(self, client: Client) -> None:
        """Takes a client out, unless another has taken its place."""
        uri = client.uri
        if uri is None or self.clients.get(uri) is not client:
            return
        name, type_ = split(uri)
        self._answers.clear()
        del self.clients[uri]
        _drop(self._by_name, name, uri)
        _drop(self._by_type, type_, uri)

    def close(self, turn: Turn, client: Client, code: CloseCode, reason: str) -> None:
        """Takes a client out for good and ends its connection."""
        self.remove(client)
        client.advance(Step.CLOSE)
        turn.commands.append(Close(client.line, code.value, reason))

    def answer(self, queries: Iterable[str]) -> Sequence[str]:
        """What `connected` gives, found out once as long as nobody comes or goes."""
        key = frozenset(queries)
        known = self._answers.get(key)
        if known is None:
            known = self.connected(key)
            if len(key) <= _FEW:
                if len(self._answers) >= _ANSWERS:
                    self._answers.clear()
                self._answers[key] = known
        return known

    def connected(self, queries: Iterable[str]) -> list[str]:
        """The connected clients among `queries`, wildcards resolved, in order (R31).

        Each client is found by four different queries at most, so that takes no longer than to
        read the queries and to give the answer.
        """
        found: set[str] = set()
        for query in set(queries):
            uri = split(query)
            if WILDCARD in uri:
                found.update(self._matching(uri))
            elif query in self.clients:
                found.add(query)
        return sorted(found)

    def receivers(self, targets: Iterable[str]) -> Sequence[str]:
        """Whom a message goes to: all it names, connected or not, and all that match (R31)."""
        named = set(targets)
        wild = {target for target in named if WILDCARD in target}
        if not wild:
            return sorted(named)
        named -= wild
        return sorted(named.union(self.answer(wild))) if named else self.answer(wild)

    def _matching(self, query: Uri) -> dict[str, Client]:
        if query.common_name != WILDCARD:
            return self._by_name.get(query.common_name, _NONE)
        if query.type != WILDCARD:
            return self._by_type.get(query.type, _NONE)
        return self.clients


def _drop(index: _Index, component: str, uri: str) -> None:
    del index[component][uri]
    if not index[component]:
        del index[component]
