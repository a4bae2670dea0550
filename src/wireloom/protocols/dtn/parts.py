"""What DTN messages are made of: the base of every map, a bundle's header, a hop.

A field `bundle_id` has the key `bundleId` on the wire: `camel` is the rule.
"""

from typing import Annotated, ClassVar

from msgspec import Meta

from wireloom.protocols.dtn.constants import (
    MAX_COPY_BUDGET,
    MAX_ROUTE_PATH,
    Destination,
    MsgType,
    Priority,
)
from wireloom.wire.fields import U8, U32, U64, Bytes32, Millis
from wireloom.wire.message import Message

Extra = dict[str, object]
"""What a sender wrote under keys that this version does not know, signed like the rest."""

CopyBudget = Annotated[int, Meta(ge=0, le=MAX_COPY_BUDGET, extra={"size": "0 to 15"})]
RoutePath = Annotated[
    tuple[Bytes32, ...], Meta(max_length=MAX_ROUTE_PATH, extra={"size": "n × 32 B, n ≤ 8"})
]


def camel(name: str) -> str:
    """The wire's spelling of a field: `ack_h3r5` is `ackH3r5`."""
    head, *tail = name.split("_")
    return head + "".join(word.capitalize() for word in tail)


class DtnMap(Message, frozen=True, kw_only=True, rename=camel):
    """Anything that is one CBOR map; keys that its class does not declare are its `extra`."""

    number: ClassVar[MsgType | None] = None
    """What stands under `msgType`, in a map that has one."""


class DeliveryPathHop(DtnMap, frozen=True, kw_only=True):
    """One hop on the way of an acknowledged bundle (R10)."""

    node: bytes | None = None
    """The node, as its reporter names it."""

    transport: str | None = None
    """How the bundle came to it."""

    at_ms: Millis | None = None
    """When, in ms since 1970."""

    extra: Extra = {}
    """Fields that this version does not know."""


class BundleHeader(DtnMap, frozen=True, kw_only=True):
    """Where a bundle comes from, where it goes and how long it lives."""

    src_pub: Bytes32
    """Public key of the sender, who signs the bundle."""

    created_at: Millis
    """When the bundle was made, in ms since 1970."""

    payload_hash: Bytes32
    """SHA-256 of the payload's bytes."""

    ttl_sec: U32
    """Lifetime in seconds (R27)."""

    priority: Priority
    """How urgent it is."""

    dst_user: Bytes32 | None = None
    """UID of the user it is for. Exactly one of the four `dst` fields is there."""

    dst_node: Bytes32 | None = None
    """The node it is for."""

    dst_topic: Bytes32 | None = None
    """The topic it is for."""

    dst_cluster: Bytes32 | None = None
    """The cluster it is for."""

    geo_h3r5: U64 | None = None
    """Coarse place it is for: an H3 index of resolution 5."""

    geo_h3r7: U64 | None = None
    """Finer place: an H3 index of resolution 7."""

    msg_type: U8 | None = None
    """The payload's type once more, where the sender repeats it (R16)."""

    copy_budget: CopyBudget | None = None
    """How many copies may still be made; every hop may change it."""

    attempts: U32 | None = None
    """How often it was tried to send; every hop may change it."""

    route_path: RoutePath | None = None
    """Public keys of the nodes it passed; every hop may change it."""

    extra: Extra = {}
    """Fields that this version does not know."""

    def destinations(self) -> dict[Destination, bytes]:
        """The destinations that are there: in a good header, one."""
        named = (
            (Destination.USER, self.dst_user),
            (Destination.NODE, self.dst_node),
            (Destination.TOPIC, self.dst_topic),
            (Destination.CLUSTER, self.dst_cluster),
        )
        return {kind: address for kind, address in named if address is not None}
