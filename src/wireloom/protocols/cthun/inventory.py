"""Who is connected, by name and by wildcard.

Wildcards stand for whole components (R16), so an index by each component finds all that match
without looking at others.
"""

from collections.abc import Iterable
from typing import Final

from wireloom.protocols.cthun.clients import Client, State
from wireloom.protocols.cthun.constants import WILDCARD, CloseCode
from wireloom.protocols.cthun.uris import Uri, is_wildcard, parse
from wireloom.wire.session import Close

_Index = dict[str, dict[str, Client]]
_NONE: Final[dict[str, Client]] = {}


class Inventory:
    """The associated clients by URI."""

    def __init__(self) -> None:
        self.clients: dict[str, Client] = {}
        self._by_name: _Index = {}
        self._by_type: _Index = {}

    def add(self, uri: str, client: Client) -> None:
        """Puts a client under a URI, which is checked and free of wildcards."""
        name, type_ = parse(uri)
        self.clients[uri] = client
        self._by_name.setdefault(name, {})[uri] = client
        self._by_type.setdefault(type_, {})[uri] = client

    def remove(self, client: Client) -> None:
        """Takes a client out, unless another has taken its place."""
        uri = client.uri
        if uri is None or self.clients.get(uri) is not client:
            return
        name, type_ = parse(uri)
        del self.clients[uri]
        _drop(self._by_name, name, uri)
        _drop(self._by_type, type_, uri)

    def close(self, client: Client, code: CloseCode, reason: str) -> Close:
        """Takes a client out for good; the command ends its connection."""
        self.remove(client)
        client.state = State.CLOSING
        client.ready = False
        return Close(client.line, code.value, reason)

    def connected(self, queries: Iterable[str]) -> list[str]:
        """The connected clients among `queries`, wildcards resolved, in order (R31)."""
        found: set[str] = set()
        for query in queries:
            if is_wildcard(query):
                found.update(self._matching(parse(query)))
            elif query in self.clients:
                found.add(query)
        return sorted(found)

    def receivers(self, targets: Iterable[str]) -> list[str]:
        """Whom a message goes to: all it names, connected or not, and all that match (R31)."""
        named, wild = set(), []
        for target in targets:
            if is_wildcard(target):
                wild.append(target)
            else:
                named.add(target)
        return sorted(named.union(self.connected(wild)))

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
