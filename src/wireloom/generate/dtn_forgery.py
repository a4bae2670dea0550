"""Bundles of someone who has no say: receipts, cancellations and messages that prove nothing."""

from collections import deque
from itertools import cycle
from typing import NamedTuple

from wireloom.capture.frame import Direction
from wireloom.generate.dtn import LINKS, Carriers, Node, Parcel
from wireloom.generate.scene import VICTIMS
from wireloom.generate.timeline import SECOND_US
from wireloom.protocols.dtn.bundles import put_envelope
from wireloom.protocols.dtn.constants import UNSIGNED, CancelReason, Destination
from wireloom.protocols.dtn.messages import ControlMessage, Data, DeliveryAck, DeliveryCancel
from wireloom.wire.outcome import Reason


class Victim(NamedTuple):
    """A bundle whose fate a forger would like to decide."""

    id: bytes
    origin: Node
    destination: Node


class Forger:
    """Forges by turns: a false signer, a foreign issuer, a broken signature, a false bundle."""

    def __init__(self, carriers: Carriers) -> None:
        self._carriers = carriers
        self._rng = carriers.rng
        self._ways = cycle(
            (self._false_receipt, self._foreign_recall, self._broken_recall, self._broken_data)
        )
        self.victims: deque[Victim] = deque(maxlen=VICTIMS)

    def forge(self, at: int) -> None:
        """One forged bundle arrives at the origin of a bundle that is under way."""
        way = next(self._ways)
        if not self.victims:
            return
        victim = self._rng.choice(self.victims)
        parcel, reason = way(victim, at)
        seen = self._carriers.see(
            self._carriers.scene.after(at, 1, SECOND_US),
            victim.origin,
            Direction.IN,
            parcel.raw,
            link=LINKS[0],
            **self._carriers.scene.judged(reason),
        )
        if seen:
            self._carriers.scene.truth.forged()

    def _false_receipt(self, victim: Victim, at: int) -> tuple[Parcel, Reason]:
        """A receipt in the destination's name, in a bundle that an outsider signs."""
        receipt = DeliveryAck(
            msg_id=victim.id,
            to_uid=victim.origin.uid,
            from_uid=victim.destination.uid,
            delivered_at_ms=at // 1000,
            sig=self._rng.randbytes(64),
        )
        return self._outsiders(receipt, victim, at), Reason.UNAUTHORIZED

    def _foreign_recall(self, victim: Victim, at: int) -> tuple[Parcel, Reason]:
        """A recall that an outsider issues and signs in its own name."""
        outsider = self._carriers.outsider
        recall = DeliveryCancel(
            msg_id=victim.id,
            reason=CancelReason.RECALLED,
            issued_by_uid=outsider.uid,
            sig=UNSIGNED,
        )
        signed = self._carriers.signed(recall, outsider.key)
        return self._outsiders(signed, victim, at), Reason.UNAUTHORIZED

    def _broken_recall(self, victim: Victim, at: int) -> tuple[Parcel, Reason]:
        """A recall in the origin's name, under signatures that do not hold."""
        recall = DeliveryCancel(
            msg_id=victim.id,
            reason=CancelReason.RECALLED,
            issued_by_uid=victim.origin.uid,
            sig=self._rng.randbytes(64),
        )
        return self._broken(recall, victim, at), Reason.BAD_SIGNATURE

    def _broken_data(self, victim: Victim, at: int) -> tuple[Parcel, Reason]:
        """A message in the destination's name, under a signature that does not hold."""
        data = Data(ciphertext=self._rng.randbytes(48))
        turned = _turned(victim)
        return self._broken(data, turned, at), Reason.BAD_SIGNATURE

    def _outsiders(self, message: ControlMessage, victim: Victim, at: int) -> Parcel:
        to = (Destination.USER, victim.origin.uid)
        return self._carriers.parcel(message, self._carriers.outsider, to, at)

    def _broken(self, message: ControlMessage, victim: Victim, at: int) -> Parcel:
        to = (Destination.CLUSTER, self._carriers.cluster)
        parcel = self._carriers.parcel(message, victim.origin, to, at)
        broken = parcel.envelope._replace(signature=self._rng.randbytes(64))
        return parcel._replace(envelope=broken, raw=put_envelope(broken))


def _turned(victim: Victim) -> Victim:
    """The same with origin and destination exchanged."""
    return victim._replace(origin=victim.destination, destination=victim.origin)
