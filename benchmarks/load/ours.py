"""How our own servers are spoken to."""

import json
import time
from itertools import count
from typing import Any, Final
from uuid import uuid4

from load.generator import NUMBER, Line, Scene
from load.talk import BINARY, HOST, WebSocket, framed

HUB: Final = "@(cloudflare/signal-hub)"
BROKER: Final = "cth:///server"
TOPIC: Final = "bench"
FIELD: Final = "x" * 40
NUMBERED: Final = f"00000000-0000-4000-8000-{NUMBER}"
"""An id whose last part is the message's number."""

_TTL_MS: Final = 3_600_000
_fresh: Final = count(1)


class Hub:
    """The Signal Hub's side of the load."""

    def __init__(self, port: int, source: str = HOST) -> None:
        self._port = port
        self._source = source

    def fan_out(self, subscribers: int) -> Scene:
        """One publishes, many have subscribed; each copy has its own id and address."""
        lines = []
        for number in range(subscribers):
            address = f"@(bench/s{number})"
            line = self.connected(address)
            line.tell(hub_message("hub:subscribe", address, {"topic": TOPIC, "durable": False}))
            expect(line, b'"hub:subscribed"')
            lines.append(Line(line.socket, f'"to":"{address}"'.encode()))
        publisher = "@(bench/publisher)"
        sender = self._sender(publisher, b'"hub:published"')
        body = {"topic": TOPIC, "message": {"type": "line", "payload": {"text": FIELD}}}
        frame = framed(hub_message("hub:publish", publisher, body, id=NUMBERED, pattern="tell"))
        return Scene([*lines, sender], sender, frame, subscribers + 1)

    def send(self) -> Scene:
        """One sends to another and hears that it was delivered."""
        address = "@(bench/receiver)"
        receiver = self.connected(address)
        self.register(receiver, address)
        return self._send_to(address, [Line(receiver.socket, f'"to":"{address}"'.encode())])

    def queue(self) -> Scene:
        """One sends to another who is away, and hears that it was queued."""
        address = f"@(bench/away{next(_fresh)})"
        away = self.connected(address)
        self.register(away, address)
        away.socket.close()
        return self._send_to(address, [])

    def connected(self, address: str) -> WebSocket:
        """A connection that has said who it is."""
        line = WebSocket(self._port, "/hub", source=self._source)
        wish = {"protocolVersion": "0.1.0", "capabilities": ["send"]}
        line.tell(hub_message("hub:connect", address, None, metadata=wish))
        expect(line, b'"hub:connected"')
        return line

    def _send_to(self, address: str, receivers: list[Line]) -> Scene:
        name = f"@(bench/sender{next(_fresh)})"
        sender = self._sender(name, b'"hub:delivery_ack"')
        body = {"targetAddress": address, "message": {"type": "line", "payload": {"text": FIELD}}}
        frame = framed(hub_message("hub:send", name, body, id=NUMBERED, ttl=_TTL_MS))
        return Scene([*receivers, sender], sender, frame, len(receivers) + 1)

    def _sender(self, address: str, marker: bytes) -> Line:
        return Line(self.connected(address).socket, marker, is_timed=False)

    @staticmethod
    def register(line: WebSocket, address: str) -> None:
        """Makes an address known."""
        body = {"actorAddress": address, "capabilities": ["x"], "metadata": {}}
        line.tell(hub_message("hub:register", address, body))
        expect(line, b'"hub:registered"')


class Broker:
    """The Cthun broker's side of the load."""

    def __init__(self, port: int, source: str = HOST) -> None:
        self._port = port
        self._source = source

    def send(self) -> Scene:
        """One sends to another."""
        sender, receiver = "cth://bench/controller", "cth://bench/agent"
        receiving = Line(self.associated(receiver).socket, b'"message_type"')
        sending = Line(self.associated(sender).socket, is_timed=False)
        frame = framed(cthun_message(sender, [receiver], "line", FIELD * 2, id=NUMBERED), BINARY)
        return Scene([receiving, sending], sending, frame)

    def ask_all(self, agents: int) -> Scene:
        """One asks all that a wildcard means, and each answers."""
        asker = "cth://bench-asker/controller"
        lines = []
        for number in range(agents):
            name = f"cth://bench{number}/worker"
            line = self.associated(name)
            answer = framed(cthun_message(name, [asker], "answer", FIELD), BINARY)
            lines.append(Line(line.socket, b'"question"', answer=answer))
        asking = Line(self.associated(asker).socket, b'"answer"')
        frame = framed(
            cthun_message(asker, ["cth://*/worker"], "question", FIELD, id=NUMBERED), BINARY
        )
        return Scene([*lines, asking], asking, frame, 2 * agents)

    def associated(self, uri: str) -> WebSocket:
        """A connection that has said who it is."""
        line = WebSocket(self._port, "/cthun", source=self._source)
        kind = "http://puppetlabs.com/associate_request"
        line.tell(cthun_message(uri, [BROKER], kind, ""), BINARY)
        expect(line, b'"success":true')
        return line


def expect(line: WebSocket, what: bytes) -> None:
    """Waits for an answer that contains something."""
    heard = line.hear()
    if what not in heard:
        raise ConnectionError(f"the server said {heard!r} where {what!r} was expected")


def hub_message(type_: str, sender: str, payload: Any, **more: Any) -> bytes:
    """A frame of the hub's protocol."""
    document = {
        "type": type_,
        "id": str(uuid4()),
        "from": sender,
        "to": HUB,
        "pattern": "ask",
        "correlationId": None,
        "timestamp": time.time_ns() // 1_000_000,
        "payload": payload,
        "metadata": {},
        "ttl": None,
        "signature": None,
        **more,
    }
    return json.dumps(document, separators=(",", ":")).encode()


def cthun_message(
    sender: str, targets: list[str], kind: str, text: str = "", *, data: bytes = b"", **more: Any
) -> bytes:
    """A frame of the broker's protocol, with a text or with any data."""
    expires = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + _TTL_MS / 1000))
    envelope = {
        "id": str(uuid4()),
        "message_type": kind,
        "expires": expires,
        "targets": targets,
        "sender": sender,
        **more,
    }
    parts = [json.dumps(envelope, separators=(",", ":")).encode()]
    if text:
        data = json.dumps({"text": text}, separators=(",", ":")).encode()
    if data:
        parts.append(data)
    chunks = [
        bytes([number]) + len(part).to_bytes(4, "big") + part
        for number, part in enumerate(parts, 1)
    ]
    return b"\x01" + b"".join(chunks)
