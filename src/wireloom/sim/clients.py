"""What the clients of all servers have in common when they play a part."""

from abc import abstractmethod
from typing import Final

from wireloom.performing.world import NS_PER_MS
from wireloom.sim.parts import REOPEN_NS, Part
from wireloom.wire.client.application import Answered, Arrived, Changed, Ended, Failed, Open
from wireloom.wire.client.backoff import Backoff
from wireloom.wire.client.errors import ClientError
from wireloom.wire.client.states import State
from wireloom.wire.outcome import Fate, Reason

BACKOFF: Final = Backoff(first_seconds=0.5, most_seconds=5, tries=1_000)
"""Clients that come back soon: what a scenario is about happens often."""

ASK_SECONDS: Final = 10.0
"""How long an application waits for an answer."""


class Client(Part):
    """A client that is connected for as long as its machine runs."""

    SERVER: str
    """The role of its server."""

    _is_greeted = False

    def settle_in(self) -> None:
        """It has no connection yet."""
        self.up_since_ns: int | None = None

    @property
    def server(self) -> Part:
        """Its server; machines are dealt out to servers in turn."""
        servers = self.stage.of_role(self.SERVER)
        return servers[self.machine.number % len(servers)]

    def wake(self) -> None:
        """Connects."""
        self._is_greeted = False
        self.up_since_ns = None
        self.asks(Open())

    def hears(self, item: object) -> None:
        """Takes what the session tells."""
        match item:
            case Arrived(message):
                self.receives(message)
            case Answered(message_id, answer):
                self.learns(message_id, answer)
            case Failed(error, message_id):
                self.fails(message_id or getattr(error, "about", None), error)
            case Changed(state):
                self._change(state)
            case Ended():
                world = self.stage.world
                world.later(world.now_ns + REOPEN_NS, self._ask, self.machine.session, Open())

    @abstractmethod
    def greet(self) -> None:
        """Asks for what it needs, when it is connected for the first time in a life."""

    @abstractmethod
    def fate_of(self, error: ClientError) -> tuple[Fate, Reason | None] | None:
        """What an error that the server told says of a message; None if it says nothing."""

    @abstractmethod
    def overhears(self, raw: bytes) -> None:
        """Takes note of what the server said on a connection that had ended."""

    @abstractmethod
    def receives(self, message: object) -> None:
        """Takes a message of others."""

    @abstractmethod
    def learns(self, message_id: str, answer: object) -> None:
        """Takes an answer."""

    def misses(self, raw: bytes) -> None:
        """Takes note of a frame that was under way when its connection ended."""
        super().misses(raw)
        self.overhears(raw)

    def fails(self, about: str | None, error: ClientError) -> None:
        """Takes note of a message that failed."""
        message = self.stage.ledger.messages.get(about or "")
        if message is not None:
            message.failed = True
            message.told = message.told or self.fate_of(error)

    def takes(self, text: str, sender: str) -> None:
        """Holds a message that arrived against the books."""
        message, server = self.recognises(text, sender), self.server
        if message is None:
            return
        self.counts(message, server)
        hearing = self.machine.hearing
        assert hearing is not None
        left_ms = server.machine.clock.shown_ns(hearing.sent_ns) // NS_PER_MS
        if left_ms > message.expires_ms:
            words = f"{message.id} left {left_ms - message.expires_ms} ms after it expired"
            self.stage.broken("in_time", words, self.name, server.name)

    def _change(self, state: State) -> None:
        if state is not State.UP:
            self.up_since_ns = None
            return
        self.up_since_ns = self.stage.world.now_ns
        if not self._is_greeted:
            self._is_greeted = True
            self.greet()
