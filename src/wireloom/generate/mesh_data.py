"""DATA in the mesh: what is delivered, refused, queued, lost, broadcast, batched and forged."""

from collections import deque
from collections.abc import Sequence
from itertools import cycle
from typing import Any, Final, NamedTuple

from wireloom.capture.frame import Direction
from wireloom.generate import mesh_chatter
from wireloom.generate.mesh import LORA, UDP, Mesh, Node, Trip, later
from wireloom.generate.scene import VICTIMS, Conversations, Kind, Scene
from wireloom.generate.timeline import END_MS, END_US, SECOND_US
from wireloom.generate.truth import Row
from wireloom.protocols.myriadmesh.codec import decode, encode
from wireloom.protocols.myriadmesh.constants import (
    ACK_TIMEOUT_MS,
    BROADCAST_ID,
    CACHE_MS,
    DEFAULT_PRIORITIES,
    LORA_ACK_TIMEOUT_MS,
    AckType,
    Band,
    ContentType,
    ErrorCode,
    Flags,
)
from wireloom.protocols.myriadmesh.messages import Ack, Data, DataBatch, Error, Frame, Heartbeat
from wireloom.wire.outcome import Fate, Outcome, Reason

REASONS: Final = {
    ErrorCode.INVALID_SIGNATURE: Reason.BAD_SIGNATURE,
    ErrorCode.DECRYPTION_FAILED: Reason.DECRYPT_FAILED,
    ErrorCode.UNKNOWN_DESTINATION: Reason.UNKNOWN_DESTINATION,
    ErrorCode.TTL_EXCEEDED: Reason.TTL_EXCEEDED,
    ErrorCode.PAYLOAD_TOO_LARGE: Reason.TOO_LARGE,
    ErrorCode.UNSUPPORTED_VERSION: Reason.UNSUPPORTED_VERSION,
    ErrorCode.RATE_LIMIT_EXCEEDED: Reason.RATE_LIMITED,
    ErrorCode.NODE_UNAVAILABLE: Reason.NO_ROUTE,
}
"""What an ERROR says of a message, in the words that all protocols share."""

BY_RELAYS: Final = {
    ErrorCode.UNKNOWN_DESTINATION,
    ErrorCode.TTL_EXCEEDED,
    ErrorCode.NODE_UNAVAILABLE,
}
"""Errors that a relay tells, because the destination was not reached."""

TEXTS: Final = (b"temperature 21.5", b"door open", b"position 47.07 15.43", b"battery 71 %")


class Victim(NamedTuple):
    """A message whose fate a forger would like to decide."""

    message_id: bytes
    origin: Node
    destination: Node


