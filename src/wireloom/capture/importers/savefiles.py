"""Packets out of pcap and pcapng files.

dpkt knows the headers; its own readers are not used, since they take the first interface's
clock and link type for all, and believe every length that stands in a file.
"""

import struct
from collections.abc import Iterator
from typing import Any, BinaryIO, Final, NamedTuple

import dpkt
from dpkt import pcap, pcapng

from wireloom.capture.refusal import Refusal

MAX_PACKET_SIZE: Final = 262_144
"""What libpcap and Wireshark take at most."""

MAX_BLOCK_SIZE: Final = 16 * 1024 * 1024
"""Wireshark's limit for one pcapng block."""

PCAP_MAGICS: Final = frozenset(magic.to_bytes(4, "big") for magic in pcap.MAGIC_TO_PKT_HDR)
PCAPNG_MAGIC: Final = pcapng.PCAPNG_BT_SHB.to_bytes(4, "big")

_NANO_MAGICS: Final = (pcap.TCPDUMP_MAGIC_NANO, pcap.PMUDPCT_MAGIC_NANO)
_SWAPPED_MAGICS: Final = (pcap.PMUDPCT_MAGIC, pcap.PMUDPCT_MAGIC_NANO, pcap.PACPDOM_MAGIC)
_LITTLE: Final = pcapng.BYTE_ORDER_MAGIC.to_bytes(4, "little")
_BLOCK_PREFIX_SIZE: Final = 8
_MIN_BLOCK_SIZE: Final = 12
_BINARY_RESOLUTION: Final = 0x80
_MAX_RESOLUTION: Final = 64
_FAULTS: Final = (dpkt.Error, struct.error, ValueError, IndexError)


class Packet(NamedTuple):
    """One packet as a savefile holds it."""

    number: int
    """From 1, as Wireshark counts."""

    at: int
    """When it was captured, in µs since 1970."""

    link_type: int
    data: bytes
    comment: bytes | None = None


class _Interface(NamedTuple):
    link_type: int
    ticks: int
    """How many a second."""

    offset_seconds: int


def take_pcap(file: BinaryIO) -> Iterator[Packet | Refusal]:
    """The packets of a pcap file, up to the first record that cannot be one.

    Raises:
        OSError: If the file cannot be read.
    """
    raw = file.read(pcap.FileHdr.__hdr_len__)
    if len(raw) < pcap.FileHdr.__hdr_len__ or raw[:4] not in PCAP_MAGICS:
        yield Refusal("file header", "not a pcap file")
        return
    magic = int.from_bytes(raw[:4], "big")
    header = pcap.LEFileHdr(raw) if magic in _SWAPPED_MAGICS else pcap.FileHdr(raw)
    record_header = pcap.MAGIC_TO_PKT_HDR[magic]
    divisor = 1000 if magic in _NANO_MAGICS else 1
    number = 0
    while prefix := file.read(record_header.__hdr_len__):
        number += 1
        place = f"packet {number}"
        if len(prefix) < record_header.__hdr_len__:
            yield Refusal(place, "the file ends within a packet")
            return
        record = record_header(prefix)
        if record.caplen > MAX_PACKET_SIZE:
            yield Refusal(place, "not a packet record", f"{record.caplen} bytes; the rest is lost")
            return
        data = file.read(record.caplen)
        if len(data) < record.caplen:
            yield Refusal(place, "the file ends within a packet")
            return
        at = record.tv_sec * 1_000_000 + record.tv_usec // divisor
        yield Packet(number, at, header.linktype & 0xFFFF, data)


def take_pcapng(file: BinaryIO) -> Iterator[Packet | Refusal]:
    """The packets of a pcapng file, of all its sections and interfaces.

    Raises:
        OSError: If the file cannot be read.
    """
    section: _Section | None = None
    number = 0
    while prefix := file.read(_BLOCK_PREFIX_SIZE):
        if prefix.startswith(PCAPNG_MAGIC):
            prefix += file.read(len(_LITTLE))
            section = _Section(little=prefix.endswith(_LITTLE))
        if section is None:
            yield Refusal("file header", "not a pcapng file")
            return
        block = section.take_block(prefix, file)
        if isinstance(block, str):
            yield Refusal(f"after packet {number}", block, "the rest is lost")
            return
        number += block.kind in _PACKET_KINDS
        taken = section.take(block, number)
        if taken is not None:
            yield taken


