"""Datagrams between simulated machines."""

from sim.actors import Caller
from wireloom.sim.machine import Machine
from wireloom.sim.network import Quality
from wireloom.sim.ports import MAX_SILENCE_NS
from wireloom.sim.world import World
from wireloom.wire.session import Closed, Dial, DialFailed, FrameReceived, Opened, Send

BOB = Dial("udp", "bob:1")


def add(world: World, name: str, *, is_up: bool = True) -> tuple[Machine, Caller]:
    machine, session = world.add(name, "echo"), Caller()
    world.bind(machine, "udp", f"{name}:1")
    if is_up:
        machine.start(session)
    return machine, session


def test_a_dial_opens_at_once_and_nobody_need_be_there() -> None:
    world = World()
    ada, a = add(world, "ada")
    bob, b = add(world, "bob", is_up=False)
    ada.hear(a.asks(BOB, Dial("udp", "nobody:1")))
    assert a.events() == [
        Opened(1, "bob:1", dial=BOB, link="udp"),
        Opened(2, "nobody:1", dial=Dial("udp", "nobody:1"), link="udp"),
    ]
    ada.hear(a.asks(Send(1, b"lost"), Send(2, b"lost")))
    assert world.network.lost_count == 2
    bob.start(b)
    assert b.events() == []


def test_a_datagram_from_an_unknown_address_opens_a_connection() -> None:
    world = World()
    (ada, a), (bob, b) = add(world, "ada"), add(world, "bob")
    ada.hear(a.asks(BOB))
    assert b.events() == []
    ada.hear(a.asks(Send(1, b"one"), Send(1, b"two")))
    assert b.events() == [
        Opened(1, "ada:1", link="udp"),
        FrameReceived(1, b"one"),
        FrameReceived(1, b"two"),
    ]
    bob.hear(b.asks(Send(1, b"back")))
    assert a.events()[1:] == [FrameReceived(1, b"back")]
    bob.hear(b.asks(Dial("udp", "ada:1")))
    assert b.events()[3:] == [DialFailed(Dial("udp", "ada:1"), "the peer is connected already")]


def test_silence_ends_a_connection() -> None:
    world = World()
    (ada, a), (bob, b) = add(world, "ada"), add(world, "bob")
    ada.hear(a.asks(BOB, Send(1, b"one")))
    ada.hear(a.asks(Send(1, b"one")))
    world.pass_time(40_000)
    bob.hear(b.asks(Send(1, b"here")))
    world.pass_time(30_000)
    assert b.events()[-1] == Closed(1, 1001)
    assert a.events()[-1] == FrameReceived(1, b"here")
    world.pass_time(MAX_SILENCE_NS // 1_000_000)
    assert a.events()[-1] == Closed(1, 1001)


def test_a_crash_is_not_told_and_the_next_life_hears_a_new_peer() -> None:
    world = World()
    (ada, a), (bob, _) = add(world, "ada"), add(world, "bob")
    ada.hear(a.asks(BOB))
    ada.hear(a.asks(Send(1, b"one")))
    bob.crash()
    ada.hear(a.asks(Send(1, b"lost")))
    bob.start(again := Caller())
    ada.hear(a.asks(Send(1, b"two")))
    assert again.events() == [Opened(2, "ada:1", link="udp"), FrameReceived(2, b"two")]
    assert len(a.events()) == 1


def test_what_comes_for_a_stopped_process_waits() -> None:
    world = World()
    world.network.quality = Quality(delay_ms=5)
    (ada, a), (bob, b) = add(world, "ada"), add(world, "bob")
    ada.hear(a.asks(BOB))
    bob.pause()
    ada.hear(a.asks(Send(1, b"one")))
    world.pass_time(50)
    assert b.heard == []
    bob.resume()
    assert b.heard == [(50, Opened(1, "ada:1", link="udp")), (50, FrameReceived(1, b"one"))]
