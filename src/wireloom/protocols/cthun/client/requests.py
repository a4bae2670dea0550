"""What an application can ask of a broker, each as the draft of a message.

request(session.ids.next(), inventory(["cth://*/agent"], 3), seconds=3)
"""

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from msgspec import UNSET, Struct, UnsetType

from wireloom.protocols.cthun.constants import ASSOCIATION_TTL_MS, BROKER_URI, MessageType
from wireloom.protocols.cthun.messages import (
    BrokerData,
    DestinationReport,
    Envelope,
    InventoryRequest,
    InventoryResponse,
    Packet,
)
from wireloom.protocols.cthun.times import text_of
from wireloom.wire.client.application import Request

Answer = DestinationReport | InventoryResponse
"""What a broker answers to a request."""

A = TypeVar("A", bound=Answer)


class Draft(Struct, Generic[A], frozen=True, kw_only=True):
    """A message without its id, its sender and the time at which it expires."""

    targets: tuple[str, ...]
    message_type: str
    data: bytes | BrokerData | None = None
    ttl_seconds: float
    answer: type[A] | None = None
    """The class of the answer; None where the broker does not answer."""

    destination_report: bool | UnsetType = UNSET
    in_reply_to: str | UnsetType = UNSET

    def packet(self, message_id: str, sender: str, now_ms: int) -> Packet:
        """The whole message."""
        envelope = Envelope(
            id=message_id,
            message_type=self.message_type,
            expires=text_of(now_ms + int(self.ttl_seconds * 1_000)),
            targets=self.targets,
            sender=sender,
            destination_report=self.destination_report,
            in_reply_to=self.in_reply_to,
        )
        return Packet(envelope=envelope, data=self.data)


class BrokerRequest(Request, frozen=True, kw_only=True):
    """A draft is to be sent."""

    draft: Draft[Any]


def request(message_id: str, draft: Draft[Any], seconds: float) -> BrokerRequest:
    """The request to send a draft.

    Args:
        message_id: The id that the message gets.
        draft: The rest of it.
        seconds: How long to wait, for permission to send and for the answer together.
    """
    return BrokerRequest(id=message_id, seconds=seconds, answer=draft.answer, draft=draft)


def associate() -> Draft[Any]:
    """Tells the broker who the client is."""
    return Draft(
        targets=(BROKER_URI,),
        message_type=MessageType.ASSOCIATE_REQUEST.value,
        ttl_seconds=ASSOCIATION_TTL_MS / 1_000,
    )


def send(
    targets: Sequence[str],
    message_type: str,
    data: bytes | None,
    ttl_seconds: float,
    *,
    in_reply_to: str | None = None,
) -> Draft[Any]:
    """Sends a message; the broker says nothing if all goes well."""
    return Draft(
        targets=tuple(targets),
        message_type=message_type,
        data=data,
        ttl_seconds=ttl_seconds,
        in_reply_to=UNSET if in_reply_to is None else in_reply_to,
    )


def send_reported(
    targets: Sequence[str], message_type: str, data: bytes | None, ttl_seconds: float
) -> Draft[DestinationReport]:
    """Sends a message; the broker tells who its receivers are."""
    return Draft(
        targets=tuple(targets),
        message_type=message_type,
        data=data,
        ttl_seconds=ttl_seconds,
        answer=DestinationReport,
        destination_report=True,
    )


def inventory(query: Sequence[str], ttl_seconds: float) -> Draft[InventoryResponse]:
    """Asks for the connected nodes that a query matches."""
    return Draft(
        targets=(BROKER_URI,),
        message_type=MessageType.INVENTORY_REQUEST.value,
        data=InventoryRequest(query=tuple(query)),
        ttl_seconds=ttl_seconds,
        answer=InventoryResponse,
    )
