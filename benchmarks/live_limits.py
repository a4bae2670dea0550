"""What do our servers hold: latency under load, many connections, slow readers, the disk?

The server has the first core, the load the second. Latency is from the moment when a message was
due to leave until its receiver has it, so a server that falls behind cannot hide it.
"""

import statistics
from collections.abc import Callable
from contextlib import ExitStack
from typing import Final

import numpy as np

from load import servers
from load.contest import whole
from load.generator import Measured, Scene, run
from load.ours import Broker, Hub
from load.peers import Nats
from timing import Figure

ROUNDS: Final = 5
SECONDS: Final = 3.0
BRIEF_ROUNDS: Final = 15
BRIEF_SECONDS: Final = 1.0
"""For what a neighbour of the machine spoils: of many short rounds, some are calm."""

SUBSCRIBERS: Final = 1_000
AGENTS: Final = 5_000
IDLE: Final = 10_000
QUEUE_WINDOW: Final = 2_048


def measure() -> list[Figure]:
    """The figures."""
    with servers.load_aside():
        return [
            _half_load(
                "publish to 100 subscribers",
                servers.hub,
                lambda port: Hub(port).fan_out(100),
                8,
                lambda nats: nats.fan_out(100),
            ),
            _half_load("hub:send", servers.hub, lambda port: Hub(port).send(), 128, Nats.send),
            _half_load(
                "Cthun, one to one",
                servers.broker,
                lambda port: Broker(port).send(),
                128,
                Nats.send,
            ),
            _stalled(),
            _idle(),
            _ask_all(),
            _queued(),
        ]


def _half_load(
    what: str,
    start: servers.Starter,
    scene: Callable[[int], Scene],
    window: int,
    peer_scene: Callable[[Nats], Scene],
) -> Figure:
    """The 99th percentile at half of what the server can do, and nats-server's at that rate.

    Neighbours of a machine can only make it worse, so the calmest round tells most of the server.
    """
    ours, peers = [], []
    with start() as server, ExitStack() as stack:
        other = stack.enter_context(servers.nats()) if servers.is_installed("nats-server") else None
        for _ in range(BRIEF_ROUNDS):
            most = _run(scene(server.port), window=window, seconds=BRIEF_SECONDS)
            rate = most.sent / most.seconds / 2
            ours.append(_p99(_run(scene(server.port), rate=rate, seconds=BRIEF_SECONDS)))
            if other is not None:
                beside = _run(peer_scene(Nats(other.port)), rate=rate, seconds=BRIEF_SECONDS)
                peers.append(_p99(beside))
    return Figure(
        f"{what}: p99 at half load, calmest of {BRIEF_ROUNDS} rounds",
        f"{_milliseconds(ours)} at {rate:,.0f} messages/s",
        f"nats-server: {_milliseconds(peers)}" if peers else "nats-server: not installed",
        min(ours) * 1e3,
        5.0,
        unit=" ms",
        at_most=True,
    )


def _milliseconds(taken: list[float]) -> str:
    return f"{min(taken) * 1e3:.1f} ms (median {statistics.median(taken) * 1e3:.1f} ms)"


def _stalled() -> Figure:
    """What one subscriber that stops reading costs the others."""
    disturbed, undisturbed = [], []
    with servers.hub() as server:
        hub = Hub(server.port)
        most = _run(hub.fan_out(SUBSCRIBERS), window=4)
        rate = most.sent / most.seconds / 2
        for _ in range(ROUNDS):
            undisturbed.append(_p99(_run(hub.fan_out(SUBSCRIBERS), rate=rate)))
            disturbed.append(_p99(_run(_with_one_stalled(hub), rate=rate)))
    return Figure(
        f"p99 of {SUBSCRIBERS:,} subscribers of whom one does not read, calmest of {ROUNDS} rounds",
        _milliseconds(disturbed),
        f"all read: {_milliseconds(undisturbed)}",
        min(disturbed) / min(undisturbed),
        1.1,
        at_most=True,
    )


def _with_one_stalled(hub: Hub) -> Scene:
    """The first subscriber is not looked at; what it does not get is not waited for."""
    scene = hub.fan_out(SUBSCRIBERS)
    return scene._replace(
        lines=scene.lines[1:],
        silent=[scene.lines[0].socket],
        markers_a_message=scene.markers_a_message - 1,
    )


def _idle() -> Figure:
    """What a connection costs that says nothing."""
    with servers.hub() as server:
        hub = Hub(server.port)
        warm = [hub.connected(f"@(warm/c{number})") for number in range(100)]
        before = server.resident
        lines = [hub.connected(f"@(idle/c{number})") for number in range(IDLE)]
        each = (server.resident - before) / IDLE / 1024
        for line in warm + lines:
            line.socket.close()
    return Figure(
        f"memory of one of {IDLE:,} idle connections",
        f"{each:.1f} KiB",
        "–",
        each,
        40.0,
        unit=" KiB",
        at_most=True,
    )


def _ask_all() -> Figure:
    """How long until all have answered one request to a wildcard."""
    with servers.broker() as server:
        scene = Broker(server.port).ask_all(AGENTS)
        taken = _run(scene, window=1, most=1).seconds
    return Figure(
        f"a wildcard request to {AGENTS:,} agents, answered by all",
        f"{taken:.2f} s",
        "–",
        taken,
        1.0,
        unit=" s",
        at_most=True,
    )


def _queued() -> Figure:
    """Messages a second that are on disk before they are acknowledged as queued."""
    rates = []
    with servers.hub() as server:
        for _ in range(ROUNDS):
            taken = _run(Hub(server.port).queue(), window=QUEUE_WINDOW, most=100_000)
            rates.append(taken.sent / taken.seconds)
    value = statistics.median(rates)
    return Figure(
        "messages for one who is away, synced and then acknowledged",
        f"{value:,.0f} messages/s",
        "–",
        value / 1e3,
        20.0,
        unit=" k/s",
    )


def _run(
    scene: Scene, window: int = 1, rate: float = 0.0, most: int = 0, seconds: float = SECONDS
) -> Measured:
    try:
        return whole(run(scene, window=window, rate=rate, most=most, seconds=seconds), "the server")
    finally:
        scene.close()


def _p99(measured: Measured) -> float:
    return float(np.percentile(measured.latencies, 99))
