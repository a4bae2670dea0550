"""Who is connected, who is known beyond a connection, and how far each connection is.

A connection takes only the steps of `TRANSITIONS`; a pair that is not in it is an error of the hub.
How connections begin, are kept alive and end is in `lifecycle`: it needs the parts of the hub that
all need this module.
"""

from enum import Enum, auto
from typing import Final

from wireloom.protocols.signalhub.envelope import SharedMessage
from wireloom.protocols.signalhub.hub.encodings import JSON, Encoding, WireText, wire_text
from wireloom.protocols.signalhub.hub.limits import Allowance, Allowances
from wireloom.protocols.signalhub.hub.settings import HubSettings
from wireloom.protocols.signalhub.messages import Send
from wireloom.wire.outcome import Outcome
from wireloom.wire.rates import Bucket
from wireloom.wire.session import Conclude, Line, Opened
from wireloom.wire.shares import network
from wireloom.wire.states import advance

_SEND: Final = str(Send.__struct_config__.tag)


class State(Enum):
    """How far a connection is."""

    OPENED = auto()
    """The client has not said who it is."""

    CONNECTED = auto()
    PAUSED = auto()
    """It reads too slowly: only answers are sent to it."""

    ENDED = auto()
    """The hub has ended it, or it went away; what still comes in is not looked at."""


class Input(Enum):
    """What moves a connection on."""

    RECV_CONNECT = auto()
    """A connect that holds came."""

    SEND_PAUSE = auto()
    SEND_RESUME = auto()
    SEND_CLOSE = auto()
    """The hub ends it."""

    RECV_CLOSE = auto()
    """It went away."""


TRANSITIONS: Final = {
    State.OPENED: {
        Input.RECV_CONNECT: State.CONNECTED,
        Input.SEND_CLOSE: State.ENDED,
        Input.RECV_CLOSE: State.ENDED,
    },
    State.CONNECTED: {
        Input.SEND_PAUSE: State.PAUSED,
        Input.SEND_CLOSE: State.ENDED,
        Input.RECV_CLOSE: State.ENDED,
    },
    State.PAUSED: {
        Input.SEND_RESUME: State.CONNECTED,
        Input.SEND_CLOSE: State.ENDED,
        Input.RECV_CLOSE: State.ENDED,
    },
    State.ENDED: {Input.RECV_CLOSE: State.ENDED},
}

_KNOWN: Final = frozenset({State.CONNECTED, State.PAUSED})


class Actor:
    """One identity: an address that a client proved or, without authentication, claimed."""

    __slots__ = ("address", "client", "names", "registrations", "subscriptions", "wire")

    def __init__(self, address: str) -> None:
        self.address = address
        self.wire = wire_text(address)
        self.client: Client | None = None
        self.registrations: set[str] = set()
        """The addresses it registered."""
        self.names: dict[str, WireText] = {address: self.wire}
        """What it may write in `from`: its own address, and those it registered (R16)."""
        self.subscriptions: dict[str, str] = {}
        """Its topics, by the ids of its subscriptions."""

    def enlist(self, address: str, text: WireText) -> None:
        """Notes an address that it registered."""
        self.registrations.add(address)
        self.names[address] = text

    def strike(self, address: str) -> None:
        """Forgets an address that it registered; its own name it keeps."""
        self.registrations.discard(address)
        if address != self.address:
            self.names.pop(address, None)

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to remember about it."""
        return self.client is None and not self.registrations and not self.subscriptions


class Client:
    """One connection, from the hub's side.

    Args:
        event: How it came up.
        settings: The hub's.
        name: What it is called in registrations.
        now_ms: The time.
    """

    __slots__ = (
        "accepted",
        "account",
        "actor",
        "address",
        "allowance",
        "bucket",
        "encoding",
        "ends_ms",
        "faults",
        "forwarded",
        "heard_ms",
        "id",
        "line",
        "sent",
        "state",
        "text",
        "to",
        "token",
        "tries",
    )

    def __init__(self, event: Opened, settings: HubSettings, name: str, now_ms: int) -> None:
        self.line = event.line
        self.token = event.token
        self.account = network(event.peer)
        """Whose share it takes what it keeps from: its actor's, if that was verified (R52)."""
        self.id = name
        self.state = State.OPENED
        self.speak(JSON)
        self.heard_ms = now_ms
        self.ends_ms: int | None = None
        """When its token ends."""
        self.tries = 0
        """Frames that came before it had said who it is."""
        self.bucket = Bucket.of(settings.line_rate)
        self.faults = Bucket.of(settings.fault_rate)
        self.allowance = Allowance(settings)
        self.actor = Actor(f"@(line/{event.line})")
        self.address = self.actor.address
        self.to = self.actor.wire[self.text]
        self.accepted = self.forwarded = self.sent = Conclude(Outcome.ACCEPTED)
        """What becomes of most frames, made once; the last is for sends, which come most often."""

    def advance(self, step: Input) -> None:
        """Takes a step.

        Raises:
            StateError: If its state does not allow it.
        """
        self.state = advance(TRANSITIONS, self.state, step)

    @property
    def is_known(self) -> bool:
        """Whether the client has said who it is, and is still there."""
        return self.state in _KNOWN

    def speak(self, encoding: Encoding) -> None:
        """Notes the encoding that the client is answered in."""
        self.encoding, self.text = encoding, encoding.text

    def name(self, message: SharedMessage) -> str:
        """In whose name a message speaks, and who is answered: as it says, if it may (R16)."""
        return message.from_ if message.from_ in self.actor.names else self.address

    def wire_name(self, message: SharedMessage) -> WireText:
        """The same name in both encodings."""
        return self.actor.names.get(message.from_) or self.actor.wire

    def identify(self, actor: Actor) -> None:
        """Notes whose connection it is."""
        self.advance(Input.RECV_CONNECT)
        self.actor, self.address = actor, actor.address
        self.to = actor.wire[self.text]
        self.accepted = Conclude(Outcome.ACCEPTED, None, actor.address)
        self.forwarded = Conclude(Outcome.FORWARDED, None, actor.address)
        self.sent = Conclude(Outcome.FORWARDED, None, actor.address, _SEND)


class Clients:
    """All connections and actors.

    Args:
        settings: The hub's.
    """

    def __init__(self, settings: HubSettings) -> None:
        self.lines: dict[Line, Client] = {}
        self.actors: dict[str, Actor] = {}
        self._allowances = Allowances(settings)
        self._is_verified = settings.auth

    def actor(self, address: str) -> Actor:
        """The actor of this address."""
        found = self.actors.get(address)
        if found is None:
            found = self.actors[address] = Actor(address)
        return found

    def attach(self, client: Client, address: str) -> Actor:
        """Makes a connection that of an actor."""
        actor = self.actor(address)
        actor.client = client
        client.allowance = self._allowances.of(address)
        if self._is_verified:
            client.account = address
        client.identify(actor)
        return actor

    def release(self, actor: Actor) -> None:
        """Forgets an actor about which there is nothing to remember."""
        if actor.is_idle:
            self.actors.pop(actor.address, None)
