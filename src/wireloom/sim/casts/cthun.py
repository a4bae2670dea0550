"""The Cthun broker and its agents."""

from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from wireloom.protocols.cthun import codec
from wireloom.protocols.cthun.broker.session import BrokerSession
from wireloom.protocols.cthun.broker.settings import BrokerSettings
from wireloom.protocols.cthun.client import requests
from wireloom.protocols.cthun.client.errors import ExpiredError, RefusedError
from wireloom.protocols.cthun.client.requests import request
from wireloom.protocols.cthun.client.session import LINK, BrokerClientSession
from wireloom.protocols.cthun.client.settings import ClientSettings
from wireloom.protocols.cthun.messages import DestinationReport, ErrorMessage, Packet, TtlExpired
from wireloom.sim.clients import ASK_SECONDS, BACKOFF, Client
from wireloom.sim.ledger import Meant
from wireloom.sim.parts import converted
from wireloom.sim.servers import Server
from wireloom.wire.client.errors import ClientError
from wireloom.wire.ids import Ids
from wireloom.wire.outcome import Fate, Reason
from wireloom.wire.session import Session

TYPE: Final = "sim/line"
EVERYBODY: Final = "cth://*/agent"


def _uri(name: str) -> str:
    return f"cth://{name}/agent"


def _name(uri: str) -> str:
    return uri.removeprefix("cth://").removesuffix("/agent")


class Broker(Server):
    """A broker."""

    ROLE = "broker"
    PROTOCOL = "cthun"
    LINK = LINK
    SETTINGS = BrokerSettings
    GIVEN = {"trust_sender": True}
    BOUNDS = {
        "connections": "max_connection_count",
        "queued": "held_count",
        "queued_bytes": "held_size",
    }
    DRAINED = ("queued",)

    @classmethod
    def url(cls, name: str) -> str:
        """Where clients reach the server of a machine."""
        return f"wss://{name}/cthun"

    def session(self) -> Session:
        """The broker of a new life."""
        return BrokerSession(cast("BrokerSettings", self.settings), Ids(self.boot))

    def composed(self, raw: bytes) -> None:
        """Takes note of a message that expired while its sender was away."""
        match codec.decode(raw).data:
            case TtlExpired(id=about) if about in self.stage.ledger.messages:
                self.stage.ledger.messages[about].told = Fate.EXPIRED, None


class Agent(Client):
    """An agent at a broker."""

    ROLE = "agent"
    PROTOCOL = "cthun"
    SERVER = "broker"
    ACTS = ("report", "send", "everybody", "inventory")

    @classmethod
    def check(cls, name: str, limits: Mapping[str, Any], error: Callable[[str], Exception]) -> None:
        """Raises an error if these settings cannot be."""
        converted(ClientSettings, name, {"url": "", "uri": "", **limits}, error)

    def session(self) -> Session:
        """The agent of a new life."""
        settings = ClientSettings(
            url=Broker.url(self.server.name), uri=_uri(self.name), backoff=BACKOFF, **self.limits
        )
        return BrokerClientSession(settings, Ids(self.boot), self.random.random)

    def greet(self) -> None:
        """An agent is known as soon as it is connected."""

    def receives(self, message: object) -> None:
        """Takes a message of another agent."""
        if isinstance(message, Packet) and isinstance(message.data, bytes):
            self.takes(message.data.decode(errors="replace"), _name(message.envelope.sender))

    def learns(self, message_id: str, answer: object) -> None:
        """Takes note of what the broker has taken."""
        message = self.stage.ledger.messages.get(message_id)
        if message is not None and isinstance(answer, DestinationReport):
            message.promised.update(map(_name, answer.targets))

    def fate_of(self, error: ClientError) -> tuple[Fate, Reason | None] | None:
        """What an error of the broker says of a message."""
        if isinstance(error, ExpiredError):
            return Fate.EXPIRED, None
        if not isinstance(error, RefusedError):
            return None
        words = str(error)
        unproven = {
            "not authenticated": Reason.UNAUTHENTICATED,
            "not authorized": Reason.UNAUTHORIZED,
        }
        return Fate.REJECTED, next(
            (reason for text, reason in unproven.items() if text in words), Reason.MALFORMED
        )

    def overhears(self, raw: bytes) -> None:
        """Takes note of what the broker said on a connection that had ended."""
        match codec.decode(raw).data:
            case TtlExpired(id=about):
                self.fails(about, ExpiredError("expired", about))
            case ErrorMessage(id=str(about), description=words):
                self.fails(about, RefusedError(words, about))

    def destinations(self, message: Meant) -> list[tuple[str | None, tuple[str, ...]]]:
        """The agents that a message was for; of one for everybody, those that it went to."""
        names = message.targets or sorted(message.arrived.keys() | message.lost)
        return [(_uri(name), (name,)) for name in names] or [(EVERYBODY, ())]

    # What it does.

    def do_report(self) -> None:
        """Sends to another agent, and wants to know who gets it."""
        self._say(is_reported=True)

    def do_send(self) -> None:
        """Sends to another agent."""
        self._say(is_reported=False)

    def do_everybody(self) -> None:
        """Sends to whoever is connected."""
        message = self.means(self.next_id(), ())
        draft = requests.send([EVERYBODY], TYPE, message.content.encode(), self.wish.ttl_seconds)
        self.asks(request(message.id, draft, ASK_SECONDS))

    def do_inventory(self) -> None:
        """Asks who is connected."""
        draft = requests.inventory([EVERYBODY], ASK_SECONDS)
        self.asks(request(self.next_id(), draft, ASK_SECONDS))

    def _say(self, *, is_reported: bool) -> None:
        others = self.others()
        if not others:
            return
        other = self.random.choice(others)
        message = self.means(self.next_id(), [other])
        draft = requests.send_reported if is_reported else requests.send
        data = message.content.encode()
        made = draft([_uri(other.name)], TYPE, data, self.wish.ttl_seconds)
        self.asks(request(message.id, made, ASK_SECONDS))


ROLES: Final = (Broker, Agent)
