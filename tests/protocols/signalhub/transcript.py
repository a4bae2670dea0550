"""A hub and its clients as a transcript: who says what, and who hears what then.

    hub = Transcript()
    ada, bob = hub.client("@(a/ada)"), hub.client("@(b/bob)")
    bob.registers()
    ada.asks("hub:send", {"targetAddress": "@(b/bob)", "message": {"type": "hi", "payload": 1}})
    bob.hears("hi", payload=1)
    ada.hears("hub:delivery_ack", payload__status="delivered")
    hub.concludes("forwarded")

There is no socket and no clock: `hub.passes(ms)` lets time pass and fires what is due, and
`hub.crashes()` begins a new life with what the old one stored. All that the hub sends is decoded
strictly, and it must say null where it says nothing; `Harness` holds the hub to its contract.
"""

import itertools
import json
from collections import deque
from typing import Any

import msgspec

from support.harness import Harness, Place, Remote, Simulated
from wireloom.protocols.signalhub import codec, spans
from wireloom.protocols.signalhub.envelope import SharedMessage, emitted
from wireloom.protocols.signalhub.hub.session import HubSession
from wireloom.protocols.signalhub.hub.settings import HubSettings
from wireloom.wire.ids import Ids
from wireloom.wire.session import Closed, Congested, FrameReceived, Send, Stopping

HUB = "@(cloudflare/signal-hub)"
PEER = "192.0.2.1:1"
BEGIN_MS = 1_739_731_000_000
SECRET = b"0123456789abcdef0123456789abcdef"
UNLIMITED: dict[str, Any] = dict.fromkeys(
    ("line_rate", "actor_rate", "broadcast_rate", "register_rate", "discover_rate", "fault_rate")
)


def note(type_: str = "chat:line", payload: Any = None) -> dict[str, Any]:
    """An application's message, as it stands in a send."""
    return {"type": type_, "payload": payload}


class Transcript(Harness["Client"]):
    """A hub whose events and commands are written down.

    Args:
        place: Where it runs; without sockets if it is not given.
        packed: Whether clients speak MessagePack if nothing else is said.
        settings: What differs from a hub without rates.
    """

    session: HubSession

    def __init__(
        self, *, place: Place | None = None, packed: bool = False, **settings: Any
    ) -> None:
        self.settings = HubSettings(**{"secret": SECRET, **UNLIMITED, **settings})
        self.packed = packed
        self.ids = itertools.count(1)
        super().__init__(self._made, place or Simulated(BEGIN_MS))

    def _made(self, life: int) -> HubSession:
        return HubSession(self.settings, Ids(f"life-{life}"))

    def client(self, address: str, **more: Any) -> "Client":
        """A client that has connected; its welcome was heard."""
        peer = more.pop("peer", PEER)
        client = self.stranger(address, packed=more.pop("packed", None), peer=peer)
        client.connects(**more)
        client.hears("hub:connected")
        return client

    def stranger(
        self,
        address: str,
        *,
        packed: bool | None = None,
        token: str | None = None,
        peer: str = PEER,
    ) -> "Client":
        """A client that has said nothing yet."""
        packed = self.packed if packed is None else packed
        return self.connects(Client(self, address, packed=packed), peer, token=token)

    def concludes(self, outcome: str, reason: str | None = None) -> None:
        """The last frame had this outcome."""
        assert self.conclusions
        assert (self.conclusions[-1].outcome, self.conclusions[-1].reason) == (outcome, reason)

    def stops(self) -> None:
        """The process is about to end."""
        self.happens(Stopping())

    def kinds(self) -> list[str]:
        """What is stored."""
        return sorted(kind for kind, _ in self.stored)


