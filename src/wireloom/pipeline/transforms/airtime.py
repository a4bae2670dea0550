"""How long a frame occupies a LoRa channel, estimated from its size.

Frames do not tell how the radio was set, so the usual setting for short packets is taken:
spreading factor 7, 125 kHz, coding rate 4/5, 8 symbols of preamble, an explicit header, a
checksum, no low-data-rate optimisation. By Semtech's AN1200.13 a packet of n bytes takes

    symbol  = 2^7 / 125 kHz = 1.024 ms
    packet  = (8 + 4.25 + 8 + 5 * ceil((8 n - 4 * 7 + 28 + 16) / (4 * 7))) * symbol

A frame longer than one packet travels in fragments, each behind its header.
"""

from typing import Final

from wireloom.protocols.myriadmesh.constants import FRAGMENT_HEADER_SIZE, LORA_MTU

SPREADING_FACTOR: Final = 7
BANDWIDTH_KHZ: Final = 125
CODED_BITS: Final = 5
"""Sent for every four bits: coding rate 4/5."""

OVERHEAD_QUARTERS: Final = 4 * 8 + 17 + 4 * 8
"""Quarters of a symbol: preamble, its end, and what every packet begins with."""

QUARTER_US: Final = 2**SPREADING_FACTOR * 1000 // BANDWIDTH_KHZ // 4
_PIECE: Final = LORA_MTU - FRAGMENT_HEADER_SIZE


def airtime_us(size: str) -> str:
    """The estimate for a frame of `size` bytes, in whole µs: sums do not depend on an order.

    Both are SQL.
    """
    pieces = f"ceil({size} / {_PIECE})"
    last = f"({size} - ({pieces} - 1) * {_PIECE} + {FRAGMENT_HEADER_SIZE})"
    fragmented = f"({pieces} - 1) * {_packet_us(str(LORA_MTU))} + {_packet_us(last)}"
    return f"if({size} <= {LORA_MTU}, {_packet_us(size)}, {fragmented})"


def _packet_us(size: str) -> str:
    bits = f"({size} * 8 - {4 * SPREADING_FACTOR} + 28 + 16)"
    groups = f"ceil({bits} / {4 * SPREADING_FACTOR})"
    return f"({groups} * {CODED_BITS * 4} + {OVERHEAD_QUARTERS}) * {QUARTER_US}"
