"""What wraps a UEP-12 message on its way: UEP-7 fragments within a UEP-6 mask.

```
UEP-6   h 1 | d 1 | masked packet          h < 32 or h > 223
UEP-7   66 | seq_no 1 | signature 8 | fragment
        seq_no: index in the low 3 bits, count − 1 in the next 3, 2 reserved
```
"""

from collections.abc import Hashable
from hashlib import sha256
from typing import Final

from wireloom.protocols.uep12.constants import (
    FRAGMENT_INDICATOR,
    FRAGMENT_TIMEOUT_MS,
    MAX_MESSAGE_SIZE,
    MTU,
)
from wireloom.wire.assembly import Assembler
from wireloom.wire.cursor import Reader, Writer
from wireloom.wire.errors import BadSignatureError, MalformedError, TooLargeError

SIGNATURE_SIZE: Final = 8

_LOW_MARKS: Final = range(32)
_HIGH_MARKS: Final = range(224, 256)
_HIGH_MIRROR: Final = 287


def split(raw: bytes) -> list[bytes]:
    """The packets that carry `raw`: itself if it fits in one, else UEP-7 fragments.

    Raises:
        TooLargeError: If eight fragments do not hold it.
    """
    if len(raw) <= MTU:
        return [raw]
    if len(raw) > MAX_MESSAGE_SIZE:
        raise TooLargeError(f"{len(raw)} bytes, eight fragments hold {MAX_MESSAGE_SIZE}")
    last = (len(raw) - 1) // MTU
    reader = Reader(raw)
    packets = []
    for index in range(last + 1):
        writer = Writer()
        writer.u8(FRAGMENT_INDICATOR, "indicator")
        writer.u8(index | last << 3, "seq_no")
        writer.put(_signature(raw), "signature")
        writer.put(reader.take(min(MTU, reader.remaining), "fragment"), "fragment")
        packets.append(writer.finish())
    return packets


def fragment_count(packet: bytes) -> int:
    """How many fragments there are of what a UEP-7 fragment is a part of.

    Raises:
        TruncatedError: If it ends before it says so.
    """
    return (Reader(packet, offset=1).u8("seq_no") >> 3 & 7) + 1


class Reassembler:
    """Gives back what `split` took apart, from many peers at once."""

    def __init__(self) -> None:
        self._assembler = Assembler(timeout_ms=FRAGMENT_TIMEOUT_MS, extend=True)

    def feed(self, peer: Hashable, packet: bytes, *, now_ms: int) -> bytes | None:
        """Takes one packet; gives a message if it is one or completes one.

        Raises:
            MalformedError: If it is a fragment that breaks UEP-7's rules.
            BadSignatureError: If the whole is not what its fragments promised.
        """
        reader = Reader(packet)
        if reader.remaining == 0 or reader.u8("indicator") != FRAGMENT_INDICATOR:
            return packet
        seq_no = reader.u8("seq_no")
        index, last = seq_no & 7, seq_no >> 3 & 7
        signature = reader.take(SIGNATURE_SIZE, "signature")
        fragment = reader.rest("fragment")
        _check_fragment(index, last, len(fragment))
        whole = self._assembler.add((peer, signature), index, last + 1, fragment, now_ms=now_ms)
        if whole is not None and _signature(whole) != signature:
            raise BadSignatureError("the fragments do not make what their signature promises")
        return whole


def mask(packet: bytes, *, h: int, d: int) -> bytes:
    """A packet made unrecognisable by UEP-6 with the marks `h` and `d`."""
    writer = Writer()
    writer.u8(h, "h")
    writer.u8(d, "d")
    writer.put(_masked(packet, h, d), "packet")
    return writer.finish()


def unmask(raw: bytes) -> bytes:
    """The packet that `mask` hid; packets that are not masked come back as they are."""
    reader = Reader(raw)
    if reader.remaining == 0:
        return raw
    h = reader.u8("h")
    if h not in _LOW_MARKS and h not in _HIGH_MARKS:
        return raw
    d = reader.u8("d")
    return _masked(reader.rest("packet"), h, d)


def mask_word(h: int, d: int, size: int) -> int:
    """The 32 bits that a packet of `size` bytes is combined with.

    Raises:
        MalformedError: If `h` is no mark.
    """
    if h in _LOW_MARKS:
        c = h
    elif h in _HIGH_MARKS:
        c = _HIGH_MIRROR - h
    else:
        raise MalformedError(f"{h} is no UEP-6 mark")
    left = (c * 256 + d + 0xBABEFEED) ** 2
    right = (size + 0xDEADBEEF) ** 2
    return (left ^ right) & 0xFFFF_FFFF


def _masked(packet: bytes, h: int, d: int) -> bytes:
    word = mask_word(h, d, len(packet)).to_bytes(4, "little")
    return bytes(byte ^ word[i & 3] for i, byte in enumerate(packet))


def _check_fragment(index: int, last: int, size: int) -> None:
    if last == 0 or index > last:
        raise MalformedError(f"fragment {index} of {last + 1}", offset=1)
    if size != MTU and (index < last or not 0 < size < MTU):
        raise MalformedError(f"fragment {index} of {last + 1} has {size} bytes", offset=1)


def _signature(raw: bytes) -> bytes:
    return sha256(raw).digest()[:SIGNATURE_SIZE]
