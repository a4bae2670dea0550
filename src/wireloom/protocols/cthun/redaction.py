"""What names somebody, out of a frame's bytes; what lets somebody in is never in a frame."""

import re
from collections.abc import Callable
from typing import Final

from wireloom.protocols.cthun.constants import SCHEME

MARKS: Final[tuple[bytes, ...]] = ()
"""Nothing has to be hidden: who somebody is, a certificate proves."""

_NAME: Final = re.compile(rb"(%s:(?:\\?/){2})([A-Za-z0-9_.:-]+)" % SCHEME.encode())


def redact(raw: bytes) -> bytes:
    """The frame as it is."""
    return raw


def rename(raw: bytes, pseudonym: Callable[[bytes], bytes]) -> bytes:
    """A frame with other common names; a pseudonym is as long as its name."""
    return _NAME.sub(lambda found: found[1] + pseudonym(found[2]), raw)
