"""What the clients of all servers have in common when they play a part."""

from abc import abstractmethod
from typing import Final

from wireloom.performing.world import NS_PER_MS
from wireloom.sim.parts import REOPEN_NS, Part
from wireloom.wire.client.application import Answered, Arrived, Changed, Ended, Failed, Open
from wireloom.wire.client.backoff import Backoff
from wireloom.wire.client.states import State

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
        """Notes whom it talks to, once all are there."""
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
            case Failed(_, message_id) if message_id in self.stage.ledger.messages:
                self.stage.ledger.messages[message_id].failed = True
            case Failed(error):
                about = getattr(error, "about", None)
                if about in self.stage.ledger.messages:
                    self.stage.ledger.messages[about].failed = True
            case Changed(state):
                self._change(state)
            case Ended():
                world = self.stage.world
                world.later(world.now_ns + REOPEN_NS, self._ask, self.machine.session, Open())

    @abstractmethod
    def greet(self) -> None:
        """Asks for what it needs, when it is connected for the first time in a life."""

    @abstractmethod
    def receives(self, message: object) -> None:
        """Takes a message of others."""

    @abstractmethod
    def learns(self, message_id: str, answer: object) -> None:
        """Takes an answer."""

    def takes(self, text: str, sender: str) -> None:
        """Holds a message that arrived against the books."""
        ledger, broken = self.stage.ledger, self.stage.broken
        message = ledger.messages.get(text[1:37])
        if message is None or message.sender != sender:
            broken("authentic", f"{text:.60} from {sender} was never sent", self.name)
            return
        if message.content != text:
            broken("unaltered", f"{message.id} arrived as {text:.80}", self.name, sender)
        if message.targets and self.name not in message.targets:
            broken("addressed", f"{message.id} is for {message.targets}", self.name, sender)
        times = message.arrived.setdefault(self.name, [])
        times.append(self.stage.world.now_ns)
        server = self.server
        again = sum(at_ns >= message.at_ns for at_ns in server.crashes)
        if len(times) > 1 + again:
            words = f"{message.id} arrived {len(times)} times, and {server.name} died {again} times"
            broken("once", words, self.name, server.name)
        hearing = self.machine.hearing
        assert hearing is not None
        left_ms = server.machine.clock.shown_ns(hearing.sent_ns) // NS_PER_MS
        if left_ms > message.expires_ms:
            words = f"{message.id} left {left_ms - message.expires_ms} ms after it expired"
            broken("in_time", words, self.name, server.name)

    def _change(self, state: State) -> None:
        if state is not State.UP:
            self.up_since_ns = None
            return
        self.up_since_ns = self.stage.world.now_ns
        if not self._is_greeted:
            self._is_greeted = True
            self.greet()
