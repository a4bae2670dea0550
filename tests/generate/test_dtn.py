from generate.rehearsal import NOON_US, Rehearsal
from wireloom.capture.frame import Direction
from wireloom.generate.dtn import Carriers, pause
from wireloom.generate.timeline import MINUTE_US
from wireloom.protocols.dtn.constants import Destination
from wireloom.protocols.dtn.integrity import authenticate, bundle_id
from wireloom.protocols.dtn.messages import Bundle, Data, HopAck
from wireloom.wire.outcome import Auth, Outcome


def carriers() -> tuple[Carriers, Rehearsal]:
    rehearsal = Rehearsal("dtn")
    return Carriers(rehearsal.scene), rehearsal


def test_custody_moves_from_hop_to_hop() -> None:
    net, rehearsal = carriers()
    path = net.nodes[:3]
    parcel = net.parcel(Data(ciphertext=b"x"), path[0], (Destination.USER, path[2].uid), NOON_US)
    arrived = net.carry(parcel, path, NOON_US)
    bundles = [message for message in rehearsal.messages() if isinstance(message, Bundle)]
    moved = [one for one in bundles if isinstance(one.payload, Data)]
    assert {bundle_id(one.header, one.payload_bytes()) for one in moved} == {parcel.id}
    assert [len(one.header.route_path or ()) for one in moved] == [0, 1, 1, 2, 2]
    assert [one.header.copy_budget for one in moved] == [3, 2, 2, 1, 1]
    assert all(authenticate(one, b"", ()) is Auth.VALID for one in bundles)
    acks = [one.payload for one in bundles if isinstance(one.payload, HopAck)]
    assert [ack.from_node for ack in acks] == [n.key.public for n in path[1:] for _ in range(2)]
    assert {ack.bundle_id for ack in acks} == {parcel.id}
    delivered = [frame for frame in rehearsal.frames if frame.outcome is Outcome.DELIVERED]
    assert [(f.node, f.captured_at) for f in delivered] == [(path[2].name, arrived)]


def test_a_control_bundle_is_handed_over_without_a_receipt() -> None:
    net, rehearsal = carriers()
    one, other = net.nodes[:2]
    parcel = net.parcel(Data(ciphertext=b"x"), one, (Destination.USER, other.uid), NOON_US)
    net.hand(parcel, one, other, NOON_US)
    directions = [frame.direction for frame in rehearsal.frames]
    assert directions == [Direction.LOCAL, Direction.OUT, Direction.IN]


def test_clocks_that_are_off_show_in_what_their_nodes_make() -> None:
    net, _ = carriers()
    node = net.nodes[3]
    parcel = net.parcel(Data(ciphertext=b"x"), node, (Destination.USER, node.uid), NOON_US, 60)
    assert parcel.envelope.header.created_at == NOON_US // 1000 + node.skew_ms != NOON_US // 1000
    assert parcel.deadline_ms == parcel.envelope.header.created_at + 60_000


def test_carriers_meet_again_within_minutes() -> None:
    _, rehearsal = carriers()
    assert MINUTE_US <= pause(rehearsal.scene, 0) <= 10 * MINUTE_US
