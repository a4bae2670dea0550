"""Bundles with a fate: delivered, recalled, expired, lost or still on their way."""

from collections.abc import Sequence
from typing import Final

from wireloom.capture.frame import Direction
from wireloom.generate.dtn import LINKS, Carriers, Node, Parcel, pause
from wireloom.generate.dtn_chatter import GROUP, SUBSCRIBERS, TOPIC, Chatter
from wireloom.generate.dtn_forgery import Forger, Victim
from wireloom.generate.scene import Conversations, Kind, Scene
from wireloom.generate.truth import Row
from wireloom.protocols.dtn.constants import (
    GROUP_TTL_SEC,
    UNSIGNED,
    CancelReason,
    Destination,
    GroupAction,
)
from wireloom.protocols.dtn.messages import ConfigUpdate, Data, DeliveryAck, DeliveryCancel
from wireloom.protocols.dtn.parts import DeliveryPathHop
from wireloom.protocols.dtn.sealing import (
    Invitation,
    seal_data,
    seal_invite,
    seal_update,
    sign_change,
)
from wireloom.wire.outcome import Fate, Outcome

SHORT_TTL_SEC: Final = 900
LONG_TTL_SEC: Final = 604_800
GEO_H3R5: Final = 0x851E0C73FFFFFFF
GEO_H3R7: Final = 0x871E0C709FFFFFF


