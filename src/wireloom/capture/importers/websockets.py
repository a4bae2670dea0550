"""The messages of a plain WebSocket, seen from beside it.

The handshake is read as it passes: path and upgrade from the client's head, what was agreed
upon from the server's. From then on wsproto takes each direction apart.
"""

from enum import StrEnum
from typing import Final, NamedTuple

from wsproto.connection import Connection, ConnectionState, ConnectionType
from wsproto.events import BytesMessage, CloseConnection, TextMessage
from wsproto.extensions import Extension, PerMessageDeflate

from wireloom.capture.refusal import ForeignError, UnreadableError

MAX_HEAD_SIZE: Final = 65_536
"""An HTTP head that is longer is none."""

MAX_EARLY_SIZE: Final = 1024 * 1024
"""What one direction may send before the other's head is captured."""

MAX_MESSAGE_SIZE: Final = 64 * 1024 * 1024
"""The largest message of any protocol here."""

_GET: Final = b"GET "
_END_OF_HEAD: Final = b"\r\n\r\n"


class Side(StrEnum):
    """Who sends."""

    CLIENT = "client"
    SERVER = "server"


class WsMessage(NamedTuple):
    """One message of a WebSocket."""

    path: str
    is_text: bool
    data: bytes


class Tap:
    """Listens to one connection.

    After an error it is of no further use.
    """

    def __init__(self) -> None:
        self._path: str | None = None
        self._early = {side: bytearray() for side in Side}
        self._decoders: dict[Side, _Decoder] = {}

    def feed(self, side: Side, data: bytes) -> list[WsMessage]:
        """Takes the next bytes that `side` sent; gives the messages that they complete.

        Raises:
            ForeignError: If the connection is no WebSocket.
            UnreadableError: If it is one, and cannot be followed any longer.
        """
        if self._decoders:
            return self._decoders[side].feed(data)
        self._early[side] += data
        if max(map(len, self._early.values())) > MAX_EARLY_SIZE:
            raise UnreadableError("a handshake that does not end")
        self._take_request()
        return self._take_response()

    @property
    def is_open(self) -> bool:
        """Whether a client asked for a WebSocket."""
        return self._path is not None

    def _take_request(self) -> None:
        if self._path is None:
            if not self._early[Side.CLIENT].startswith(_GET[: len(self._early[Side.CLIENT])]):
                raise ForeignError("no WebSocket handshake")
            head = _take_head(self._early[Side.CLIENT])
            if head is not None:
                self._path = _upgraded_path(*head)

    def _take_response(self) -> list[WsMessage]:
        head = None if self._path is None else _take_head(self._early[Side.SERVER])
        if self._path is None or head is None:
            return []
        extension = _agreed(*head)
        self._decoders = {side: _Decoder(side, self._path, extension) for side in Side}
        return [
            message for side in Side for message in self._decoders[side].feed(self._early[side])
        ]


class _Decoder:
    """One direction after the handshake."""

    def __init__(self, side: Side, path: str, agreed: str | None) -> None:
        # Each direction is read by the end that it goes to.
        reader = ConnectionType.SERVER if side is Side.CLIENT else ConnectionType.CLIENT
        self._connection = Connection(reader, _extensions(agreed))
        self._path = path
        self._message = bytearray()

    def feed(self, data: bytes | bytearray) -> list[WsMessage]:
        messages = []
        self._connection.receive_data(bytes(data))
        for event in self._connection.events():
            if isinstance(event, TextMessage | BytesMessage):
                text = isinstance(event, TextMessage)
                piece = event.data.encode() if isinstance(event.data, str) else event.data
                self._keep(piece)
                if event.message_finished:
                    messages.append(WsMessage(self._path, text, bytes(self._message)))
                    self._message.clear()
            elif isinstance(event, CloseConnection):
                self._check_closed(event)
        return messages

    def _keep(self, piece: bytes | bytearray) -> None:
        self._message += piece
        if len(self._message) > MAX_MESSAGE_SIZE:
            raise UnreadableError(f"a WebSocket message of more than {MAX_MESSAGE_SIZE} bytes")

    def _check_closed(self, event: CloseConnection) -> None:
        """Tells a close frame from wsproto's own giving up, which leaves the state open."""
        if self._connection.state is ConnectionState.OPEN:
            raise UnreadableError(f"damaged WebSocket frames: {event.reason}")


def _take_head(raw: bytearray) -> tuple[str, dict[str, str]] | None:
    """First line and fields of an HTTP head, taken off `raw`; None while it is incomplete."""
    end = raw.find(_END_OF_HEAD, 0, MAX_HEAD_SIZE)
    if end < 0:
        if len(raw) >= MAX_HEAD_SIZE:
            raise ForeignError("no WebSocket handshake")
        return None
    first, *lines = raw[:end].decode("latin-1").split("\r\n")
    del raw[: end + len(_END_OF_HEAD)]
    fields = {}
    for line in lines:
        name, _, value = line.partition(":")
        fields[name.strip().lower()] = value.strip()
    return first, fields


def _upgraded_path(first: str, fields: dict[str, str]) -> str:
    words = first.split(" ")
    if len(words) != 3 or words[0] != "GET" or fields.get("upgrade", "").lower() != "websocket":
        raise ForeignError("no WebSocket handshake")
    return words[1].partition("?")[0]


def _agreed(first: str, fields: dict[str, str]) -> str | None:
    """The extension that the server agreed to."""
    if first.split(" ")[1:2] != ["101"]:
        raise ForeignError("a WebSocket that the server refused")
    return fields.get("sec-websocket-extensions")


def _extensions(agreed: str | None) -> list[Extension]:
    if agreed is None:
        return []
    extension = PerMessageDeflate()
    try:
        extension.finalize(agreed)
    except (ValueError, IndexError):
        raise UnreadableError(f"the extension {agreed!r:.60} is not known") from None
    if agreed.split(";")[0].strip() != extension.name:
        raise UnreadableError(f"the extension {agreed!r:.60} is not known")
    return [extension]
