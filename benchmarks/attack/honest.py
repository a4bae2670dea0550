"""Honest clients: they do a little, steadily, and note how long they wait.

Each probe is due at a fixed time and its wait counts from then, so a server that stands still
cannot hide it.
"""

import os
from collections.abc import Callable
from multiprocessing.connection import Connection
from time import monotonic, sleep
from typing import Final, NamedTuple
from uuid import uuid4

from attack.victim import Victim
from load.ours import Broker, Hub, cthun_message, hub_message
from load.servers import LOAD_CORE
from load.talk import BINARY, HOST

STEP_SECONDS: Final = 0.02
"""A probe each: to the hub and to the broker in turns."""

QUEUE_EVERY: Final = 25
"""After so many probes, a message for somebody who is away."""

_PATIENCE: Final = 20.0


class Waits(NamedTuple):
    """What honest clients went through."""

    seconds: list[float]
    failures: list[str]
    """What did not work, in words."""


class Honest:
    """Two actors of the hub, of whom one is away, and an agent of the broker."""

    def __init__(self, victim: Victim) -> None:
        hub = Hub(victim.hub, HOST)
        away = hub.connected("@(honest/away)")
        hub.register(away, "@(honest/away)")
        away.socket.close()
        self._ada = hub.connected("@(honest/ada)")
        hub.register(self._ada, "@(honest/ada)")
        self._uri = "cth://honest/probe"
        self._agent = Broker(victim.broker, HOST).associated(self._uri)
        for line in (self._ada, self._agent):
            line.socket.settimeout(_PATIENCE)

    def send(self) -> None:
        """A message to itself, and its receipt."""
        self._ada.tell(self._message("@(honest/ada)"))
        self._hear(b'"probe"', b'"delivered"')

    def queue(self) -> None:
        """A message for somebody who is away."""
        self._ada.tell(self._message("@(honest/away)", ttl=1_000))
        self._hear(b'"queued"')

    def _hear(self, *wanted: bytes) -> None:
        """Waits for messages; in between, news of expiries and broadcasts may come."""
        left = list(wanted)
        while left:
            heard = self._ada.hear()
            if b'"timeout"' in heard or b'"@(attack/' in heard:
                continue
            found = [one for one in left if one in heard]
            if not found:
                raise ConnectionError(f"the hub answered {heard[:300]!r}")
            left.remove(found[0])

    def route(self) -> None:
        """A message to itself through the broker."""
        name = str(uuid4())
        frame = cthun_message(self._uri, [self._uri], "probe", "x", id=name)
        self._agent.tell(frame, BINARY)
        heard = self._agent.hear()
        while b'"cth://attack/' in heard[:1_000]:  # what goes to everyone comes here too
            heard = self._agent.hear()
        if name.encode() not in heard:
            raise ConnectionError(f"the broker answered {heard[:300]!r}")

    @staticmethod
    def _message(target: str, ttl: int = 30_000) -> bytes:
        body = {"targetAddress": target, "message": {"type": "probe", "payload": 1}}
        return hub_message("hub:send", "@(honest/ada)", body, ttl=ttl)


def probe(victim: Victim, pipe: Connection) -> None:
    """Does what honest clients do until told to end; says when it begins, and how it was."""
    os.sched_setaffinity(0, {LOAD_CORE})
    waits = Waits([], [])
    honest = Honest(victim)
    pipe.send("ready")
    try:
        _repeat(honest, pipe, waits)
    except OSError as error:
        waits.failures.append(str(error) or type(error).__name__)
    pipe.send(waits)


def _repeat(honest: Honest, pipe: Connection, waits: Waits) -> None:
    acts: list[Callable[[], None]] = [honest.send, honest.route]
    due = monotonic()
    count = 0
    while not pipe.poll():
        sleep(max(0.0, due - monotonic()))
        count += 1
        act = honest.queue if count % QUEUE_EVERY == 0 else acts[count % 2]
        try:
            act()
        finally:
            due = _note(due, waits)


def _note(due: float, waits: Waits) -> float:
    """Notes a wait, and those of all that would have been asked meanwhile; gives what is due next.

    They are not made up for: nobody asks faster because others were slow.
    """
    now = monotonic()
    while due <= now:
        waits.seconds.append(now - due)
        due += STEP_SECONDS
    return due


def newcomer(victim: Victim, waits: Waits) -> float:
    """How long a client that is new waits until it is connected."""
    begun = monotonic()
    try:
        Hub(victim.hub, HOST).connected("@(honest/new)").socket.close()
    except OSError as error:
        waits.failures.append(f"nobody can connect: {error}")
    return monotonic() - begun
