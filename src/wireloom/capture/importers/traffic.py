"""From the packets of a savefile to captured frames.

UDP gives the protocols that are carried by datagrams; TCP gives those that are carried by
WebSocket, where a connection is a plain one. A packet that `wireloom capture export` wrote says
in its comment what it was, and the import believes that.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from wireloom.capture.frame import CapturedFrame
from wireloom.capture.importers.datagrams import Datagrams
from wireloom.capture.importers.packets import (
    Datagram,
    SocketAddress,
    TcpSegment,
    dissect,
)
from wireloom.capture.importers.savefiles import Packet
from wireloom.capture.importers.streams import Stream
from wireloom.capture.importers.websockets import Side, Tap, WsMessage
from wireloom.capture.jsonl import take_line
from wireloom.capture.pcapng import COMMENT_MARK
from wireloom.capture.recognition import recognise, recognitions
from wireloom.capture.refusal import ForeignError, Refusal, UnreadableError
from wireloom.wire.outcome import Direction

MAX_CONNECTIONS: Final = 4_096
"""TCP connections followed at once; the one that was quiet for longest gives way."""


class TcpConversation:
    """Both directions of one TCP connection, by who sends."""

    def __init__(self, first: TcpSegment) -> None:
        self.client = first.target if first.from_server else first.source
        self.opened_at: int | None = None
        """The number with which the client opened it, once that is known."""
        self.tap: Tap | None = Tap()
        self.streams = {side: Stream() for side in Side}

    def feed(self, segment: TcpSegment) -> list[WsMessage]:
        """The messages that a segment completes.

        Raises:
            ForeignError: If it is no WebSocket.
            UnreadableError: If it can no longer be followed. Either is raised once, and what
                comes after is passed over.
        """
        if self.tap is None:
            return []
        side = Side.CLIENT if segment.source == self.client else Side.SERVER
        if segment.is_first:
            self.streams[side].begin(segment.sequence)
            if side is Side.CLIENT:
                self.opened_at = segment.sequence
        sequence = segment.sequence + segment.is_first
        try:
            ordered = self.streams[side].feed(sequence, segment.data)
            return self.tap.feed(side, ordered) if ordered else []
        except (ForeignError, UnreadableError):
            self.tap = None
            self.streams = {}
            raise

    def is_reopened_by(self, segment: TcpSegment) -> bool:
        """Whether a segment begins another connection between the same ports."""
        is_opening = segment.is_first and not segment.from_server
        return is_opening and self.opened_at not in (None, segment.sequence)

    @property
    def has_gap(self) -> bool:
        """Whether a WebSocket's bytes wait for others that did not come."""
        is_open = self.tap is not None and self.tap.is_open
        return is_open and any(stream.has_gap for stream in self.streams.values())


class Traffic:
    """Follows the traffic in one file.

    Args:
        node: Who is said to have seen it.
    """

    def __init__(self, node: str) -> None:
        self._node = node
        self._datagrams = Datagrams()
        self._connections: dict[frozenset[SocketAddress], TcpConversation] = {}

    def take(self, packets: Iterable[Packet | Refusal]) -> Iterator[CapturedFrame | Refusal]:
        """The frames in packets, and what is none."""
        for packet in packets:
            if isinstance(packet, Refusal):
                yield packet
                continue
            try:
                yield from self._take_packet(packet)
            except UnreadableError as error:
                yield Refusal(f"packet {packet.number}", str(error))
            except ForeignError as error:
                yield Refusal(f"packet {packet.number}", str(error), is_foreign=True)
        yield from self._left()

    def _take_packet(self, packet: Packet) -> Iterator[CapturedFrame | Refusal]:
        carried = dissect(packet.link_type, packet.data)
        if carried is None:
            raise ForeignError("neither UDP nor TCP")
        if isinstance(carried, TcpSegment):
            yield from self._take_segment(packet, carried)
        elif packet.comment is not None and packet.comment.startswith(COMMENT_MARK):
            yield _take_commented(packet, packet.comment, carried.data)
        else:
            framed = self._datagrams.feed(carried, now_ms=packet.at // 1000)
            if framed is not None:
                yield self._captured(packet, carried, framed.protocol, framed.raw, "udp")

    def _take_segment(
        self, packet: Packet, segment: TcpSegment
    ) -> Iterator[CapturedFrame | Refusal]:
        connection = self._connection(segment)
        for message in connection.feed(segment):
            protocol = _protocol_of(message)
            if protocol is None:
                reason = "a WebSocket message of another protocol"
                yield Refusal(f"packet {packet.number}", reason, is_foreign=True)
            else:
                yield self._captured(packet, segment, protocol, message.data, "tcp")

    def _connection(self, segment: TcpSegment) -> TcpConversation:
        key = frozenset((segment.source, segment.target))
        connection = self._connections.pop(key, None)
        if connection is None or connection.is_reopened_by(segment):
            connection = TcpConversation(segment)
        self._connections[key] = connection
        if len(self._connections) > MAX_CONNECTIONS:
            del self._connections[next(iter(self._connections))]
        return connection

    def _captured(
        self, packet: Packet, carried: Datagram | TcpSegment, protocol: str, raw: bytes, link: str
    ) -> CapturedFrame:
        return CapturedFrame(
            captured_at=packet.at,
            node=self._node,
            protocol=protocol,
            link=link,
            direction=Direction.IN,
            raw=raw,
            peer=str(carried.source),
        )

    def _left(self) -> Iterator[Refusal]:
        """What waited for packets that did not come."""
        for _ in range(self._datagrams.waiting_count):
            yield Refusal("end of file", "a fragment whose others are missing")
        for connection in self._connections.values():
            if connection.has_gap:
                yield Refusal("end of file", "a TCP connection with a gap")


def _take_commented(packet: Packet, comment: bytes, raw: bytes) -> CapturedFrame | Refusal:
    try:
        return take_line(comment.removeprefix(COMMENT_MARK), raw=raw)
    except (ValueError, RecursionError) as error:
        return Refusal(f"packet {packet.number}", "a damaged comment", f"{error!s:.200}")


def _protocol_of(message: WsMessage) -> str | None:
    """By its path, whatever its bytes, or else by its bytes."""
    path = message.path.rstrip("/")
    carried = [
        (name, known.web_paths)
        for name, known in recognitions().items()
        if known.web_paths and (known.web_text or not message.is_text)
    ]
    at_path = next((name for name, paths in carried if path in paths), None)
    if at_path is not None:
        return at_path
    found = recognise(message.data)
    return found if found in dict(carried) else None
