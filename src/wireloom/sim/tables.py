"""The tables of a scenario: who takes part, and what goes wrong."""

from enum import StrEnum
from typing import Any

from msgspec import Struct


class Table(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of the file."""


class Traffic(Table, frozen=True, kw_only=True):
    """What the applications of a cast do."""

    rate: float = 0.0
    """How often each of them does something, a second."""

    size: int = 100
    """Bytes of what it says, at least 60 for what tells messages apart."""

    ttl_seconds: float = 60.0
    """For how long a message is worth delivering."""

    kinds: dict[str, float] = {}
    """What they do, and how much more often than other things; empty: what the role does most."""


class Cast(Table, frozen=True, kw_only=True):
    """Machines that are alike."""

    role: str
    """What runs on them."""

    count: int = 1
    """How many there are."""

    joins_seconds: float = 0.0
    """When the last of them joins; the others do before, one after the other."""

    skew_ms: int = 0
    """How far their clocks are off at most."""

    drift_ppm: int = 0
    """How much their clocks gain or lose at most, in millionths."""

    disk_ms: float = 0.0
    """How long a record takes to be kept."""

    limits: dict[str, Any] = {}
    """The settings of their sessions by name."""

    traffic: Traffic = Traffic()
    """What their applications do."""


class Trouble(StrEnum):
    """What can go wrong."""

    CRASH = "crash"
    """A machine dies, and its connections with it; it comes back with what its disk had."""

    VANISH = "vanish"
    """A machine dies, and nobody is told for a minute."""

    PAUSE = "pause"
    """A process stops and goes on later."""

    BREAK = "break"
    """A connection breaks."""

    PARTITION = "partition"
    """Some machines cannot be reached by the others."""


class Fault(Table, frozen=True, kw_only=True):
    """Something that goes wrong again and again."""

    kind: Trouble
    who: str
    """The cast that it happens to."""

    every_seconds: float
    """How long it is from one to the next, on average."""

    for_seconds: float = 5.0
    """How long it lasts, on average."""

    share: float = 0.0
    """How many of the cast it happens to at a time; 0: one of them."""

    from_seconds: float = 0.0
    """When the first may happen."""

    until_seconds: float = 0.0
    """When the last may begin; 0: when the calm begins."""


class Mobility(Table, frozen=True, kw_only=True):
    """Who is near whom, if that changes. Machines that are not near do not reach each other."""

    contacts: str = ""
    """A file with lines like `12.5 CONN 3 7 up`, in the format of the ONE; empty: a random walk."""

    width_m: float = 1_000.0
    height_m: float = 1_000.0
    """The area in which machines walk."""

    range_m: float = 100.0
    """How far a radio reaches."""

    least_speed: float = 0.5
    most_speed: float = 1.5
    """How fast they walk, in metres a second."""

    rest_seconds: float = 60.0
    """How long they stay where they arrive, at most."""
