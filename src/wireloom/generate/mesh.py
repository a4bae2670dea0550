"""A MyriadMesh of twelve nodes: who they are, how they sign, and how frames travel.

Two nodes are reached by LoRa only. The clocks of two others are off. A thirteenth node never
makes its key known and captures nothing: what it signs, nobody can verify. A fourteenth only
listens: it captures and composes nothing, so the traffic does not tell who it is.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from wireloom.capture.frame import Direction
from wireloom.generate.scene import Scene
from wireloom.generate.timeline import MINUTE_US, SECOND_US
from wireloom.protocols.myriadmesh.codec import encode
from wireloom.protocols.myriadmesh.constants import (
    BROADCAST_ID,
    DEFAULT_PRIORITY,
    DEFAULT_TTL,
    SIGNATURE_SIZE,
    Flags,
)
from wireloom.protocols.myriadmesh.integrity import message_id, node_id, relay, signing_bytes
from wireloom.protocols.myriadmesh.messages import Frame, Payload
from wireloom.protocols.myriadmesh.sealing import SessionKeys, seal_frame, session_keys
from wireloom.wire.ciphers import x25519_public
from wireloom.wire.keys import SigningKey
from wireloom.wire.outcome import Outcome

NODES: Final = 12
RADIO_NODES: Final = (11, 12)
SKEWED_MS: Final = {5: 150_000, 8: -200_000}
"""Clocks that are off, within what receivers allow."""

UDP: Final = "udp"
LORA: Final = "lora0"
MAX_RELAYS: Final = 8
"""A frame is sent with ten hops to live."""

_UNSIGNED: Final = bytes(SIGNATURE_SIZE)


class Node(NamedTuple):
    """One node of the mesh."""

    name: str
    key: SigningKey
    id: bytes
    radio: bool
    skew_ms: int


class Trip(NamedTuple):
    """How far a frame came."""

    at: int
    """When it was last seen, in µs."""

    raw: bytes
    """As it was last seen."""

    lora: bool
    """Whether any captured sighting is on a LoRa link."""


class Mesh:
    """The nodes, and what they do with frames.

    Args:
        scene: Where they are.
        sightings: How often a relayed frame is seen on average: at its composer twice, at
            each relay twice, at its destination once.
    """

    def __init__(self, scene: Scene, sightings: int) -> None:
        self.scene = scene
        self.rng = scene.rng
        self.nodes = [self._node(number) for number in range(1, NODES + 1)]
        self.stranger = self._node(NODES + 1)
        self.listener = self._node(NODES + 2)
        self._relays = max(0.0, (sightings - 3) / 2)
        self._sessions: dict[tuple[bytes, bytes], SessionKeys] = {}

    def _node(self, number: int) -> Node:
        key = SigningKey(self.rng.randbytes(32))
        radio = number in RADIO_NODES
        name = f"mesh-{number:02d}"
        return Node(name, key, node_id(key.public), radio, SKEWED_MS.get(number, 0))

    def pair(self) -> tuple[Node, Node]:
        """Two nodes that talk to each other."""
        one, other = self.rng.sample(self.nodes, 2)
        return one, other

    def path(self, source: Node, destination: Node) -> list[Node]:
        """A way through the mesh, by as many relays as the sightings ask for."""
        relays = int(self._relays) + (self.rng.random() < self._relays % 1)
        if relays > 1:
            relays += self.rng.randint(-1, 1)
        between = [node for node in self.nodes if node.id not in (source.id, destination.id)]
        chosen = self.rng.sample(between, min(relays, MAX_RELAYS))
        return [source, *chosen, destination]

    def draft(self, source: Node, payload: Payload, to: bytes, at: int, **more: Any) -> Frame:
        """A frame that is not signed yet, by its source's clock."""
        timestamp = at // 1000 + more.pop("skew_ms", source.skew_ms)
        flags = more.pop("flags", Flags(0))
        if to == BROADCAST_ID:
            flags |= Flags.BROADCAST
        return Frame(
            flags=flags,
            message_type=payload.message_type,
            priority=more.pop("priority", DEFAULT_PRIORITY),
            ttl=DEFAULT_TTL,
            message_id=message_id(
                timestamp=timestamp, source_node_id=source.id, nonce=self.rng.randbytes(8)
            ),
            source_node_id=source.id,
            dest_node_id=to,
            timestamp=timestamp,
            payload=payload,
            **more,
        )

    def signed(self, frame: Frame, key: SigningKey) -> bytes:
        """The bytes of a frame with a signature of `key`, whoever its source is."""
        raw = encode(replace(frame, flags=frame.flags | Flags.SIGNED, signature=_UNSIGNED))
        return raw[:-SIGNATURE_SIZE] + key.sign(signing_bytes(raw))

    def sealed(self, frame: Frame, source: Node, destination: Node) -> Frame:
        """A frame that only its destination can read."""
        keys = self._sessions.get((source.id, destination.id))
        if keys is None:
            public = x25519_public(destination.key.exchange_key())
            keys = session_keys(
                source.key.exchange_key(), public, own_id=source.id, peer_id=destination.id
            )
            self._sessions[source.id, destination.id] = keys
        return seal_frame(frame, keys.tx_key)

    def see(self, at: int, node: Node, direction: Direction, raw: bytes, **more: Any) -> bool:
        """A frame is seen at a node; the stranger captures nothing."""
        if node is self.stranger:
            return False
        return self.scene.see(at, node.name, direction, raw, **more)

    def carry(
        self,
        raw: bytes,
        path: Sequence[Node],
        at: int,
        *,
        vanish: bool = False,
        again: bool = False,
        **verdict: Any,
    ) -> Trip:
        """A frame goes from the first node of a path to the last.

        Args:
            raw: As its composer sends it.
            path: Composer, relays, and where it ends.
            at: When it is composed.
            vanish: The last transmission is not received.
            again: It was composed earlier, and is sent once more.
            verdict: Outcome and reason at the last node; `delivered` if not given.
        """
        if not again:
            self.see(at, path[0], Direction.LOCAL, raw, link=UDP, outcome=Outcome.ACCEPTED)
        lora = False
        last = len(path) - 2
        for index, (sender, receiver) in enumerate(pairwise(path)):
            if index:
                raw = relay(raw)
            over = LORA if sender.radio or receiver.radio else UDP
            at = self.scene.after(at, 300, 4_000)
            seen = self.see(at, sender, Direction.OUT, raw, link=over, peer=receiver.name)
            lora = lora or (seen and over == LORA)
            if vanish and index == last:
                break
            at = self._received_at(at, over)
            what = {"outcome": Outcome.DELIVERED if index == last else Outcome.FORWARDED}
            if index == last:
                what |= verdict
            seen = self.see(at, receiver, Direction.IN, raw, link=over, peer=sender.name, **what)
            lora = lora or (seen and over == LORA)
        return Trip(at, raw, lora)

    def onward(self, trip: Trip, path: Sequence[Node], at: int, **more: Any) -> Trip:
        """A frame that waited at the first node of a path goes on, one hop at a time."""
        raw = relay(trip.raw)
        sender, receiver = path
        over = LORA if sender.radio or receiver.radio else UDP
        self.see(at, sender, Direction.OUT, raw, link=over, peer=receiver.name)
        at = self._received_at(at, over)
        self.see(at, receiver, Direction.IN, raw, link=over, peer=sender.name, **more)
        return Trip(at, raw, trip.lora)

    def spread(self, raw: bytes, source: Node, at: int, *, outcome: Outcome, count: int) -> int:
        """A broadcast reaches `count` neighbours; gives the instant of the last reception."""
        self.see(at, source, Direction.LOCAL, raw, link=UDP, outcome=Outcome.ACCEPTED)
        link = LORA if source.radio else UDP
        at = self.scene.after(at, 300, 4_000)
        self.see(at, source, Direction.OUT, raw, link=link)
        others = [node for node in self.nodes if node is not source]
        for receiver in self.rng.sample(others, count):
            at = self._received_at(at, link)
            what = {"link": link, "peer": source.name, "outcome": outcome}
            self.see(at, receiver, Direction.IN, raw, **what)
        return at

    def _received_at(self, at: int, link: str) -> int:
        if link == LORA:
            return self.scene.after(at, SECOND_US // 5, SECOND_US)
        return self.scene.after(at, 2_000, 40_000)


def later(scene: Scene, at: int) -> int:
    """When a node that was away comes back."""
    return scene.after(at, MINUTE_US, 40 * MINUTE_US)