class DtnConversations(Conversations):
    """All that is said in the store-and-forward network."""

    protocol = "dtn"

    def __init__(self, scene: Scene) -> None:
        self.carriers = Carriers(scene)
        self.chatter = Chatter(self.carriers)
        self._forger = Forger(self.carriers)
        self._version = 0
        super().__init__(scene)

    def kinds(self) -> Sequence[Kind]:
        """Every kind of conversation."""
        return (
            (12, self.delivered),
            (2, self.delivered_to_node),
            (1, self.delivered_to_listener),
            (2, self.cancelled_as_acked),
            (1, self.recalled_too_late),
            (2, self.recalled),
            (2, self.lost),
            (1, self.expired_at_origin),
            (1, self.expired_by_word),
            (2, self.waiting),
            (2, self.published),
            (1, self.to_cluster),
            (1, self.invited),
            (1, self.membership_changed),
            (1, self.configured),
            *self.chatter.kinds(),
        )

    def opening(self, at: int) -> None:
        """Some nodes subscribe to the topic of the group."""
        self.chatter.introduce(at)

    def forge(self, at: int) -> None:
        """A forged receipt or cancellation for a bundle that is under way, or a forged bundle."""
        self._forger.forge(at)

    def delivered(self, at: int) -> None:
        """A direct message, and the receipt that travels back."""
        path = self.carriers.path()
        self._delivered(path, self._message(path, at), at)

    def delivered_to_node(self, at: int) -> None:
        """The same, addressed to a node instead of its user."""
        path = self.carriers.path()
        to = (Destination.NODE, path[-1].key.public)
        self._delivered(path, self._plain(path[0], to, at), at)

    def delivered_to_listener(self, at: int) -> None:
        """A message to a node that says nothing; its own record is the proof."""
        path = [*self.carriers.path(2), self.carriers.listener]
        parcel = self._message(path, at)
        row = self._open(parcel, path[-1].uid, at)
        outcome = self.rng.choice((Outcome.DELIVERED, Outcome.ACKED))
        row.prove(
            Fate.DELIVERED, self.carriers.carry(parcel, path, at, outcome=outcome, acked=False)
        )

    def cancelled_as_acked(self, at: int) -> None:
        """A message whose destination says with a cancellation that it has it."""
        path = self.carriers.path(3)
        parcel = self._message(path, at)
        row = self._open(parcel, path[-1].uid, at)
        arrived = self.carriers.carry(parcel, path, at)
        self._cancel(parcel, CancelReason.ACKED, path[::-1], arrived)
        row.prove(Fate.DELIVERED, arrived)

    def recalled_too_late(self, at: int) -> None:
        """A message that its origin recalls after it was delivered."""
        path = self.carriers.path(3)
        parcel = self._message(path, at)
        arrived = self._delivered(path, parcel, at)
        self._cancel(parcel, CancelReason.RECALLED, path, pause(self.scene, arrived))

    def recalled(self, at: int) -> None:
        """A message that its origin recalls while it is under way."""
        path = self.carriers.path(3)
        parcel = self._message(path, at)
        row = self._open(parcel, path[-1].uid, at)
        self.carriers.carry(parcel, path[:2], at, outcome=Outcome.QUEUED)
        recalled_at = pause(self.scene, at)
        self._cancel(parcel, CancelReason.RECALLED, path[:2], recalled_at)
        row.prove(Fate.CANCELLED, recalled_at)

    def lost(self, at: int) -> None:
        """A message that a carrier takes along and nobody sees again."""
        self._strand(at, SHORT_TTL_SEC)

    def waiting(self, at: int) -> None:
        """A message that a carrier still has at the end."""
        self._strand(at, LONG_TTL_SEC)

    def expired_at_origin(self, at: int) -> None:
        """A message that its origin drops when its time is over."""
        origin, _, row, parcel = self._strand(at, SHORT_TTL_SEC)
        over = max(at, parcel.deadline_ms * 1000 - origin.skew_ms * 1000)
        self.carriers.see(
            over, origin, Direction.LOCAL, parcel.raw, link=LINKS[0], outcome=Outcome.EXPIRED
        )
        row.prove(Fate.EXPIRED, over)

    def expired_by_word(self, at: int) -> None:
        """A message of which its origin tells everyone that it is over."""
        origin, carrier, row, parcel = self._strand(at, SHORT_TTL_SEC)
        over = max(at, parcel.deadline_ms * 1000 - origin.skew_ms * 1000)
        self._cancel(parcel, CancelReason.EXPIRED, [origin, carrier], over)
        row.prove(Fate.EXPIRED, over)

    def published(self, at: int) -> None:
        """A message to a topic, which one subscriber acknowledges."""
        reader = self.rng.choice(self.carriers.nodes[:SUBSCRIBERS])
        writer = self.rng.choice(self.carriers.nodes[SUBSCRIBERS:])
        parcel = self._plain(writer, (Destination.TOPIC, TOPIC), at, ttl_sec=GROUP_TTL_SEC)
        self._received([writer, reader], parcel, TOPIC, at)

    def to_cluster(self, at: int) -> None:
        """A message to all nodes, which one of them acknowledges."""
        path = self.carriers.path(2)
        cluster = self.carriers.cluster
        self._received(path, self._plain(path[0], (Destination.CLUSTER, cluster), at), cluster, at)

    def invited(self, at: int) -> None:
        """An invitation to a group, sealed for one user."""
        path = self.carriers.path(3)
        invitation = Invitation(
            group_id=GROUP,
            display_name="Hiking Club",
            group_key=self.carriers.group_key,
            admin_pub_key=path[0].key.public,
            invited_at=path[0].clock(at),
        )
        sealed = seal_invite(
            invitation,
            path[-1].key.public,
            ephemeral=self.rng.randbytes(32),
            nonce=self.rng.randbytes(24),
        )
        parcel = self.carriers.parcel(sealed, path[0], (Destination.USER, path[-1].uid), at)
        self._delivered(path, parcel, at)

    def membership_changed(self, at: int) -> None:
        """A new member of the group, told to its topic."""
        reader = self.rng.choice(self.carriers.nodes[:SUBSCRIBERS])
        admin, member = self.carriers.nodes[-1], self.carriers.nodes[-2]
        change = sign_change(
            self.rng.choice(list(GroupAction)),
            member.uid,
            group_id=GROUP,
            timestamp=admin.clock(at),
            key=admin.key,
        )
        nonce = self.rng.randbytes(12)
        sealed = seal_update(change, self.carriers.group_key, nonce=nonce)
        parcel = self.carriers.parcel(sealed, admin, (Destination.TOPIC, TOPIC), at)
        self._received([admin, reader], parcel, TOPIC, at)

    def configured(self, at: int) -> None:
        """Settings from a manager for one user's node."""
        path = self.carriers.path(2)
        self._version += 1
        update = ConfigUpdate(
            version=self._version,
            issued_at_ms=path[0].clock(at),
            flags={"spray.max": "8", "log": self.rng.choice(("on", "off"))},
            issuer_key=path[0].key.public,
            signature=UNSIGNED,
        )
        signed = self.carriers.signed(update, path[0].key)
        to = (Destination.USER, path[-1].uid)
        self._delivered(path, self.carriers.parcel(signed, path[0], to, at), at)

    def _message(self, path: Sequence[Node], at: int) -> Parcel:
        sealed = seal_data(
            self.rng.randbytes(self.rng.randint(16, 120)),
            path[-1].key.public,
            ephemeral=self.rng.randbytes(32),
            nonce=self.rng.randbytes(12),
        )
        return self.carriers.parcel(sealed, path[0], (Destination.USER, path[-1].uid), at)

    def _plain(
        self, origin: Node, to: tuple[Destination, bytes], at: int, ttl_sec: int | None = None
    ) -> Parcel:
        data = Data(ciphertext=self.rng.randbytes(self.rng.randint(16, 120)))
        return self.carriers.parcel(data, origin, to, at, ttl_sec=ttl_sec)

    def _open(self, parcel: Parcel, to: bytes, at: int) -> Row:
        deadline_ms = parcel.deadline_ms
        return self.scene.row(parcel.id.hex(), to.hex(), deadline_ms=deadline_ms, at=at)

    def _delivered(self, path: Sequence[Node], parcel: Parcel, at: int) -> int:
        (to,) = parcel.envelope.header.destinations().values()
        return self._received(path, parcel, to, at)

    def _received(self, path: Sequence[Node], parcel: Parcel, to: bytes, at: int) -> int:
        row = self._open(parcel, to, at)
        arrived = self.carriers.carry(parcel, path, at)
        self._acknowledge(parcel, path, arrived)
        row.prove(Fate.DELIVERED, arrived)
        return arrived

    def _acknowledge(self, parcel: Parcel, path: Sequence[Node], at: int) -> None:
        receipt = self._receipt(parcel.id, path, at, parcel.envelope.header.created_at)
        signed = self.carriers.signed(receipt, path[-1].key)
        back = self.carriers.parcel(signed, path[-1], (Destination.USER, path[0].uid), at)
        self.carriers.carry(back, path[::-1], at, outcome=Outcome.ACCEPTED, acked=False)

    def _receipt(self, id_: bytes, path: Sequence[Node], at: int, made_at: int) -> DeliveryAck:
        reader = path[-1]
        return DeliveryAck(
            msg_id=id_,
            to_uid=path[0].uid,
            from_uid=reader.uid,
            delivered_at_ms=reader.clock(at),
            ack_h3r5=GEO_H3R5,
            ack_h3r7=GEO_H3R7,
            hop_count=len(path) - 1,
            latency_ms=reader.clock(at) - made_at,
            transport_hint=self.rng.choice(("nearby", "nostr", "relay", "lora")),
            path=tuple(DeliveryPathHop(node=node.key.public) for node in path),
            sig=UNSIGNED,
        )

    def _cancel(self, parcel: Parcel, why: CancelReason, path: Sequence[Node], at: int) -> None:
        issuer = path[0]
        cancel = DeliveryCancel(
            msg_id=parcel.id, reason=why, issued_by_uid=issuer.uid, sig=UNSIGNED
        )
        signed = self.carriers.signed(cancel, issuer.key)
        to = (Destination.CLUSTER, self.carriers.cluster)
        told = self.carriers.parcel(signed, issuer, to, at)
        self.carriers.carry(told, path, at, outcome=Outcome.ACCEPTED, acked=False)

    def _strand(self, at: int, ttl_sec: int) -> tuple[Node, Node, Row, Parcel]:
        """A message that comes no further than to its first carrier."""
        origin, carrier, destination = self.carriers.path(3)
        parcel = self._plain(origin, (Destination.USER, destination.uid), at, ttl_sec=ttl_sec)
        row = self._open(parcel, destination.uid, at)
        self.carriers.carry(parcel, [origin, carrier], at, outcome=Outcome.QUEUED)
        self._forger.victims.append(Victim(parcel.id, origin, destination))
        return origin, carrier, row, parcel
