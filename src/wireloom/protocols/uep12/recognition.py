"""How UEP-12 messages are recognised: by their first byte, in fragments, and under a mask."""

from collections.abc import Hashable
from typing import Final

from wireloom.protocols.uep12.codec import decode
from wireloom.protocols.uep12.constants import FRAGMENT_INDICATOR, INDICATOR, PORT
from wireloom.protocols.uep12.packets import Reassembler, fragment_count, unmask
from wireloom.wire.errors import MalformedError, WireError
from wireloom.wire.recognition import Assembly, Recognition

_MESSAGE: Final = bytes([INDICATOR])
_FRAGMENT: Final = bytes([FRAGMENT_INDICATOR])


def begins(raw: bytes) -> bool:
    """Whether a message begins with the indicator."""
    return raw.startswith(_MESSAGE)


class Datagrams:
    """Messages out of datagrams: whole, in UEP-7 fragments, or under a UEP-6 mask."""

    def __init__(self) -> None:
        self._fragments = Reassembler()

    def feed(self, peer: Hashable, raw: bytes, *, now_ms: int) -> Assembly | None:
        """The message that a datagram is or completes; None if it is not of UEP-12.

        Raises:
            MalformedError: If it is a fragment that breaks the rules.
        """
        packet = _unmasked(raw)
        if begins(packet):
            return Assembly(packet)
        if not packet.startswith(_FRAGMENT):
            return None
        try:
            whole = self._fragments.feed(peer, packet, now_ms=now_ms)
        except WireError as error:
            raise MalformedError("a damaged UEP-7 fragment") from error
        return Assembly(whole, fragment_count(packet))


def _unmasked(raw: bytes) -> bytes:
    """The packet under a UEP-6 mask, if there is one: nearly any bytes could be masked."""
    try:
        packet = unmask(raw)
    except WireError:
        return raw
    if begins(packet) and _decodes(packet):
        return packet
    return packet if _is_fragment(packet) else raw


def _decodes(packet: bytes) -> bool:
    try:
        decode(packet)
    except WireError:
        return False
    return True


def _is_fragment(packet: bytes) -> bool:
    if not packet.startswith(_FRAGMENT):
        return False
    try:
        return Reassembler().feed(None, packet, now_ms=0) is None
    except WireError:
        return False


RECOGNITION: Final = Recognition(
    begins=begins, chance=256.0 ** -len(_MESSAGE), port=PORT, datagrams=Datagrams
)
