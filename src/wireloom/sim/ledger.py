"""What applications wanted, and what became of it: the truth that sessions cannot know.

Every message carries its id in its content, so that it is known again wherever it turns up,
whatever a protocol wraps around it.
"""

import re
from dataclasses import dataclass, field
from typing import Final

from wireloom.sim.streams import Stream
from wireloom.wire.outcome import Fate, Reason

MARK: Final = re.compile(rb"~([0-9a-f-]{36})~")
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"


@dataclass(slots=True)
class Meant:
    """A message that an application wanted to send."""

    id: str
    sender: str
    """The machine that it comes from."""

    targets: tuple[str, ...]
    """The machines that it is for; none if whoever is interested gets it."""

    content: str
    at_ns: int
    """When the application asked for it."""

    expires_ms: int
    """When it is worth delivering no more, by the clock of its sender, at the latest."""

    promised: set[str] = field(default_factory=set)
    """The machines for which the server has taken it."""

    failed: bool = False
    """Whether its sender was told that it could not be delivered to all."""

    frame_id: str = ""
    """What its frames call it, if that is not its id."""

    told: tuple[Fate, Reason | None] | None = None
    """What the server said became of it, if it said so."""

    refused: dict[str, tuple[Fate, Reason | None]] = field(default_factory=dict)
    """Why machines did not take it, when they first did not."""

    reached: bool | None = None
    """Whether the server said that it reached somebody, or nobody."""

    deadline_ms: int | None = None
    """Until when it is worth delivering, as a node that captures has read; None if none has."""

    arrived: dict[str, list[int]] = field(default_factory=dict)
    """When it was delivered, by machine."""

    lost: set[str] = field(default_factory=set)
    """The machines that got it as far as nodes can know: it was accepted there, or under way to
    them when their connection ended. Their application may never have it."""


class Ledger:
    """All messages of one world."""

    def __init__(self) -> None:
        self.messages: dict[str, Meant] = {}

    def enter(self, message: Meant) -> None:
        """Takes a message that is about to be sent."""
        self.messages[message.id] = message

    def find(self, raw: bytes) -> Meant | None:
        """The message that a frame carries, if it does."""
        mark = MARK.search(raw)
        return None if mark is None else self.messages.get(mark[1].decode())

    def lose(self, raw: bytes, machine: str) -> None:
        """A frame was under way to a machine when the connection ended."""
        for mark in MARK.findall(raw):
            message = self.messages.get(mark.decode())
            if message is not None:
                message.lost.add(machine)


def content(message_id: str, size: int, random: Stream) -> str:
    """What a message says: its id, and letters up to its size."""
    mark = f"~{message_id}~"
    return mark + "".join(random.choices(_LETTERS, k=max(0, size - len(mark))))
