"""What the message classes say of themselves."""

import pytest

from protocols.cthun.samples import GREETING, HOP, SAMPLES
from wireloom.protocols.cthun.constants import MessageType
from wireloom.protocols.cthun.messages import BROKER_TYPES, PARTS, TYPES, DebugChunk, Packet
from wireloom.wire.descriptions import describe
from wireloom.wire.message import Message
from wireloom.wire.plain import to_plain


def test_every_message_type_of_the_broker_has_a_class() -> None:
    assert set(TYPES) == {member.value for member in MessageType}
    assert TYPES == BROKER_TYPES


@pytest.mark.parametrize("cls", [*TYPES.values(), *PARTS])
def test_every_field_says_what_it_means(cls: type[Message]) -> None:
    assert all(field.meaning for field in describe(cls))


def test_the_version_is_shown_and_derived() -> None:
    assert to_plain(Packet(envelope=GREETING))["version"] == 1


def test_hops_of_all_debug_chunks_come_in_order() -> None:
    packet = SAMPLES["reserved bits and hops"]
    assert isinstance(packet, Packet)
    assert [hop.time for hop in packet.hops] == [
        "2015-04-27T12:00:00.120Z",
        "2015-04-27T12:00:03Z",
    ]
    assert Packet(envelope=GREETING, debug_chunks=(DebugChunk(),)).hops == ()
    assert packet.hops[0] == HOP
