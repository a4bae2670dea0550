"""Attacks by clients of the broker."""

import json
from contextlib import suppress
from typing import Final

from attack.attacks import ATTACKER, Attack, drain, lasting, rest
from attack.victim import Victim
from load.ours import BROKER, Broker, cthun_message
from load.talk import BINARY, framed

_ME: Final = "cth://attack/me"
_INVENTORY: Final = "http://puppetlabs.com/inventory_request"
_AGENTS: Final = 500


def large_inventory(victim: Victim) -> None:
    """Inventory requests of tens of megabytes, with a million patterns."""
    broker = Broker(victim.broker, ATTACKER)
    query = json.dumps({"query": [f"cth://*/agent{number}" for number in range(1_200_000)]})
    frame = framed(cthun_message(_ME, [BROKER], _INVENTORY, data=query.encode()), BINARY)
    for _ in lasting():
        with suppress(OSError):
            me = broker.associated(_ME)
            me.say(frame)
            me.hear()
            me.socket.close()


def many_patterns(victim: Victim) -> None:
    """Inventory requests with as many patterns as fit in a frame of 60 KB, as often as it can."""
    broker = Broker(victim.broker, ATTACKER)
    agents = [broker.associated(f"cth://attack{n}/agent") for n in range(_AGENTS)]
    query = json.dumps({"query": ["cth://*/agent", "cth://attack7/*"] * 1_500})
    for turn, _ in enumerate(lasting(pause=0.002)):
        line = agents[turn % _AGENTS]
        sender = f"cth://attack{turn % _AGENTS}/agent"
        line.tell(cthun_message(sender, [BROKER], _INVENTORY, data=query.encode()), BINARY)
        drain(line.socket)


def held_for_many(victim: Victim) -> None:
    """60 messages of 1 MB that wait for 30 agents, who come and go."""
    broker = Broker(victim.broker, ATTACKER)
    uris = [f"cth://attack{number}/agent" for number in range(30)]
    me = broker.associated(_ME)
    for _ in range(60):
        me.tell(cthun_message(_ME, uris, "t", data=b"x" * 1_000_000), BINARY)
    for uri in uris:
        with suppress(OSError):
            agent = broker.associated(uri)
            agent.socket.settimeout(1.0)
            while True:
                agent.hear()
    drain(me.socket)


def full_holding(victim: Victim) -> None:
    """As many held messages as it gets, under as many names as it likes."""
    broker = Broker(victim.broker, ATTACKER)
    for turn, _ in enumerate(lasting(pause=0.01)):
        uri = f"cth://attack/me{turn}"
        line = broker.associated(uri)
        for _ in range(5):
            targets = [f"cth://nobody{turn}/agent"]
            line.tell(cthun_message(uri, targets, "t", data=b"x" * 200_000), BINARY)
        drain(line.socket)
        line.socket.close()


def wildcard_to_the_deaf(victim: Victim) -> None:
    """Large messages to all of 500 agents who do not read."""
    broker = Broker(victim.broker, ATTACKER)
    agents = [broker.associated(f"cth://attack{number}/agent") for number in range(_AGENTS)]
    me = broker.associated(_ME)
    with suppress(OSError):
        for _ in range(5):
            me.tell(cthun_message(_ME, ["cth://*/agent"], "t", data=b"x" * 8_000_000), BINARY)
    rest()
    del agents


ATTACKS: Final = (
    Attack("inventory requests of 30 MB", large_inventory, 256, 2_048),
    Attack("inventory requests with 3,000 patterns", many_patterns, 256, 2_048),
    Attack("60 MB held for 30 agents", held_for_many, 640, 2_048),
    Attack("messages held under many names", full_holding, 640, 1_024),
    Attack("8 MB to each of 500 who do not read", wildcard_to_the_deaf, 640, 4_096),
)