class _Block(NamedTuple):
    kind: int
    raw: bytes


_PACKET_KINDS: Final = (pcapng.PCAPNG_BT_EPB, pcapng.PCAPNG_BT_PB, pcapng.PCAPNG_BT_SPB)


class _Section:
    """What the blocks of one section have in common: byte order and interfaces."""

    def __init__(self, *, little: bool) -> None:
        self._little = little
        self._interfaces: list[_Interface | None] = []

    def take_block(self, prefix: bytes, file: BinaryIO) -> _Block | str:
        """The block that begins with `prefix`, or what is wrong with it."""
        if len(prefix) < _BLOCK_PREFIX_SIZE:
            return "the file ends within a block"
        kind, size = struct.unpack_from("<II" if self._little else ">II", prefix)
        if not max(_MIN_BLOCK_SIZE, len(prefix)) <= size <= MAX_BLOCK_SIZE or size % 4:
            return "not a pcapng block"
        raw = prefix + file.read(size - len(prefix))
        return _Block(kind, raw) if len(raw) == size else "the file ends within a block"

    def take(self, block: _Block, number: int) -> Packet | Refusal | None:
        """The packet in a block, if it is of a kind that holds one."""
        if block.kind == pcapng.PCAPNG_BT_IDB:
            self._interfaces.append(self._interface(block.raw))
        elif block.kind == pcapng.PCAPNG_BT_SPB:
            return Refusal(f"packet {number}", "a packet without a time")
        elif block.kind in _PACKET_KINDS:
            return self._packet(block.kind, block.raw, number)
        return None

    def _packet(self, kind: int, block: bytes, number: int) -> Packet | Refusal:
        place = f"packet {number}"
        if kind == pcapng.PCAPNG_BT_EPB:
            cls = pcapng.EnhancedPacketBlockLE if self._little else pcapng.EnhancedPacketBlock
        else:
            cls = pcapng.PacketBlockLE if self._little else pcapng.PacketBlock
        head = cls()
        try:
            head.unpack_hdr(block)
        except _FAULTS:
            return Refusal(place, "not a packet block")
        begin = cls.__hdr_len__ - 4
        end = begin + head.caplen
        if end + 4 > len(block):
            return Refusal(place, "a packet longer than its block")
        interface = self._interface_at(head.iface_id)
        if interface is None:
            return Refusal(place, "a packet of no known interface")
        at = ((head.ts_high << 32 | head.ts_low) * 1_000_000) // interface.ticks
        at += interface.offset_seconds * 1_000_000
        options = block[end + -end % 4 : -4]
        return Packet(number, at, interface.link_type, block[begin:end], self._comment(options))

    def _interface_at(self, index: int) -> _Interface | None:
        return self._interfaces[index] if index < len(self._interfaces) else None

    def _interface(self, block: bytes) -> _Interface | None:
        cls = (
            pcapng.InterfaceDescriptionBlockLE
            if self._little
            else (pcapng.InterfaceDescriptionBlock)
        )
        try:
            described = cls(block)
        except _FAULTS:
            return None
        options = {option.code: option.data for option in described.opts}
        offset = options.get(pcapng.PCAPNG_OPT_IF_TSOFFSET, b"")
        return _Interface(
            described.linktype,
            _ticks(options.get(pcapng.PCAPNG_OPT_IF_TSRESOL, b"\x06")),
            int.from_bytes(offset[:8], "little" if self._little else "big", signed=True),
        )

    def _comment(self, options: bytes) -> bytes | None:
        """The first option, if it is a comment."""
        if len(options) < 4:
            return None
        code, size = struct.unpack_from("<HH" if self._little else ">HH", options)
        return options[4 : 4 + size] if code == pcapng.PCAPNG_OPT_COMMENT else None


def _ticks(resolution: Any) -> int:
    value = resolution[0] if resolution else 6
    power = min(value & ~_BINARY_RESOLUTION, _MAX_RESOLUTION)
    return int(2**power) if value & _BINARY_RESOLUTION else int(10**power)
