"""How MyriadMesh frames are recognised, by their bytes and on their UDP port."""

from collections.abc import Hashable
from typing import Final

from wireloom.protocols.myriadmesh.constants import MAGIC, PORT
from wireloom.protocols.myriadmesh.fragments import Reassembler, take_fragment_header
from wireloom.wire.cursor import Reader
from wireloom.wire.errors import WireError
from wireloom.wire.recognition import Assembly, Recognition


def begins(raw: bytes) -> bool:
    """Whether a frame begins with the magic bytes."""
    return raw.startswith(MAGIC)


class Datagrams:
    """Frames out of datagrams, whole or in fragments.

    What comes by the port of MyriadMesh is MyriadMesh, even if it is damaged.
    """

    def __init__(self) -> None:
        self._fragments = Reassembler()

    def feed(self, peer: Hashable, raw: bytes, *, now_ms: int) -> Assembly:
        """The frame that a datagram is or completes."""
        if begins(raw):
            return Assembly(raw)
        try:
            whole = self._fragments.feed(peer, raw, now_ms=now_ms)
        except WireError:
            return Assembly(raw)
        return Assembly(whole, take_fragment_header(Reader(raw)).total)


RECOGNITION: Final = Recognition(
    begins=begins,
    chance=256.0 ** -len(MAGIC),
    port=PORT,
    datagrams=Datagrams,
    datagram_port=PORT,
)
