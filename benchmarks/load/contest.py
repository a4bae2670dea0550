"""Servers that take turns under the same load."""

import statistics
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Final, NamedTuple

from load import peers, servers
from load.generator import Measured, Scene, run
from timing import Figure

ROUNDS: Final = 5
SECONDS: Final = 2.0
WARM_UP_SECONDS: Final = 0.3


PEERS: Final[dict[str, tuple[servers.Starter, Callable[[int], peers.Peer]]]] = {
    "nats-server": (servers.nats, peers.Nats),
    "Mosquitto": (servers.mosquitto, peers.Mosquitto),
    "Mosquitto with set_tcp_nodelay": (
        partial(servers.mosquitto, is_eager=True),
        peers.Mosquitto,
    ),
    "Socket.IO": (servers.socketio_node, peers.SocketIo),
    "Socket.IO with an id and a `to` for each": (servers.socketio_node, peers.SocketIoEach),
    "python-socketio": (servers.socketio_python, peers.SocketIo),
    "crossbar": (servers.crossbar, peers.Crossbar),
}


class Contestant(NamedTuple):
    """A server, and how the load is spoken to it."""

    name: str
    start: servers.Starter
    scene: Callable[[int], Scene]
    """Opens all connections, given the port."""


class Goal(NamedTuple):
    """Whom we compare with whom, and the ratio to be content with."""

    ours: str
    peer: str
    ratio: float | None


def others(names: Iterable[str], scene: Callable[[peers.Peer], Scene]) -> list[Contestant]:
    """Those of the peers that are installed."""
    found = []
    for name in names:
        start, speaker = PEERS[name]
        if servers.is_installed(name.partition(" ")[0]):
            found.append(Contestant(name, start, _opening(speaker, scene)))
    return found


def _opening(
    speaker: Callable[[int], peers.Peer], scene: Callable[[peers.Peer], Scene]
) -> Callable[[int], Scene]:
    return lambda port: scene(speaker(port))


def contest(
    question: str, contestants: Sequence[Contestant], goals: Sequence[Goal], *, window: int
) -> list[Figure]:
    """How the contestants compare: messages that arrived a second, in the median round."""
    rates: dict[str, list[float]] = {one.name: [] for one in contestants}
    with servers.load_aside(), ExitStack() as stack:
        ports = {one.name: stack.enter_context(one.start()).port for one in contestants}
        for number in range(ROUNDS):
            for one in contestants:
                rates[one.name].append(_rate(one, ports[one.name], window))
            told = ", ".join(f"{name} {taken[-1]:,.0f}" for name, taken in rates.items())
            print(f"    round {number + 1} of {ROUNDS}: {told} messages/s", flush=True)
    return [_figure(question, goal, rates) for goal in goals]


def whole(measured: Measured, name: str) -> Measured:
    """The same, if nothing was lost and nobody cut off: else it does not count."""
    if measured.lost or measured.cut:
        raise RuntimeError(f"{name} lost {measured.lost} messages and cut {measured.cut} off")
    return measured


def _rate(one: Contestant, port: int, window: int) -> float:
    """Messages a second that were received, acknowledgements not counted."""
    scene = one.scene(port)
    try:
        whole(run(scene, window=window, seconds=WARM_UP_SECONDS), one.name)
        measured = whole(run(scene, window=window, seconds=SECONDS), one.name)
        return measured.sent * scene.receivers / measured.seconds
    finally:
        scene.close()


def _figure(question: str, goal: Goal, rates: dict[str, list[float]]) -> Figure:
    ours, peer = rates[goal.ours], rates.get(goal.peer)
    mine = f"{goal.ours}: {statistics.median(ours):,.0f} messages/s"
    if peer is None:
        return Figure(question, mine, f"{goal.peer}: not installed", None, goal.ratio)
    return Figure(
        question,
        mine,
        f"{goal.peer}: {statistics.median(peer):,.0f} messages/s",
        statistics.median(a / b for a, b in zip(ours, peer, strict=True)),
        goal.ratio,
    )
