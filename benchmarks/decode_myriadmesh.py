"""Is the MyriadMesh codec ten times as fast as construct and fifty times as fast as scapy?

Both peers are given the same declaration: header, DATA payload, signature.
"""

from construct import Bytes, Const, Int8ub, Int16ub, Int64ub, Struct, this
from frames import frame
from scapy.fields import (
    ByteField,
    FieldLenField,
    LongField,
    StrFixedLenField,
    StrLenField,
    XIntField,
)
from scapy.packet import Packet
from timing import Figure, compare

from wireloom.protocols.myriadmesh.codec import decode

CONSTRUCT = Struct(
    "magic" / Const(b"MYMS"),
    "version" / Const(b"\x01"),
    "flags" / Int8ub,
    "message_type" / Int8ub,
    "priority" / Int8ub,
    "ttl" / Int8ub,
    "payload_length" / Int16ub,
    "message_id" / Bytes(16),
    "source_node_id" / Bytes(32),
    "dest_node_id" / Bytes(32),
    "timestamp" / Int64ub,
    "content_type" / Int8ub,
    "data" / Bytes(this.payload_length - 1),
    "signature" / Bytes(64),
)


class Frame(Packet):  # type: ignore[misc]
    """The same frame for scapy."""

    name = "MyriadMesh"
    fields_desc = [
        XIntField("magic", 0x4D594D53),
        ByteField("version", 1),
        ByteField("flags", 0),
        ByteField("message_type", 1),
        ByteField("priority", 160),
        ByteField("ttl", 10),
        FieldLenField("payload_length", None, fmt="H", length_of="data"),
        StrFixedLenField("message_id", b"", 16),
        StrFixedLenField("source_node_id", b"", 32),
        StrFixedLenField("dest_node_id", b"", 32),
        LongField("timestamp", 0),
        ByteField("content_type", 0),
        StrLenField("data", b"", length_from=lambda packet: packet.payload_length - 1),
        StrFixedLenField("signature", b"", 64),
    ]


def measure() -> list[Figure]:
    """The figures."""
    raw = frame("myriadmesh", "data_text_signed")
    return [
        compare(
            "MyriadMesh decode",
            lambda: decode(raw),
            lambda: CONSTRUCT.parse(raw),
            peer_name="construct",
            goal=10,
        ),
        compare(
            "MyriadMesh decode",
            lambda: decode(raw),
            lambda: Frame(raw),
            peer_name="scapy",
            goal=50,
        ),
    ]