class MeshConversations(Conversations):
    """All that is said in the mesh."""

    protocol = "myriadmesh"

    def __init__(self, scene: Scene, *, sightings: int) -> None:
        self.mesh = Mesh(scene, sightings)
        self.chatter = mesh_chatter.Chatter(self.mesh)
        self._codes = cycle(ErrorCode)
        self._forgeries = cycle((self._forged_ack, self._forged_error, self._forged_data))
        self._victims: deque[Victim] = deque(maxlen=VICTIMS)
        super().__init__(scene)

    def kinds(self) -> Sequence[Kind]:
        """Conversations about DATA, and the chatter beside them."""
        return (
            (14, self.delivered),
            (8, self.delivered_sealed),
            (5, self.delivered_directly),
            (3, self.lost),
            (1, self.dropped),
            (3, self.refused),
            *[(0, self.refused)] * (len(ErrorCode) - 1),
            (1, self.failed),
            (1, self.refused_and_delivered),
            (2, self.queued_and_delivered),
            (1, self.queued),
            (3, self.broadcast),
            (1, self.broadcast_unheard),
            (1, self.batch),
            (1, self.batch_lost),
            (1, self.to_stranger),
            (1, self.to_listener),
            *self.chatter.kinds(),
        )

    def opening(self, at: int) -> None:
        """Every node makes its key known."""
        self.chatter.introduce(at)

    def closing(self) -> None:
        """The last frame of all, which is at the horizon."""
        node = self.mesh.nodes[0]
        payload = Heartbeat(sequence_number=0, uptime=END_MS // 1000 % 86_400, load_average=0.0)
        raw = self.mesh.signed(self.mesh.draft(node, payload, BROADCAST_ID, END_US), node.key)
        self.mesh.see(END_US, node, Direction.LOCAL, raw, link=UDP, outcome=Outcome.ACCEPTED)

    def forge(self, at: int) -> None:
        """A forged answer about a message that was not delivered, or a forged message."""
        forge = next(self._forgeries)
        if not self._victims:
            forge = self._forged_data
        if forge(at):
            self.scene.truth.forged()

    def delivered(self, at: int) -> None:
        """A message by relays, and its acknowledgement."""
        source, destination = self.mesh.pair()
        self._deliver(at, source, destination, self.mesh.path(source, destination))

    def delivered_directly(self, at: int) -> None:
        """A message to a neighbour, and its acknowledgement."""
        source, destination = self.mesh.pair()
        self._deliver(at, source, destination, [source, destination])

    def delivered_sealed(self, at: int) -> None:
        """A message that relays cannot read, and its acknowledgement."""
        source, destination = self.mesh.pair()
        path = self.mesh.path(source, destination)
        self._deliver(at, source, destination, path, sealed=True)

    def lost(self, at: int) -> None:
        """A message that vanishes on some hop."""
        source, destination = self.mesh.pair()
        path = self.mesh.path(source, destination)
        frame, raw = self._data(source, destination, at)
        trip = self.mesh.carry(raw, path[: self.rng.randint(2, len(path))], at, vanish=True)
        self._open(frame, trip, at)
        self._victims.append(Victim(frame.message_id, source, destination))

    def dropped(self, at: int) -> None:
        """A message that a relay refuses without a word."""
        source, relay, destination = self.rng.sample(self.mesh.nodes, 3)
        frame, raw = self._data(source, destination, at)
        verdict: dict[str, Any] = {"outcome": Outcome.REJECTED, "reason": Reason.QUEUE_FULL}
        trip = self.mesh.carry(raw, [source, relay], at, **verdict)
        self._open(frame, trip, at)
        self._victims.append(Victim(frame.message_id, source, destination))

    def refused(self, at: int) -> None:
        """A message that is answered with an ERROR; the eight codes take turns."""
        source, relay, destination = self.rng.sample(self.mesh.nodes, 3)
        code = next(self._codes)
        path = [source, relay] if code in BY_RELAYS else [source, relay, destination]
        frame, raw = self._data(source, destination, at)
        trip = self.mesh.carry(raw, path, at, outcome=Outcome.REJECTED, reason=REASONS[code])
        row = self._open(frame, trip, at)
        self._tell_error(row, frame, code, path[::-1], trip.at)

    def failed(self, at: int) -> None:
        """A message of which a relay says that it could not be carried on."""
        source, relay, destination = self.rng.sample(self.mesh.nodes, 3)
        frame, raw = self._data(source, destination, at)
        verdict: dict[str, Any] = {"outcome": Outcome.REJECTED, "reason": Reason.NO_ROUTE}
        trip = self.mesh.carry(raw, [source, relay], at, **verdict)
        row = self._open(frame, trip, at)
        self._acknowledge(frame, AckType.FAILED, [relay, source], trip.at)
        row.prove(Fate.REJECTED, trip.at, Reason.NO_ROUTE)

    def refused_and_delivered(self, at: int) -> None:
        """A message that one relay gives up and another delivers."""
        source, first, second, destination = self.rng.sample(self.mesh.nodes, 4)
        frame, raw = self._data(source, destination, at)
        code = ErrorCode.NODE_UNAVAILABLE
        verdict: dict[str, Any] = {"outcome": Outcome.REJECTED, "reason": REASONS[code]}
        trip = self.mesh.carry(raw, [source, first], at, **verdict)
        way = [source, second, destination]
        again = self.mesh.carry(raw, way, trip.at + 2 * SECOND_US, again=True)
        row = self._open(frame, Trip(again.at, again.raw, trip.lora or again.lora), at)
        self._tell_error(row, frame, code, [first, source], trip.at)
        self._acknowledge(frame, AckType.DELIVERED, [destination, second, source], again.at)
        row.prove(Fate.DELIVERED, again.at)

    def queued_and_delivered(self, at: int) -> None:
        """A message that waits at a relay until its destination is back."""
        source, relay, destination = self.rng.sample(self.mesh.nodes, 3)
        frame, raw = self._data(source, destination, at)
        trip = self.mesh.carry(raw, [source, relay], at, outcome=Outcome.QUEUED)
        row = self._open(frame, trip, at, queued=True)
        self._acknowledge(frame, AckType.STORED, [relay, source], trip.at)
        back = later(self.scene, trip.at)
        arrived = self.mesh.onward(trip, [relay, destination], back, outcome=Outcome.DELIVERED)
        self._acknowledge(frame, AckType.DELIVERED, [destination, relay, source], arrived.at)
        row.prove(Fate.DELIVERED, arrived.at)

    def queued(self, at: int) -> None:
        """A message that waits at a relay to the end."""
        source, relay, destination = self.rng.sample(self.mesh.nodes, 3)
        priority = self.rng.choice(list(DEFAULT_PRIORITIES.values()))
        frame, raw = self._data(source, destination, at, priority=priority)
        trip = self.mesh.carry(raw, [source, relay], at, outcome=Outcome.QUEUED)
        self._open(frame, trip, at, queued=True)
        self._acknowledge(frame, AckType.STORED, [relay, source], trip.at)
        self._victims.append(Victim(frame.message_id, source, destination))

    def broadcast(self, at: int) -> None:
        """A message to everyone that some neighbours hear."""
        self._broadcast(at, count=self.rng.randint(2, 4))

    def broadcast_unheard(self, at: int) -> None:
        """A message to everyone that nobody hears."""
        self._broadcast(at, count=0)

    def batch(self, at: int) -> None:
        """Several messages in one frame, each acknowledged by itself."""
        source, destination = self.mesh.pair()
        frames, raw = self._batch(source, destination, at)
        trip = self.mesh.carry(raw, [source, destination], at)
        for frame in frames:
            row = self._open(frame, trip, at)
            self._acknowledge(frame, AckType.DELIVERED, [destination, source], trip.at)
            row.prove(Fate.DELIVERED, trip.at)

    def batch_lost(self, at: int) -> None:
        """Several messages in one frame that vanishes."""
        source, destination = self.mesh.pair()
        frames, raw = self._batch(source, destination, at)
        trip = self.mesh.carry(raw, [source, destination], at, vanish=True)
        for frame in frames:
            self._open(frame, trip, at)

    def to_stranger(self, at: int) -> None:
        """A message whose acknowledgement nobody can verify: the signer's key is not known."""
        source, relay = self.mesh.pair()
        stranger = self.mesh.stranger
        frame, raw = self._data(source, stranger, at)
        trip = self.mesh.carry(raw, [source, relay, stranger], at)
        self._open(frame, trip, at)
        self._acknowledge(frame, AckType.DELIVERED, [stranger, relay, source], trip.at)

    def to_listener(self, at: int) -> None:
        """A message to a node that says nothing; its own record is the proof."""
        source, relay = self.mesh.pair()
        listener = self.mesh.listener
        frame, raw = self._data(source, listener, at)
        outcome = self.rng.choice((Outcome.DELIVERED, Outcome.ACKED))
        trip = self.mesh.carry(raw, [source, relay, listener], at, outcome=outcome)
        self._open(frame, trip, at).prove(Fate.DELIVERED, trip.at)

    def _deliver(
        self, at: int, source: Node, destination: Node, path: list[Node], *, sealed: bool = False
    ) -> None:
        frame, raw = self._data(source, destination, at, sealed=sealed)
        trip = self.mesh.carry(raw, path, at)
        row = self._open(frame, trip, at)
        kind = self.rng.choice((AckType.RECEIVED, AckType.DELIVERED))
        self._acknowledge(frame, kind, path[::-1], trip.at)
        row.prove(Fate.DELIVERED, trip.at)

    def _data(
        self, source: Node, destination: Node, at: int, *, sealed: bool = False, **more: Any
    ) -> tuple[Frame, bytes]:
        flags = Flags.ACK_REQUIRED
        frame = self.mesh.draft(source, self._payload(), destination.id, at, flags=flags, **more)
        if sealed:
            frame = self.mesh.sealed(frame, source, destination)
        return frame, self.mesh.signed(frame, source.key)

    def _payload(self) -> Data:
        text = self.rng.choice(TEXTS) + b" #%d" % self.rng.randrange(10_000)
        return Data(content_type=ContentType.TEXT, data=text * self.rng.randint(1, 6))

    def _open(self, frame: Frame, trip: Trip, at: int, *, queued: bool = False) -> Row:
        allowed_ms = LORA_ACK_TIMEOUT_MS if trip.lora else ACK_TIMEOUT_MS
        if queued and trip.at <= END_US:
            allowed_ms = CACHE_MS[frame.band]
        to = None if frame.dest_node_id == BROADCAST_ID else frame.dest_node_id.hex()
        deadline_ms = frame.timestamp + allowed_ms
        return self.scene.row(frame.message_id.hex(), to, deadline_ms=deadline_ms, at=at)

    def _acknowledge(self, frame: Frame, kind: AckType, path: Sequence[Node], at: int) -> None:
        ack = Ack(original_message_id=frame.message_id, ack_type=kind)
        sender = path[0]
        draft = self.mesh.draft(sender, ack, frame.source_node_id, at, flags=Flags.ACK)
        self.mesh.carry(self.mesh.signed(draft, sender.key), path, at, outcome=Outcome.ACCEPTED)

    def _tell_error(
        self, row: Row, frame: Frame, code: ErrorCode, path: Sequence[Node], at: int
    ) -> None:
        error = Error(
            error_code=code,
            original_message_id=frame.message_id,
            error_description=code.name.lower().replace("_", " "),
        )
        sender = path[0]
        draft = self.mesh.draft(sender, error, frame.source_node_id, at)
        self.mesh.carry(self.mesh.signed(draft, sender.key), path, at, outcome=Outcome.ACCEPTED)
        row.prove(Fate.REJECTED, at, REASONS[code])

    def _broadcast(self, at: int, *, count: int) -> None:
        source = self.rng.choice(self.mesh.nodes)
        frame = self.mesh.draft(source, self._payload(), BROADCAST_ID, at)
        raw = self.mesh.signed(frame, source.key)
        heard = self.mesh.spread(raw, source, at, outcome=Outcome.DELIVERED, count=count)
        row = self._open(frame, Trip(heard, raw, source.radio), at)
        if count:
            row.prove(Fate.DELIVERED, heard)

    def _batch(self, source: Node, destination: Node, at: int) -> tuple[list[Frame], bytes]:
        raws = [self._data(source, destination, at)[1] for _ in range(self.rng.randint(2, 4))]
        frames = [frame for raw in raws if isinstance(frame := decode(raw), Frame)]
        outer = self.mesh.draft(source, DataBatch(messages=tuple(frames)), destination.id, at)
        return frames, self.mesh.signed(outer, source.key)

    def _forged_ack(self, at: int) -> bool:
        victim = self.rng.choice(self._victims)
        ack = Ack(original_message_id=victim.message_id, ack_type=AckType.DELIVERED)
        draft = self.mesh.draft(victim.destination, ack, victim.origin.id, at, flags=Flags.ACK)
        return self._slip_in(self.mesh.signed(draft, self.mesh.stranger.key), victim.origin, at)

    def _forged_error(self, at: int) -> bool:
        victim = self.rng.choice(self._victims)
        error = Error(error_code=ErrorCode.NODE_UNAVAILABLE, original_message_id=victim.message_id)
        draft = self.mesh.draft(victim.destination, error, victim.origin.id, at)
        raw = encode(draft)
        return self._slip_in(raw, victim.origin, at, reason=Reason.UNAUTHENTICATED)

    def _forged_data(self, at: int) -> bool:
        source, destination = self.mesh.pair()
        priority = DEFAULT_PRIORITIES[Band.EMERGENCY]
        draft = self.mesh.draft(source, self._payload(), destination.id, at, priority=priority)
        return self._slip_in(self.mesh.signed(draft, self.mesh.stranger.key), destination, at)

    def _slip_in(
        self, raw: bytes, node: Node, at: int, reason: Reason = Reason.BAD_SIGNATURE
    ) -> bool:
        verdict = self.scene.judged(reason)
        link = LORA if node.radio else UDP
        frame_at = self.scene.after(at, 1, SECOND_US)
        return self.mesh.see(frame_at, node, Direction.IN, raw, link=link, **verdict)
