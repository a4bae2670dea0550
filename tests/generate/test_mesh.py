import pytest

from generate.rehearsal import NOON_US, Rehearsal
from wireloom.capture.frame import Direction
from wireloom.generate.mesh import LORA, Mesh
from wireloom.generate.timeline import END_US
from wireloom.protocols.myriadmesh.codec import decode
from wireloom.protocols.myriadmesh.constants import ContentType
from wireloom.protocols.myriadmesh.integrity import verify
from wireloom.protocols.myriadmesh.messages import Data, Frame, Sealed
from wireloom.protocols.myriadmesh.sealing import open_frame, session_keys
from wireloom.wire.keys import exchange_public_key
from wireloom.wire.outcome import Outcome

DATA = Data(content_type=ContentType.TEXT, data=b"hello")


def mesh(sightings: int = 5) -> tuple[Mesh, Rehearsal]:
    rehearsal = Rehearsal("myriadmesh")
    return Mesh(rehearsal.scene, sightings), rehearsal


def test_a_carried_frame_is_seen_where_it_is_made_passed_on_and_delivered() -> None:
    net, rehearsal = mesh()
    path = net.nodes[:3]
    raw = net.signed(net.draft(path[0], DATA, path[2].id, NOON_US), path[0].key)
    trip = net.carry(raw, path, NOON_US)
    assert [(f.node, f.direction, f.peer, f.outcome) for f in rehearsal.frames] == [
        ("mesh-01", Direction.LOCAL, None, Outcome.ACCEPTED),
        ("mesh-01", Direction.OUT, "mesh-02", None),
        ("mesh-02", Direction.IN, "mesh-01", Outcome.FORWARDED),
        ("mesh-02", Direction.OUT, "mesh-03", None),
        ("mesh-03", Direction.IN, "mesh-02", Outcome.DELIVERED),
    ]
    assert [message.ttl for message in rehearsal.messages()] == [10, 10, 10, 9, 9]
    assert all(verify(frame.raw, path[0].key.public) for frame in rehearsal.frames)
    assert (trip.at, trip.lora) == (rehearsal.frames[-1].captured_at, False)


def test_a_frame_that_vanishes_is_not_received_and_one_sent_again_not_composed() -> None:
    net, rehearsal = mesh()
    raw = net.signed(net.draft(net.nodes[0], DATA, net.nodes[1].id, NOON_US), net.nodes[0].key)
    net.carry(raw, net.nodes[:2], NOON_US, vanish=True, again=True)
    assert [frame.direction for frame in rehearsal.frames] == [Direction.OUT]


@pytest.mark.parametrize(
    ("sightings", "low", "high"), [(3, 3, 3), (5, 5, 5), (6, 5, 9), (9, 7, 11)]
)
def test_a_relayed_frame_is_seen_as_often_as_wished(sightings: int, low: int, high: int) -> None:
    net, _ = mesh(sightings)
    counts = [3 + 2 * (len(net.path(*net.pair())) - 2) for _ in range(400)]
    assert min(counts) == low
    assert max(counts) == high
    assert sum(counts) / len(counts) == pytest.approx(sightings, rel=0.05)


def test_radio_nodes_are_reached_by_lora_only() -> None:
    net, rehearsal = mesh()
    radio = net.nodes[10]
    raw = net.signed(net.draft(radio, DATA, net.nodes[0].id, NOON_US), radio.key)
    assert net.carry(raw, [radio, net.nodes[0]], NOON_US).lora
    assert [frame.link for frame in rehearsal.frames[1:]] == [LORA, LORA]
    assert not net.carry(raw, [radio, net.nodes[0]], END_US + 1).lora


def test_a_frame_that_waited_goes_on_with_one_hop_less() -> None:
    net, rehearsal = mesh()
    raw = net.signed(net.draft(net.nodes[0], DATA, net.nodes[2].id, NOON_US), net.nodes[0].key)
    trip = net.carry(raw, net.nodes[:2], NOON_US, outcome=Outcome.QUEUED)
    net.onward(trip, net.nodes[1:3], trip.at + 1, outcome=Outcome.DELIVERED)
    last = rehearsal.frames[-1]
    assert (last.node, last.outcome) == ("mesh-03", Outcome.DELIVERED)
    assert rehearsal.messages()[-1].ttl == 9


def test_a_sealed_frame_opens_at_its_destination() -> None:
    net, _ = mesh()
    one, other = net.nodes[:2]
    for _ in range(2):
        frame = net.sealed(net.draft(one, DATA, other.id, NOON_US), one, other)
        received = decode(net.signed(frame, one.key))
        assert isinstance(received, Frame)
        assert isinstance(received.payload, Sealed)
        public = exchange_public_key(one.key.public)
        keys = session_keys(other.key.exchange_key(), public, own_id=other.id, peer_id=one.id)
        assert open_frame(received, keys.rx_key).payload == DATA


def test_the_stranger_captures_nothing() -> None:
    net, rehearsal = mesh()
    assert not net.see(NOON_US, net.stranger, Direction.IN, b"x", link=LORA)
    assert not rehearsal.frames
