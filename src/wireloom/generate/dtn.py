"""A store-and-forward network of eight nodes: keys, bundles, and how custody moves.

A bundle goes from hop to hop. Every hop notes itself in the path, spends a copy, and tells
the hop before that it took the bundle over. Each node has one user. One more node only
listens: it composes nothing, so the traffic does not tell who it is.
"""

from collections.abc import Sequence
from hashlib import sha256
from itertools import pairwise
from typing import Any, Final, NamedTuple, cast

from msgspec.structs import replace

from wireloom.capture.frame import Direction
from wireloom.generate.scene import Scene
from wireloom.generate.timeline import MINUTE_US, SECOND_US
from wireloom.protocols.dtn.bundles import Envelope, put_bundle, put_envelope
from wireloom.protocols.dtn.constants import MAX_ROUTE_PATH, Destination
from wireloom.protocols.dtn.control import put_control
from wireloom.protocols.dtn.identity import myc_tag_star
from wireloom.protocols.dtn.integrity import bundle_id, compose, sign
from wireloom.protocols.dtn.messages import ControlMessage, HopAck
from wireloom.wire.keys import SigningKey, uid
from wireloom.wire.outcome import Outcome

NODES: Final = 8
LINKS: Final = ("ble0", "wifi0", "lora0", "nostr")
SKEWED_MS: Final = {4: 90_000, 6: -45_000}
"""Clocks that are off: latencies below zero come from them."""

HOP_ACK_TTL_SEC: Final = 600
GROUP_KEY_SEED: Final = b"the key of a group that only exists in a generated corpus"


class Node(NamedTuple):
    """One node and its user."""

    name: str
    key: SigningKey
    uid: bytes
    skew_ms: int

    def clock(self, at: int) -> int:
        """The node's own time at an instant, in ms since 1970."""
        return at // 1000 + self.skew_ms


class Parcel(NamedTuple):
    """A bundle, and all that its carriers need of it."""

    envelope: Envelope
    raw: bytes
    id: bytes
    deadline_ms: int


class Carriers:
    """The nodes, and what they do with bundles.

    Args:
        scene: Where they are.
    """

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.rng = scene.rng
        self.nodes = [self._node(number) for number in range(1, NODES + 1)]
        self.outsider = self._node(NODES + 1)
        self.listener = self._node(NODES + 2)
        self.cluster = myc_tag_star(node.key.public for node in self.nodes)
        self.group_key = sha256(GROUP_KEY_SEED).digest()

    def _node(self, number: int) -> Node:
        key = SigningKey(self.rng.randbytes(32))
        return Node(f"dtn-{number:02d}", key, uid(key.public), SKEWED_MS.get(number, 0))

    def path(self, size: int | None = None) -> list[Node]:
        """Origin, carriers and destination of a bundle."""
        return self.rng.sample(self.nodes, size or self.rng.randint(2, 4))

    def parcel(
        self,
        payload: ControlMessage,
        origin: Node,
        to: tuple[Destination, bytes],
        at: int,
        ttl_sec: int | None = None,
    ) -> Parcel:
        """A new bundle, signed by its origin.

        Args:
            payload: What it carries.
            origin: By whose clock it is made.
            to: For whom it is.
            at: When it is made.
            ttl_sec: Its lifetime, if not the usual one.
        """
        made_at = origin.clock(at)
        bundle = compose(payload, origin.key, to, created_at=made_at, ttl_sec=ttl_sec)
        envelope = Envelope(bundle.signature, bundle.header, put_control(payload))
        identity = bundle_id(bundle.header, envelope.payload_cbor)
        deadline_ms = bundle.header.created_at + bundle.header.ttl_sec * 1000
        return Parcel(envelope, put_envelope(envelope), identity, deadline_ms)

    def signed(self, message: ControlMessage, key: SigningKey) -> ControlMessage:
        """A control message with its own signature."""
        return cast("ControlMessage", sign(message, key))

    def see(self, at: int, node: Node, direction: Direction, raw: bytes, **more: Any) -> bool:
        """A frame is seen at a node."""
        return self.scene.see(at, node.name, direction, raw, **more)

    def compose(self, at: int, node: Node, parcel: Parcel) -> None:
        """The sighting of a bundle where it is made."""
        what = {"link": LINKS[0], "outcome": Outcome.ACCEPTED}
        self.see(at, node, Direction.LOCAL, parcel.raw, **what)

    def carry(
        self,
        parcel: Parcel,
        path: Sequence[Node],
        at: int,
        *,
        outcome: Outcome = Outcome.DELIVERED,
        acked: bool = True,
    ) -> int:
        """A bundle goes from hop to hop; gives the instant of its arrival at the last.

        Args:
            parcel: The bundle.
            path: Composer, carriers, and where it ends.
            at: When it is composed.
            outcome: What becomes of it at the last node.
            acked: Whether each hop tells the one before that it took it over.
        """
        self.compose(at, path[0], parcel)
        envelope = parcel.envelope
        last = len(path) - 2
        for index, (sender, receiver) in enumerate(pairwise(path)):
            envelope = _handed_on(envelope, sender)
            raw = put_envelope(envelope)
            link = self.rng.choice(LINKS)
            at = self.scene.after(at, SECOND_US // 10, 20 * SECOND_US)
            self.see(at, sender, Direction.OUT, raw, link=link, peer=receiver.name)
            at = self.scene.after(at, 20_000, SECOND_US)
            here = outcome if index == last else Outcome.FORWARDED
            self.see(at, receiver, Direction.IN, raw, link=link, peer=sender.name, outcome=here)
            if acked:
                self._take_over(parcel.id, receiver, sender, at, link)
        return at

    def hand(self, parcel: Parcel, sender: Node, receiver: Node, at: int) -> int:
        """A control bundle goes to a neighbour and is accepted there."""
        return self.carry(parcel, [sender, receiver], at, outcome=Outcome.ACCEPTED, acked=False)

    def _take_over(self, id_: bytes, node: Node, before: Node, at: int, link: str) -> None:
        said = HopAck(bundle_id=id_, from_node=node.key.public, timestamp=node.clock(at))
        to = (Destination.NODE, before.key.public)
        made_at = node.clock(at)
        raw = put_bundle(compose(said, node.key, to, created_at=made_at, ttl_sec=HOP_ACK_TTL_SEC))
        at = self.scene.after(at, 1_000, 50_000)
        self.see(at, node, Direction.OUT, raw, link=link, peer=before.name)
        at = self.scene.after(at, 5_000, SECOND_US)
        what = {"link": link, "peer": node.name, "outcome": Outcome.ACCEPTED}
        self.see(at, before, Direction.IN, raw, **what)


def pause(scene: Scene, at: int) -> int:
    """When carriers meet again."""
    return scene.after(at, MINUTE_US, 10 * MINUTE_US)


def _handed_on(envelope: Envelope, carrier: Node) -> Envelope:
    header = envelope.header
    passed = (*(header.route_path or ()), carrier.key.public)[-MAX_ROUTE_PATH:]
    budget = max(1, (header.copy_budget or 1) - 1)
    tried = (header.attempts or 0) + 1
    changed = replace(header, route_path=passed, copy_budget=budget, attempts=tried)
    return envelope._replace(header=changed)
