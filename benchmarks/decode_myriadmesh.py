"""Is the MyriadMesh codec ten times as fast as construct and fifty times as fast as scapy?

All three do the same: header with named flags and types, DATA payload, signature if the flag
says so, and the checks of magic, version, hop limit and length.
"""

from construct import Bytes, Const, Enum, FlagsEnum, If, Int8ub, Int16ub, Int64ub, Struct, this
from scapy.fields import (
    ByteEnumField,
    ByteField,
    ConditionalField,
    FieldLenField,
    FlagsField,
    LongField,
    PacketLenField,
    StrField,
    StrFixedLenField,
    XIntField,
)
from scapy.packet import Packet

from frames import frame
from timing import Figure, compare
from wireloom.protocols.myriadmesh.codec import decode
from wireloom.protocols.myriadmesh.constants import ContentType, Flags, MessageType

MAGIC = 0x4D594D53
FLAGS = [str(flag.name).lower() for flag in Flags]
TYPES = {int(member): member.name for member in MessageType}
CONTENT_TYPES = {int(member): member.name for member in ContentType}

CONSTRUCT = Struct(
    "magic" / Const(b"MYMS"),
    "version" / Const(b"\x01"),
    "flags" / FlagsEnum(Int8ub, **{name: 1 << bit for bit, name in enumerate(FLAGS)}),
    "message_type" / Enum(Int8ub, **{name: code for code, name in TYPES.items()}),
    "priority" / Int8ub,
    "ttl" / Int8ub,
    "payload_length" / Int16ub,
    "message_id" / Bytes(16),
    "source_node_id" / Bytes(32),
    "dest_node_id" / Bytes(32),
    "timestamp" / Int64ub,
    "content_type" / Enum(Int8ub, **{name: code for code, name in CONTENT_TYPES.items()}),
    "data" / Bytes(this.payload_length - 1),
    "signature" / If(this.flags.signed, Bytes(64)),
)


class Data(Packet):
    """A DATA payload for scapy."""

    name = "MyriadMesh DATA"
    fields_desc = [ByteEnumField("content_type", 0, CONTENT_TYPES), StrField("data", b"")]


class Frame(Packet):
    """The same frame for scapy."""

    name = "MyriadMesh"
    fields_desc = [
        XIntField("magic", MAGIC),
        ByteField("version", 1),
        FlagsField("flags", 0, 8, FLAGS),
        ByteEnumField("message_type", 1, TYPES),
        ByteField("priority", 160),
        ByteField("ttl", 10),
        FieldLenField("payload_length", None, fmt="H", length_of="body"),
        StrFixedLenField("message_id", b"", 16),
        StrFixedLenField("source_node_id", b"", 32),
        StrFixedLenField("dest_node_id", b"", 32),
        LongField("timestamp", 0),
        PacketLenField("body", Data(), Data, length_from=lambda packet: packet.payload_length),
        ConditionalField(
            StrFixedLenField("signature", b"", 64), lambda packet: packet.flags.signed
        ),
    ]


def with_construct(raw: bytes) -> object:
    """construct, and the checks that its declaration does not make."""
    parsed = CONSTRUCT.parse(raw)
    if parsed.ttl == 0 or len(raw) != 163 + parsed.payload_length:
        raise ValueError(raw)
    return parsed


def with_scapy(raw: bytes) -> object:
    """scapy, and the checks that its declaration does not make."""
    packet = Frame(raw)
    if packet.magic != MAGIC or packet.version != 1 or packet.ttl == 0:
        raise ValueError(raw)
    if len(raw) != 163 + packet.payload_length:
        raise ValueError(raw)
    return packet


def measure() -> list[Figure]:
    """The figures."""
    raw = frame("myriadmesh", "data_text_signed")
    return [
        compare(
            "MyriadMesh decode",
            lambda: decode(raw),
            lambda: with_construct(raw),
            peer_name="construct",
            goal=10,
        ),
        compare(
            "MyriadMesh decode",
            lambda: decode(raw),
            lambda: with_scapy(raw),
            peer_name="scapy",
            goal=50,
        ),
    ]
