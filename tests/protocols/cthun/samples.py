"""One message of every type, and of every kind that matters."""

from wireloom.protocols.cthun.chunks import join, split
from wireloom.protocols.cthun.codec import put_debug
from wireloom.protocols.cthun.constants import BROKER_URI, MessageType
from wireloom.protocols.cthun.messages import (
    AssociateRequest,
    AssociateResponse,
    BrokerData,
    DebugChunk,
    DestinationReport,
    Envelope,
    ErrorMessage,
    Hop,
    InventoryRequest,
    InventoryResponse,
    Packet,
    TtlExpired,
)
from wireloom.wire.message import Message

ID = "5f6b8a3e-1c2d-4e5f-8a9b-0c1d2e3f4a5b"
OTHER_ID = "D0F1C2B3-0000-1000-8000-00805F9B34FB"
AGENT = "cth://agent-1.example.com/agent"
CONTROLLER = "cth://controller.example.com/controller"
EXPIRES = "2015-04-27T12:00:03Z"
HOP = Hop(server="cth://broker-1/server", stage="accepted", time="2015-04-27T12:00:00.120Z")
APPLICATION = "http://example.com/greeting"


def to_broker(type_: str) -> Envelope:
    return Envelope(
        id=ID, message_type=type_, expires=EXPIRES, targets=(BROKER_URI,), sender=CONTROLLER
    )


def from_broker(type_: str) -> Envelope:
    return Envelope(
        id=ID,
        message_type=type_,
        expires="2015-04-27T12:00:03.000Z",
        targets=(CONTROLLER,),
        sender=BROKER_URI,
        in_reply_to=OTHER_ID,
    )


def answer(type_: MessageType, data: BrokerData) -> Packet:
    return Packet(envelope=from_broker(type_.value), data=data)


GREETING = Envelope(
    id=ID,
    message_type=APPLICATION,
    expires="2015-04-27T14:00:03+02:00",
    targets=(AGENT, "cth://*/agent"),
    sender=CONTROLLER,
    destination_report=True,
)

SAMPLES: dict[str, Message] = {
    MessageType.ASSOCIATE_REQUEST.value: Packet(
        envelope=to_broker(MessageType.ASSOCIATE_REQUEST.value)
    ),
    MessageType.ASSOCIATE_RESPONSE.value: answer(
        MessageType.ASSOCIATE_RESPONSE,
        AssociateResponse(id=OTHER_ID, success=False, reason="session already associated"),
    ),
    MessageType.INVENTORY_REQUEST.value: Packet(
        envelope=to_broker(MessageType.INVENTORY_REQUEST.value),
        data=InventoryRequest(query=("cth://*/agent",)),
    ),
    MessageType.INVENTORY_RESPONSE.value: answer(
        MessageType.INVENTORY_RESPONSE, InventoryResponse(uris=(AGENT,))
    ),
    MessageType.ERROR_MESSAGE.value: answer(
        MessageType.ERROR_MESSAGE, ErrorMessage(description="Could not decode message")
    ),
    MessageType.DESTINATION_REPORT.value: answer(
        MessageType.DESTINATION_REPORT, DestinationReport(id=OTHER_ID, targets=(AGENT,))
    ),
    MessageType.TTL_EXPIRED.value: answer(MessageType.TTL_EXPIRED, TtlExpired(id=OTHER_ID)),
    APPLICATION: Packet(envelope=GREETING, data=b'"Hello"\x00\xff'),
    "associate_request with empty data": Packet(
        envelope=to_broker(MessageType.ASSOCIATE_REQUEST.value), data=AssociateRequest()
    ),
    "application without data": Packet(envelope=GREETING),
    "application with empty data": Packet(envelope=GREETING, data=b""),
    "reserved bits and hops": Packet(
        envelope=GREETING,
        envelope_flags=1,
        data=b"x",
        data_flags=15,
        debug_chunks=(
            DebugChunk(hops=(HOP, Hop(server=BROKER_URI, time=EXPIRES))),
            DebugChunk(flags=9),
            DebugChunk(hops=()),
        ),
    ),
}


def append_hop(raw: bytes, hop: Hop) -> bytes:
    """A frame with one more debug chunk, as the next broker on its way leaves it."""
    return join([*split(raw).chunks, put_debug(DebugChunk(hops=(hop,)))])
