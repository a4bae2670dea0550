"""How fast do our servers pass messages from one client to another, beside others?

At most 128 messages are on their way at a time. The hub confirms each delivery to its sender,
and so does Socket.IO; the broker checks each message whole, the others don't look inside.
Nothing may be lost. Every server has the first core, the load the second; they take turns.
"""

from collections.abc import Mapping
from typing import Final

from load import servers
from load.contest import Contestant, Goal, contest, others
from load.ours import Broker, Hub
from timing import Figure

WINDOW: Final = 128


def measure() -> list[Figure]:
    """The figures."""
    hub = Contestant("hub", servers.hub, lambda port: Hub(port).send())
    broker = Contestant("broker", servers.broker, lambda port: Broker(port).send())
    return [
        *_send(hub, "send with acknowledgement", {"Socket.IO": 2.0}),
        *_send(
            broker,
            "Cthun, one to one",
            {
                "nats-server": 0.4,
                "Mosquitto": 3.0,
                "Mosquitto with set_tcp_nodelay": None,
                "crossbar": 30.0,
            },
        ),
    ]


def _send(ours: Contestant, question: str, goals: Mapping[str, float | None]) -> list[Figure]:
    return contest(
        question,
        [ours, *others(goals, lambda speaker: speaker.send())],
        [Goal(ours.name, peer, ratio) for peer, ratio in goals.items()],
        window=WINDOW,
    )
