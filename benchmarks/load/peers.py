"""How the servers that we compare with are spoken to: the same load in each one's own words."""

import json
from abc import ABC, abstractmethod
from typing import Any, Final

from load.generator import NUMBER, Line, Scene
from load.talk import Talk, WebSocket, framed

TOPIC: Final = "bench"
MARKER: Final = b"once-a-message"
PAYLOAD: Final = {"id": NUMBER, "text": MARKER.decode() + "x" * 350}
"""With each one's frame around it, about as large as what our own servers deliver: 390 to 450
bytes."""

TEXT: Final = json.dumps(PAYLOAD, separators=(",", ":"))


class Peer(ABC):
    """A server that passes messages of a topic on to all who have subscribed.

    Args:
        port: Where it listens.
    """

    frame: bytes
    """What publishes a message."""

    def __init__(self, port: int) -> None:
        self._port = port

    def fan_out(self, subscribers: int) -> Scene:
        """One publishes, many have subscribed."""
        lines = [Line(self._subscribed().socket, MARKER) for _ in range(subscribers)]
        sender = Line(self._connected().socket, is_timed=False)
        return Scene([*lines, sender], sender, self.frame, subscribers)

    def send(self) -> Scene:
        """One sends to another."""
        return self.fan_out(1)

    @abstractmethod
    def _connected(self) -> Talk:
        """A connection that may publish."""

    @abstractmethod
    def _subscribed(self) -> Talk:
        """A connection that has subscribed."""


class Nats(Peer):
    """nats-server: text over TCP."""

    frame = f"PUB {TOPIC} {len(TEXT)}\r\n{TEXT}\r\n".encode()

    def _connected(self) -> Talk:
        talk = Talk(self._port)
        talk.line()
        talk.say(b'CONNECT {"verbose":false,"pedantic":false}\r\nPING\r\n')
        while talk.line() != b"PONG":
            pass
        return talk

    def _subscribed(self) -> Talk:
        talk = self._connected()
        talk.say(f"SUB {TOPIC} 1\r\nPING\r\n".encode())
        talk.line()
        return talk


class Mosquitto(Peer):
    """Mosquitto: MQTT 3.1.1 over TCP, quality of service 0."""

    def __init__(self, port: int) -> None:
        super().__init__(port)
        self.frame = _mqtt(0x30, _mqtt_text(TOPIC) + TEXT.encode())

    def _connected(self) -> Talk:
        talk = Talk(self._port)
        talk.say(_mqtt(0x10, _mqtt_text("MQTT") + b"\x04\x02\x00\x00" + _mqtt_text("")))
        talk.take(4)
        return talk

    def _subscribed(self) -> Talk:
        talk = self._connected()
        talk.say(_mqtt(0x82, b"\x00\x01" + _mqtt_text(TOPIC) + b"\x00"))
        talk.take(5)
        return talk


class SocketIo(Peer):
    """Socket.IO, on node or in Python: `socketio_app.cjs` and `socketio_app.py`."""

    frame = framed(f'42["publish",{TEXT}]'.encode())

    def send(self) -> Scene:
        """One sends to another and hears that it was."""
        receiver = Line(self._subscribed().socket, MARKER)
        sender = Line(self._connected().socket, b'["sent"]', is_timed=False)
        frame = framed(f'42{NUMBER}["send",{TEXT}]'.encode())
        return Scene([receiver, sender], sender, frame, 2)

    def _connected(self) -> WebSocket:
        line = WebSocket(self._port, "/socket.io/?EIO=4&transport=websocket")
        line.hear()
        line.tell(b"40").hear()
        return line

    def _subscribed(self) -> WebSocket:
        line = self._connected()
        line.tell(b'421["subscribe","bench"]').hear()
        return line


class SocketIoEach(SocketIo):
    """Socket.IO on node, with an id and an address for each recipient."""

    frame = framed(f'42["publish_each",{TEXT}]'.encode())


class Crossbar(Peer):
    """Crossbar: WAMP in JSON over WebSocket."""

    def __init__(self, port: int) -> None:
        super().__init__(port)
        self.frame = framed(_json([16, 1, {}, TOPIC, [PAYLOAD]]))

    def _connected(self) -> WebSocket:
        line = WebSocket(self._port, "/ws", "wamp.2.json")
        roles: dict[str, Any] = {"publisher": {}, "subscriber": {}}
        line.tell(_json([1, "bench", {"roles": roles}])).hear()
        return line

    def _subscribed(self) -> WebSocket:
        line = self._connected()
        line.tell(_json([32, 1, {}, TOPIC])).hear()
        return line


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _mqtt(head: int, body: bytes) -> bytes:
    size, length = len(body), bytearray()
    while size > 0x7F:
        length.append(size & 0x7F | 0x80)
        size >>= 7
    return bytes([head]) + bytes(length) + bytes([size]) + body


def _mqtt_text(text: str) -> bytes:
    return len(text).to_bytes(2, "big") + text.encode()
