"""Frames out of UDP datagrams: what each protocol says is in them.

First come the protocols whose port a datagram has, then those that are looked for on any port.
"""

from typing import NamedTuple

from wireloom.capture.importers.packets import Datagram
from wireloom.capture.recognition import recognitions
from wireloom.capture.refusal import ForeignError, UnreadableError
from wireloom.wire.errors import WireError
from wireloom.wire.recognition import Assembly
from wireloom.wire.recognition import Datagrams as ProtocolDatagrams


class DatagramFrame(NamedTuple):
    """A frame and what it is."""

    protocol: str
    raw: bytes


class Datagrams:
    """Takes datagrams one by one and gives the frames that they are or complete."""

    def __init__(self) -> None:
        self._ports: dict[int, dict[str, ProtocolDatagrams]] = {}
        self._anywhere: dict[str, ProtocolDatagrams] = {}
        self.waiting_count = 0
        """Fragments that were kept and have not become a frame."""
        for name, known in recognitions().items():
            if known.datagrams is not None:
                where = self._anywhere
                if known.datagram_port is not None:
                    where = self._ports.setdefault(known.datagram_port, {})
                where[name] = known.datagrams()

    def feed(self, datagram: Datagram, *, now_ms: int) -> DatagramFrame | None:
        """The frame in a datagram; None if it is a fragment that others must complete.

        Raises:
            ForeignError: If it is of none of the protocols.
            UnreadableError: If it is a fragment that breaks the rules.
        """
        for name, datagrams in self._asked(datagram).items():
            try:
                found = datagrams.feed(datagram.source, datagram.data, now_ms=now_ms)
            except WireError as error:
                raise UnreadableError(error.detail) from error
            if found is not None:
                return self._counted(name, found)
        raise ForeignError("a datagram of another protocol")

    def _asked(self, datagram: Datagram) -> dict[str, ProtocolDatagrams]:
        target = self._ports.get(datagram.target.port, {})
        source = self._ports.get(datagram.source.port, {})
        return target | source | self._anywhere

    def _counted(self, protocol: str, found: Assembly) -> DatagramFrame | None:
        if found.frame is None:
            self.waiting_count += 1
            return None
        self.waiting_count -= found.datagram_count - 1
        return DatagramFrame(protocol, found.frame)
