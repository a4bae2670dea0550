"""Who is connected, and who is known beyond a connection."""

from enum import Enum, auto

from wireloom.protocols.signalhub.envelope import SharedMessage
from wireloom.protocols.signalhub.hub.dialects import JSON, Dialect, Written, written
from wireloom.protocols.signalhub.hub.limits import Allowance, Allowances, Bucket
from wireloom.protocols.signalhub.hub.settings import HubSettings
from wireloom.protocols.signalhub.messages import Send
from wireloom.wire.outcome import Outcome
from wireloom.wire.session import Conclude, Line, Opened
from wireloom.wire.shares import network

_SEND = str(Send.__struct_config__.tag)


class State(Enum):
    """How far a connection is."""

    OPENED = auto()
    """It has not said who it is."""

    CONNECTED = auto()
    ENDED = auto()
    """The hub has ended it; what still comes in is not looked at."""


class Actor:
    """One identity: an address that a client proved or, without authentication, claimed."""

    __slots__ = ("address", "connection", "names", "registrations", "subscriptions", "written")

    def __init__(self, address: str) -> None:
        self.address = address
        self.written = written(address)
        self.connection: Connection | None = None
        self.registrations: set[str] = set()
        """The addresses it registered."""
        self.names: dict[str, Written] = {address: self.written}
        """What it may write in `from`: its own address, and those it registered (R16)."""
        self.subscriptions: dict[str, str] = {}
        """Its topics, by the ids of its subscriptions."""

    def enlist(self, address: str, text: Written) -> None:
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
        return self.connection is None and not self.registrations and not self.subscriptions


class Connection:
    """One line, from the hub's side."""

    __slots__ = (
        "accepted",
        "account",
        "actor",
        "address",
        "allowance",
        "bucket",
        "dialect",
        "ends_ms",
        "faults",
        "forwarded",
        "heard_ms",
        "id",
        "line",
        "opened_ms",
        "paused",
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
        self.opened_ms = self.heard_ms = now_ms
        self.ends_ms: int | None = None
        """When its token ends."""
        self.paused = False
        self.tries = 0
        """Frames that came before it had said who it is."""
        self.bucket = Bucket(settings.line_rate)
        self.faults = Bucket(settings.fault_rate)
        self.allowance = Allowance(settings)
        self.actor = Actor(f"@(line/{event.line})")
        self.address = self.actor.address
        self.to = self.actor.written[self.text]
        self.accepted = self.forwarded = self.sent = Conclude(Outcome.ACCEPTED)
        """What becomes of most frames, made once; the last is for sends, which come most often."""

    def speak(self, dialect: Dialect) -> None:
        """Notes the encoding that the client is answered in."""
        self.dialect, self.text = dialect, dialect.text

    def name(self, message: SharedMessage) -> str:
        """In whose name a message speaks, and who is answered: as it says, if it may (R16)."""
        return message.from_ if message.from_ in self.actor.names else self.address

    def voice(self, message: SharedMessage) -> Written:
        """The same name in both encodings."""
        return self.actor.names.get(message.from_) or self.actor.written

    def identify(self, actor: Actor) -> None:
        """Notes whose connection it is."""
        self.state = State.CONNECTED
        self.actor, self.address = actor, actor.address
        self.to = actor.written[self.text]
        self.accepted = Conclude(Outcome.ACCEPTED, None, actor.address)
        self.forwarded = Conclude(Outcome.FORWARDED, None, actor.address)
        self.sent = Conclude(Outcome.FORWARDED, None, actor.address, _SEND)


class Roster:
    """All lines and actors."""

    def __init__(self, settings: HubSettings) -> None:
        self.lines: dict[Line, Connection] = {}
        self.actors: dict[str, Actor] = {}
        self._allowances = Allowances(settings)
        self._is_verified = settings.auth

    def actor(self, address: str) -> Actor:
        """The actor of this address."""
        found = self.actors.get(address)
        if found is None:
            found = self.actors[address] = Actor(address)
        return found

    def attach(self, connection: Connection, address: str) -> Actor:
        """Makes a connection that of an actor."""
        actor = self.actor(address)
        actor.connection = connection
        connection.allowance = self._allowances.of(address)
        if self._is_verified:
            connection.account = address
        connection.identify(actor)
        return actor

    def release(self, actor: Actor) -> None:
        """Forgets an actor about which there is nothing to remember."""
        if actor.is_idle:
            self.actors.pop(actor.address, None)
