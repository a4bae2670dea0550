"""Attacks by clients of the hub."""

import json
from contextlib import suppress
from typing import Final

from attack.attacks import ATTACKER, Attack, drain, flood, lasting, rest
from attack.victim import Victim
from load.ours import Hub, expect, hub_message
from load.talk import WebSocket, framed

_LARGE: Final = 1_000_000
_YEAR_MS: Final = 365 * 86_400_000
_ME: Final = "@(attack/me)"
_SUBSCRIBERS: Final = 2_000
_REGISTRANTS: Final = 2_000


def _away(hub: Hub, address: str) -> None:
    """Makes an address known and leaves."""
    line = hub.connected(address)
    hub.register(line, address)
    line.socket.close()


def _send(target: str, type_: str, payload: object, ttl: int) -> bytes:
    body = {"targetAddress": target, "message": {"type": type_, "payload": payload}}
    return framed(hub_message("hub:send", _ME, body, pattern="tell", ttl=ttl))


def long_types(victim: Victim) -> None:
    """Sends whose inner type is a megabyte, to somebody who is away."""
    hub = Hub(victim.hub, ATTACKER)
    _away(hub, "@(attack/away)")
    me = hub.connected(_ME)
    for _ in lasting():
        me.say(_send("@(attack/away)", "t" * _LARGE, 1, _YEAR_MS))
        drain(me.socket)


def full_queues(victim: Victim) -> None:
    """As many waiting messages as it gets, for as long as it gets."""
    hub = Hub(victim.hub, ATTACKER)
    targets = [f"@(attack/away{number})" for number in range(200)]
    for target in targets:
        _away(hub, target)
    me = hub.connected(_ME)
    for turn, _ in enumerate(lasting(pause=0.01)):
        me.say(_send(targets[turn % len(targets)], "t", "x" * 60_000, _YEAR_MS))
        drain(me.socket)


def _silent_subscribers(hub: Hub, topic: str) -> list[WebSocket]:
    lines = []
    with suppress(OSError):
        for number in range(_SUBSCRIBERS):
            address = f"@(attack/s{number})"
            line = hub.connected(address)
            line.tell(hub_message("hub:subscribe", address, {"topic": topic}))
            expect(line, b'"hub:subscribed"')
            lines.append(line)
    return lines


def silent_subscribers(victim: Victim) -> None:
    """Large publications to many who do not read."""
    hub = Hub(victim.hub, ATTACKER)
    lines = _silent_subscribers(hub, "attack")
    me = hub.connected(_ME)
    body = {"topic": "attack", "message": {"type": "t", "payload": "x" * _LARGE}}
    for _ in range(3):
        me.tell(hub_message("hub:publish", _ME, body, pattern="tell"))
    rest()
    del lines


def large_broadcasts(victim: Victim) -> None:
    """Large broadcasts to many who do not read."""
    hub = Hub(victim.hub, ATTACKER)
    lines = []
    for number in range(_SUBSCRIBERS // 2):
        address = f"@(attack/s{number})"
        lines.append(hub.connected(address))
        hub.register(lines[-1], address)
    me = hub.connected(_ME)
    for _ in range(3):
        body = {"message": {"type": "t", "payload": "x" * _LARGE}}
        me.tell(hub_message("hub:broadcast", _ME, body, pattern="tell"))
    rest()


def globs(victim: Victim) -> None:
    """Searches with expensive patterns over as many registrations as it gets."""
    hub = Hub(victim.hub, ATTACKER)
    lines = []
    for number in range(_REGISTRANTS):
        address = f"@(attack/{'a' * 20}{number})"
        line = hub.connected(address)
        for extra in range(5):
            with suppress(ConnectionError):
                hub.register(line, f"@(attack/{'a' * 40}{number}-{extra})")
        lines.append(line)
    pattern = "@(attack/" + "*a" * 12 + "*b)"
    for turn, _ in enumerate(lasting()):
        line = lines[turn % 50]
        line.tell(hub_message("hub:discover", _ME, {"pattern": pattern, "limit": 100}))
        line.tell(hub_message("hub:discover", _ME, {"pattern": "*", "limit": 100}))
        line.tell(hub_message("hub:list_actors", _ME, {"offset": 1_000_000, "limit": 100}))
        drain(line.socket)


def nested_frames(victim: Victim) -> None:
    """Frames of nothing but brackets, from one who has logged in."""
    me = Hub(victim.hub, ATTACKER).connected(_ME)
    inner = json.dumps({"type": "t", "payload": 0})
    body = {"targetAddress": _ME, "message": "MARK"}
    frame = hub_message("hub:send", _ME, body).decode()
    nested = inner[:-2] + "[" * 20 + "]" * 20 + "," + "[[]]," * 100_000 + "0}"
    wide = inner[:-2] + "[" + ",".join(["[[[]]]"] * 140_000) + "]}"
    for text in (nested, wide):
        flood(me.socket, framed(frame.replace('"MARK"', text).encode()), 3.0)


def deaf_asker(victim: Victim) -> None:
    """Asks for large answers and reads none."""
    hub = Hub(victim.hub, ATTACKER)
    lines = [hub.connected(f"@(attack/deaf{number})") for number in range(100)]
    for line in lines:
        with suppress(OSError):
            for _ in range(50):
                line.tell(hub_message("hub:list_actors", _ME, {"limit": 100}))
                line.tell(hub_message("hub:subscribe", _ME, {"topic": "x" * 256}))
    rest()


ATTACKS: Final = (
    Attack("messages with a type of 1 MB wait", long_types, 128, 256),
    Attack("messages of 60 KB wait for a year", full_queues, 128, 256),
    Attack("3 publications of 1 MB to 2,000 who do not read", silent_subscribers, 640, 2_048),
    Attack("3 broadcasts of 1 MB to 1,000 who do not read", large_broadcasts, 640, 2_048),
    Attack("searches for *a*a*… among 10,000 registrations", globs, 256, 512),
    Attack("frames of 600 KB full of brackets", nested_frames, 256, 2_048),
    Attack("100 who ask and do not read", deaf_asker, 256, 256),
)
