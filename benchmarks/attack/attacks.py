"""What an attack is, and what attackers have in common."""

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from time import monotonic, sleep
from typing import Final, NamedTuple

from attack.victim import Victim
from load.talk import HOST

ATTACKER: Final = "127.0.0.2"
"""Where the attacker comes from: another address than honest clients'."""

SECONDS: Final = 6.0
"""How long an attack goes on."""

_NICE: Final = 19


class Attack(NamedTuple):
    """One attacker's way."""

    name: str
    act: Callable[[Victim], None]
    memory_mib: int
    """What the table of bounds lets it cost in memory, beyond an idle server."""

    disk_mib: int
    """What it may have written to disk."""

    settings: dict[str, str] = {}
    max_files: int | None = None


def perform(attack: Attack, victim: Victim) -> None:
    """Attacks, in a process of its own and with the processor time that others leave."""
    os.nice(_NICE)
    with suppress(OSError):  # to be cut off is what attackers expect
        attack.act(victim)


def lasting(seconds: float = SECONDS, pause: float = 0.0) -> Iterator[float]:
    """Turns, until the time is over."""
    end = monotonic() + seconds
    while (now := monotonic()) < end:
        yield now
        if pause:
            sleep(pause)


def rest(seconds: float = SECONDS) -> None:
    """Stays connected and does nothing."""
    sleep(seconds)


def flood(line: socket.socket, data: bytes, seconds: float = SECONDS) -> None:
    """Writes the same again and again, and reads nothing."""
    line.settimeout(1.0)
    for _ in lasting(seconds):
        with suppress(TimeoutError):
            line.sendall(data)


def drain(line: socket.socket) -> None:
    """Throws away what has come."""
    patience = line.gettimeout()
    line.settimeout(0.0)
    with suppress(BlockingIOError):
        while line.recv(1 << 16):
            pass
    line.settimeout(patience)


def plain(port: int, source: str = ATTACKER) -> socket.socket:
    """A TCP connection."""
    return socket.create_connection((HOST, port), timeout=5, source_address=(source, 0))
