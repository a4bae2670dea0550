"""The Signal Hub and its clients."""

from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from wireloom.protocols.signalhub import codec
from wireloom.protocols.signalhub.client import requests
from wireloom.protocols.signalhub.client.errors import HubError
from wireloom.protocols.signalhub.client.faults import error_of
from wireloom.protocols.signalhub.client.requests import Draft, request
from wireloom.protocols.signalhub.client.session import LINK, HubClientSession
from wireloom.protocols.signalhub.client.settings import ClientSettings
from wireloom.protocols.signalhub.constants import ErrorCode
from wireloom.protocols.signalhub.hub.session import HubSession
from wireloom.protocols.signalhub.hub.settings import HubSettings
from wireloom.protocols.signalhub.messages import Application, DeliveryAck, Published
from wireloom.sim.clients import ASK_SECONDS, BACKOFF, Client
from wireloom.sim.ledger import Meant
from wireloom.sim.parts import converted
from wireloom.sim.servers import Server
from wireloom.wire.client.errors import ClientError
from wireloom.wire.ids import Ids
from wireloom.wire.outcome import Fate, Reason
from wireloom.wire.session import Session

SECRET: Final = b"what no client of a hub can guess"
TOPIC: Final = "news"
TYPE: Final = "sim:line"
NOBODY: Final = (Fate.REJECTED, Reason.UNKNOWN_DESTINATION)
_REASONS: Final = {
    ErrorCode.UNKNOWN_ACTOR: Reason.UNKNOWN_DESTINATION,
    ErrorCode.UNAUTHORIZED: Reason.UNAUTHORIZED,
    ErrorCode.RATE_LIMITED: Reason.RATE_LIMITED,
    ErrorCode.MESSAGE_TOO_LARGE: Reason.TOO_LARGE,
    ErrorCode.VERSION_MISMATCH: Reason.UNSUPPORTED_VERSION,
}
"""What the hub's errors mean in the books."""


def _address(name: str) -> str:
    return f"@({name})"


class Hub(Server):
    """A hub."""

    ROLE = "hub"
    PROTOCOL = "signalhub"
    LINK = LINK
    SETTINGS = HubSettings
    GIVEN = {"secret": SECRET}
    BOUNDS = {
        "connections": "max_lines",
        "registrations": "max_actors",
        "registration_bytes": "max_registrations_size",
        "subscriptions": "max_all_subscriptions",
        "queued": "max_all_queued",
        "queued_bytes": "max_queued_size",
        "seen_bytes": "seen_size",
    }
    DRAINED = ("queued", "pending")

    @classmethod
    def url(cls, name: str) -> str:
        """Where clients reach the server of a machine."""
        return f"ws://{name}/hub"

    def session(self) -> Session:
        """The hub of a new life."""
        return HubSession(cast("HubSettings", self.settings), Ids(self.boot))


class HubClient(Client):
    """An actor at a hub."""

    ROLE = "hub-client"
    PROTOCOL = "signalhub"
    SERVER = "hub"
    ACTS = ("send", "tell", "publish", "discover")

    @classmethod
    def check(cls, name: str, limits: Mapping[str, Any], error: Callable[[str], Exception]) -> None:
        """Raises an error if these settings cannot be."""
        known = {"url": "", "address": "", **limits}
        converted(ClientSettings, name, known, error)

    def session(self) -> Session:
        """The client of a new life."""
        settings = ClientSettings(
            url=Hub.url(self.server.name),
            address=_address(self.name),
            backoff=BACKOFF,
            **self.limits,
        )
        return HubClientSession(settings, Ids(self.boot), self.random.random)

    def greet(self) -> None:
        """Registers, and subscribes to what is published."""
        self._ask_for(requests.register(_address(self.name), ["sim"]))
        self._ask_for(requests.subscribe(TOPIC))

    def receives(self, message: object) -> None:
        """Takes a message of another actor."""
        if isinstance(message, Application):
            self.takes(str(message.payload), message.from_[2:-1])

    def learns(self, message_id: str, answer: object) -> None:
        """Takes note of what the hub has promised."""
        message = self.stage.ledger.messages.get(message_id)
        if message is not None and isinstance(answer, DeliveryAck):
            message.promised.update(message.targets)
        elif message is not None and isinstance(answer, Published):
            message.reached = answer.payload.subscriber_count > 0
            message.told = None if message.reached else NOBODY

    def fate_of(self, error: ClientError) -> tuple[Fate, Reason | None] | None:
        """What an error of the hub says of a message."""
        if not isinstance(error, HubError):
            return None
        if error.code in (ErrorCode.TIMEOUT, ErrorCode.MESSAGE_EXPIRED):
            return Fate.EXPIRED, None
        details = error.details if isinstance(error.details, dict) else {}
        if details.get("reason") == "invalid_message":
            return Fate.REJECTED, Reason.MALFORMED
        return Fate.REJECTED, _REASONS.get(error.code, Reason.INTERNAL)

    def overhears(self, raw: bytes) -> None:
        """Takes note of what the hub said on a connection that had ended."""
        message = codec.decode(raw)
        error = error_of(message)
        if error is not None:
            self.fails(error.about, error)
        elif isinstance(message, Published) and isinstance(message.correlation_id, str):
            self.learns(message.correlation_id, message)

    def destinations(self, message: Meant) -> list[tuple[str | None, tuple[str, ...]]]:
        """The actor that a message was for; of a publication, nobody by name."""
        names = message.targets
        return [(_address(name), (name,)) for name in names] or [(None, ())]

    # What it does.

    def do_send(self) -> None:
        """Sends to another actor, and waits for the hub's word."""
        self._say(requests.send)

    def do_tell(self) -> None:
        """Sends to another actor, and waits for nothing."""
        self._say(requests.tell)

    def do_publish(self) -> None:
        """Publishes; whoever is there gets it."""
        message = self.means(self.next_id(), (), ASK_SECONDS)
        draft = requests.publish(TOPIC, TYPE, message.content)
        self.asks(request(message.id, draft, ASK_SECONDS))

    def do_discover(self) -> None:
        """Looks for other actors."""
        self._ask_for(requests.discover("@(*)", 10))

    def _say(self, draft: Callable[..., Draft[Any]]) -> None:
        others = self.others()
        if not others:
            return
        other = self.random.choice(others)
        message = self.means(self.next_id(), [other], ASK_SECONDS)
        ttl_ms = int(self.wish.ttl_seconds * 1_000)
        made = draft(_address(other.name), TYPE, message.content, ttl_ms=ttl_ms)
        self.asks(request(message.id, made, ASK_SECONDS))

    def _ask_for(self, draft: Draft[Any]) -> None:
        self.asks(request(self.next_id(), draft, ASK_SECONDS))


ROLES: Final = (Hub, HubClient)
