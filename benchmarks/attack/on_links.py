"""Attacks by whoever reaches a port."""

import os
import socket
from contextlib import suppress
from time import sleep
from typing import Final

from attack.attacks import ATTACKER, SECONDS, Attack, flood, lasting, plain, rest
from attack.victim import MIB, Victim, toml
from load.ours import Broker, Hub, hub_message
from load.talk import BINARY, TEXT, WebSocket, framed

_PING: Final = 0x89
_PONG: Final = 0x8A
_OPEN_TEXT: Final = 0x01
_CONTINUATION: Final = 0x00


def strangers(victim: Victim) -> None:
    """Frames of 1 MB from those who have not said who they are, on ever new connections."""
    for _ in lasting():
        with suppress(OSError):
            line = WebSocket(victim.hub, "/hub", source=ATTACKER)
            line.tell(b"[" * 1_000_000)
            line.tell(b'{"a":' * 200_000)
            line.socket.close()


def small_strangers(victim: Victim) -> None:
    """Frames of 60 KB full of brackets from strangers, on ever new connections."""
    frames = [framed(b"[" * 60_000, TEXT), framed(b"\x01\x01" * 30_000, BINARY)]
    for _ in lasting():
        for port, path in ((victim.hub, "/hub"), (victim.broker, "/cthun")):
            with suppress(OSError):
                line = WebSocket(port, path, source=ATTACKER)
                for _ in range(50):
                    line.say(frames[0])
                    line.say(frames[1])
                line.socket.close()


def refused_connects(victim: Victim) -> None:
    """Connects that are refused, on ever new connections."""
    wish = {"protocolVersion": "9.0.0", "capabilities": ["x"], "authToken": "t" * 50_000}
    frame = hub_message("hub:connect", "@(attack/me)", None, metadata=wish)
    for _ in lasting():
        with suppress(OSError):
            line = WebSocket(victim.hub, "/hub", source=ATTACKER)
            line.tell(frame)
            line.socket.close()


def pings(victim: Victim) -> None:
    """Pings and pongs as fast as they go."""
    lines = [Hub(victim.hub, ATTACKER).connected(f"@(attack/p{n})") for n in range(4)]
    lines.append(Broker(victim.broker, ATTACKER).associated("cth://attack/pinger"))
    for _ in lasting():
        for line, kind in zip(lines, (_PING, _PONG, _PING, _PONG, _PING), strict=True):
            with suppress(OSError):
                flood(line.socket, framed(b"", kind) * 2_000, 0.1)


def crumbs(victim: Victim) -> None:
    """Messages in parts of no bytes at all."""
    for _ in lasting():
        with suppress(OSError):
            line = Hub(victim.hub, ATTACKER).connected("@(attack/crumbs)")
            line.say(framed(b"", _OPEN_TEXT))
            flood(line.socket, framed(b"", _CONTINUATION) * 5_000, 2.0)
            line.socket.close()


def half_open(victim: Victim) -> None:
    """Connections that never say what they want."""
    held: list[socket.socket] = []
    for _ in lasting():
        with suppress(OSError):
            line = plain((victim.hub, victim.broker, victim.metrics)[len(held) % 3])
            line.sendall(b"GET /hub HTTP/1.1\r\n")
            held.append(line)
        if len(held) > 6_000:
            held.pop(0).close()


def no_files_left(victim: Victim) -> None:
    """More connections than the server may have files."""
    held = []
    for _ in range(600):
        with suppress(OSError):
            held.append(plain(victim.hub))
    rest(SECONDS - 2)
    for line in held:
        line.close()
    sleep(1.0)


def full_quota(victim: Victim) -> None:
    """Frames as large as they may be, again and again: the capture log has a quota."""
    lines = [Hub(victim.hub, ATTACKER).connected(f"@(attack/q{n})") for n in range(20)]
    noise = os.urandom(250_000).hex()  # what can be compressed hardly fills a disk
    body = {"topic": "nobody", "message": {"type": "t", "payload": noise}}
    for turn, _ in enumerate(lasting()):
        address = f"@(attack/q{turn % 20})"
        frame = hub_message("hub:publish", address, body, pattern="tell")
        with suppress(OSError):
            lines[turn % 20].tell(frame)


_QUOTA: Final = {"WIRELOOM_NODE_CAPTURE_MAX_BYTES": toml(256 * MIB)}

ATTACKS: Final = (
    Attack("frames of 1 MB from strangers", strangers, 128, 128),
    Attack("frames of 60 KB full of brackets from strangers", small_strangers, 128, 128),
    Attack("refused connects with 50 KB of token", refused_connects, 128, 128),
    Attack("pings and pongs", pings, 128, 64),
    Attack("messages in empty parts", crumbs, 128, 64),
    Attack("6,000 half-open connections", half_open, 256, 64),
    Attack("600 connections, 256 files", no_files_left, 64, 64, max_files=256),
    Attack(
        "500 KB frames without end, captures of 256 MiB at most", full_quota, 640, 4_096, _QUOTA
    ),
)
