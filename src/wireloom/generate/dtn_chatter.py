"""What a store-and-forward network says about itself: subscriptions, metrics, payments, groups."""

from collections.abc import Sequence
from typing import Final

from wireloom.capture.frame import Direction
from wireloom.generate.dtn import LINKS, Carriers, Node, pause
from wireloom.generate.scene import Kind
from wireloom.protocols.dtn.codec import encode
from wireloom.protocols.dtn.constants import UNSIGNED, Destination, SubAction
from wireloom.protocols.dtn.identity import group_id_string, short_id, topic_id
from wireloom.protocols.dtn.messages import (
    ControlMessage,
    GroupAnnounceMsg,
    LinkMetrics,
    Payment,
    SubMsg,
)
from wireloom.wire.outcome import Outcome

GROUP: Final = group_id_string("Hiking Club")
TOPIC: Final = topic_id(GROUP)
CHANNEL: Final = topic_id("channel:mesh_local")
SUBSCRIBERS: Final = 4
"""So many nodes subscribe to the group's topic at the beginning and stay."""


class Chatter:
    """Small talk between carriers."""

    def __init__(self, carriers: Carriers) -> None:
        self._carriers = carriers
        self._rng = carriers.rng
        self._nonce = 0

    def kinds(self) -> Sequence[Kind]:
        """Every kind of small talk."""
        return (
            (2, self.subscribed),
            (3, self.measured),
            (2, self.paid),
            (1, self.paid_twice),
            (1, self.announced),
        )

    def introduce(self, at: int) -> None:
        """Some nodes subscribe to the topic of the group."""
        for node in self._carriers.nodes[:SUBSCRIBERS]:
            self._subscribe(node, SubAction.SUBSCRIBE, TOPIC, at)

    def subscribed(self, at: int) -> None:
        """A node subscribes to a channel, or ends that."""
        node = self._rng.choice(self._carriers.nodes)
        self._subscribe(node, self._rng.choice(list(SubAction)), CHANNEL, at)

    def measured(self, at: int) -> None:
        """A gateway tells how well it does."""
        metrics = LinkMetrics(
            cluster_tag=self._carriers.cluster,
            gateway_score=self._rng.randrange(65) / 64,
            queue_length=self._rng.randrange(200),
            delta_in=self._rng.randrange(50),
            delta_out=self._rng.randrange(50),
        )
        gateway, neighbour = self._carriers.path(2)
        self._tell(metrics, gateway, neighbour, at)

    def paid(self, at: int) -> None:
        """A node pays another for carrying."""
        payer, payee = self._carriers.path(2)
        self._pay(self._payment(payer, payee), payer, payee, at)

    def paid_twice(self, at: int) -> None:
        """A payment that comes a second time, in a new bundle with the same nonce."""
        payer, payee = self._carriers.path(2)
        payment = self._payment(payer, payee)
        done = self._pay(payment, payer, payee, at)
        self._pay(payment, payer, payee, pause(self._carriers.scene, done))

    def announced(self, at: int) -> None:
        """A public group is made known."""
        creator, neighbour = self._carriers.path(2)
        announcement = GroupAnnounceMsg(
            group_id_string=GROUP,
            short_id=short_id(GROUP),
            display_name="Hiking Club",
            creator_uid_hex=creator.uid.hex(),
            created_at=creator.clock(at),
            creator_sig=UNSIGNED,
        )
        self._tell(self._carriers.signed(announcement, creator.key), creator, neighbour, at)

    def _payment(self, payer: Node, payee: Node) -> ControlMessage:
        self._nonce += 1
        payment = Payment(
            payer=payer.key.public,
            payee=payee.key.public,
            amount=self._rng.randint(1, 500),
            nonce=self._nonce,
            sig=UNSIGNED,
        )
        return self._carriers.signed(payment, payer.key)

    def _pay(self, payment: ControlMessage, payer: Node, payee: Node, at: int) -> int:
        parcel = self._carriers.parcel(payment, payer, (Destination.USER, payee.uid), at)
        return self._carriers.hand(parcel, payer, payee, at)

    def _tell(self, message: ControlMessage, node: Node, neighbour: Node, at: int) -> None:
        """A message to a neighbour: in a bundle, or every second time by itself."""
        if self._rng.random() < 0.5:
            to = (Destination.CLUSTER, self._carriers.cluster)
            parcel = self._carriers.parcel(message, node, to, at)
            self._carriers.hand(parcel, node, neighbour, at)
            return
        raw, link, scene = encode(message), self._rng.choice(LINKS), self._carriers.scene
        accepted = Outcome.ACCEPTED
        scene.see(at, node.name, Direction.LOCAL, raw, link=link, outcome=accepted)
        at = scene.after(at, 300, 2_000)
        scene.see(at, node.name, Direction.OUT, raw, link=link, peer=neighbour.name)
        at = scene.after(at, 20_000, 900_000)
        what = {"link": link, "peer": node.name, "outcome": accepted}
        scene.see(at, neighbour.name, Direction.IN, raw, **what)

    def _subscribe(self, node: Node, action: SubAction, topic: bytes, at: int) -> None:
        said = SubMsg(topic_id=topic, action=action, timestamp=node.clock(at))
        others = [other for other in self._carriers.nodes if other is not node]
        parcel = self._carriers.parcel(said, node, (Destination.TOPIC, topic), at)
        self._carriers.hand(parcel, node, self._rng.choice(others), at)
