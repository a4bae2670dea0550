"""The tables of Tiny."""

from enum import StrEnum
from typing import Final

MARK: Final = b"TINY "
"""What every frame begins with."""

PORT: Final = 7717
PATH: Final = "/tiny"
MAX_SIZE: Final = 1024
SWITCHBOARD: Final = "switchboard"
"""Whom a client says its name to."""

HAS_PROOF: Final = False
"""Whether a frame carries a proof of its own."""


class Verb(StrEnum):
    """What a line is."""

    MSG = "MSG"
    ACK = "ACK"
