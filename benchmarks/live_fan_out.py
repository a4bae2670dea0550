"""How fast does the hub publish to many, beside servers in Go, JavaScript and Python?

One client publishes to a topic and 1,000, or 100, have subscribed; at most 4, or 8, messages
are on their way at a time. Each copy that our hub delivers has an id and an address of its own,
and the publisher hears of each message; the others send the same bytes to all, but for Socket.IO
where that is said. Nothing may be lost. Every server has the first core, the load the second;
they take turns.
"""

from collections.abc import Mapping
from functools import partial
from typing import Final

from load import servers
from load.contest import Contestant, Goal, contest, others
from load.ours import Hub
from timing import Figure

HUB: Final = "hub"
CAPTURING: Final = "hub with capture"


def measure() -> list[Figure]:
    """The figures."""
    many = {"nats-server": 1.0, "Socket.IO": None, "crossbar": None, "python-socketio": None}
    some = {
        "nats-server": 0.6,
        "Socket.IO": 4.0,
        "Socket.IO with an id and a `to` for each": 4.0,
        "crossbar": 12.0,
        "python-socketio": 12.0,
    }
    return [*_publish(1_000, 4, many), *_publish(100, 8, some)]


def _publish(subscribers: int, window: int, goals: Mapping[str, float | None]) -> list[Figure]:
    contestants = [
        Contestant(HUB, servers.hub, lambda port: Hub(port).fan_out(subscribers)),
        Contestant(
            CAPTURING,
            partial(servers.hub, capture=True),
            lambda port: Hub(port).fan_out(subscribers),
        ),
        *others(goals, lambda speaker: speaker.fan_out(subscribers)),
    ]
    wishes = [Goal(HUB, peer, ratio) for peer, ratio in goals.items()]
    return contest(
        f"publish to {subscribers:,} subscribers, {window} at a time",
        contestants,
        [*wishes, Goal(CAPTURING, HUB, 0.7)],
        window=window,
    )
