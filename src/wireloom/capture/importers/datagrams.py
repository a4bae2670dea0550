"""Frames out of UDP datagrams: whole, in fragments, or masked."""

from typing import NamedTuple

from wireloom.capture.importers.packets import Datagram, Endpoint
from wireloom.capture.recognition import decodes
from wireloom.capture.refusal import ForeignError, UnreadableError
from wireloom.protocols.myriadmesh import fragments as lora
from wireloom.protocols.myriadmesh.constants import MAGIC, UDP_PORT
from wireloom.protocols.uep12 import packets as uep
from wireloom.protocols.uep12.constants import FRAGMENT_INDICATOR, INDICATOR
from wireloom.wire.cursor import Reader
from wireloom.wire.errors import WireError


class Framed(NamedTuple):
    """A frame and what it is."""

    protocol: str
    raw: bytes


class Datagrams:
    """Takes datagrams one by one and gives the frames that they are or complete."""

    def __init__(self) -> None:
        self._lora = lora.Reassembler()
        self._uep = uep.Reassembler()
        self.waiting_count = 0
        """Fragments that were kept and have not become a frame."""

    def feed(self, datagram: Datagram, *, now_ms: int) -> Framed | None:
        """The frame in a datagram; None if it is a fragment that others must complete.

        Raises:
            ForeignError: If it is of none of the protocols.
            UnreadableError: If it is a fragment that breaks the rules.
        """
        if UDP_PORT in (datagram.target.port, datagram.source.port):
            return self._myriadmesh(datagram, now_ms)
        return self._uep12(datagram.source, datagram.data, now_ms)

    def _myriadmesh(self, datagram: Datagram, now_ms: int) -> Framed | None:
        """What came by MyriadMesh's port is MyriadMesh, even if it is damaged."""
        raw = datagram.data
        if raw.startswith(MAGIC):
            return Framed("myriadmesh", raw)
        try:
            whole = self._lora.feed(datagram.source, raw, now_ms=now_ms)
        except WireError:
            return Framed("myriadmesh", raw)
        return self._counted("myriadmesh", whole, lora.take_fragment_header(Reader(raw)).total)

    def _uep12(self, source: Endpoint, raw: bytes, now_ms: int) -> Framed | None:
        packet = _unmasked(raw)
        if packet[:1] == bytes([INDICATOR]):
            return Framed("uep12", packet)
        if packet[:1] != bytes([FRAGMENT_INDICATOR]):
            raise ForeignError("a datagram of another protocol")
        try:
            whole = self._uep.feed(source, packet, now_ms=now_ms)
        except WireError as error:
            raise UnreadableError("a damaged UEP-7 fragment") from error
        return self._counted("uep12", whole, (packet[1] >> 3 & 7) + 1)

    def _counted(self, protocol: str, whole: bytes | None, fragment_count: int) -> Framed | None:
        if whole is None:
            self.waiting_count += 1
            return None
        self.waiting_count -= fragment_count - 1
        return Framed(protocol, whole)


def _unmasked(raw: bytes) -> bytes:
    """The packet under a UEP-6 mask, if there is one: nearly any bytes could be masked."""
    try:
        packet = uep.unmask(raw)
    except WireError:
        return raw
    if packet[:1] == bytes([INDICATOR]) and decodes("uep12", packet):
        return packet
    return packet if _is_fragment(packet) else raw


def _is_fragment(packet: bytes) -> bool:
    if packet[:1] != bytes([FRAGMENT_INDICATOR]):
        return False
    try:
        return uep.Reassembler().feed(None, packet, now_ms=0) is None
    except WireError:
        return False