class Client(Remote):
    """One connection from outside."""

    def __init__(self, hub: Transcript, address: str, *, packed: bool) -> None:
        self.hub = hub
        self.address = address
        self.packed = packed
        self.heard: deque[SharedMessage] = deque()
        self.registered: set[str] = set()
        """The addresses that it asked for; the hub may answer to them."""

    def takes(self, frame: Send) -> None:
        """A frame comes in: in the client's encoding, complete, and well formed."""
        assert frame.text is spans.is_json(frame.raw)
        assert frame.text is not self.packed
        message = codec.decode(frame.raw)
        assert isinstance(message, SharedMessage)
        assert emitted(message) == message
        if message.from_ == self.hub.settings.address:
            assert message.to in {self.address, f"@(line/{self.line})", *self.registered}
        self.heard.append(message)

    def connects(self, **metadata: Any) -> str:
        """Says `hub:connect`."""
        wish = {"protocolVersion": "0.1.0", "capabilities": ["send"], **metadata}
        return self.says("hub:connect", None, pattern="ask", metadata=wish)

    def asks(self, type_: str, payload: Any, **fields: Any) -> str:
        """Says something that wants an answer; gives its id."""
        return self.says(type_, payload, pattern="ask", **fields)

    def says(self, type_: str, payload: Any, **fields: Any) -> str:
        """Says something; gives its id. Other fields of the envelope may be given."""
        number = next(self.hub.ids)
        document = {
            "type": type_,
            "id": f"00000000-0000-4000-8000-{number:012x}",
            "from": self.address,
            "to": HUB,
            "pattern": "tell",
            "correlationId": None,
            "timestamp": self.hub.now_ms,
            "payload": payload,
            "metadata": {},
            "ttl": None,
            "signature": None,
            **fields,
        }
        if type_ == "hub:register":
            self.registered.add(payload["actorAddress"])
        encoder = msgspec.msgpack if self.packed else msgspec.json
        self.sends(encoder.encode(document))
        return str(document["id"])

    def sends(self, raw: bytes) -> None:
        """Sends any bytes."""
        self.hub.happens(FrameReceived(self.line, raw, not self.packed))

    def hears(self, type_: str, **fields: Any) -> Any:
        """Hears this next: a message of a type, with fields as `payload__status="queued"`."""
        assert self.heard, f"{self.address} hears nothing, not {type_}"
        message = self.heard.popleft()
        shown = json.loads(codec.encode(message))
        assert shown["type"] == type_, shown
        for path, expected in fields.items():
            value: Any = shown
            for key in path.split("__"):
                value = value[key]
            assert value == expected, (path, value)
        return shown

    def hears_nothing(self) -> None:
        """Has heard all that there was."""
        assert not self.heard, self.heard

    def registers(self, address: str | None = None, *, renew: bool = False, **more: Any) -> Any:
        """Registers an address, its own if no other is given; gives the answer's payload."""
        fields = {"from": more.pop("from")} if "from" in more else {}
        payload = {
            "actorAddress": address or self.address,
            "capabilities": ["render"],
            "metadata": {},
            **more,
        }
        asked = self.asks("hub:register", payload, metadata={"renewOnHeartbeat": renew}, **fields)
        return self.hears("hub:registered", correlationId=asked)["payload"]

    def subscribes(self, topic: str, **more: Any) -> str:
        """Subscribes to a topic; gives the subscription's id."""
        asked = self.asks("hub:subscribe", {"topic": topic, **more})
        heard = self.hears("hub:subscribed", correlationId=asked, payload__topic=topic)
        return str(heard["payload"]["subscriptionId"])

    def sends_to(self, target: str, payload: Any = None, **fields: Any) -> str:
        """Says `hub:send` with the pattern ask; gives its id."""
        body = {"targetAddress": target, "message": note(payload=payload)}
        return self.says("hub:send", body, **{"pattern": "ask", **fields})

    def beats(self) -> None:
        """Says `hub:heartbeat`, and hears the answer."""
        asked = self.says("hub:heartbeat", {"timestamp": self.hub.now_ms})
        self.hears("hub:heartbeat_ack", correlationId=asked)

    def lags(self, frames: int, size: int = 0) -> None:
        """So many frames wait for it."""
        self.hub.happens(Congested(self.line, frames, size))

    def leaves(self) -> None:
        """The connection breaks, if it is up."""
        if self.line in self.hub.clients:
            self.hub.happens(Closed(self.line, 1006))
