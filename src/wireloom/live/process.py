"""What a process that only serves sets for itself."""

import gc
import os
import resource
import sys
from typing import Final

GC_THRESHOLDS: Final = (50_000, 20, 50)
"""Frames come and go by the ten thousand; looking for cycles among them is in vain."""

MAX_DIGITS: Final = 640
"""Digits of an integer in JSON: the time to convert one grows with their square, and a message full
of the longest that the interpreter takes would hold all others up."""

RESERVED_FILES: Final = 128
"""Files that are not for connections: the store, captures, the pages, libraries."""


def sockets() -> int:
    """How many connections the system lets this process have."""
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most == resource.RLIM_INFINITY:
        return sys.maxsize
    return max(1, most - min(RESERVED_FILES, most // 2))


def prepare() -> None:
    """Sets how many connections and how long integers may be, and how often to tidy up."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    sys.set_int_max_str_digits(MAX_DIGITS)
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)


def leave() -> None:
    """Ends the process well, here and now, when all that matters is on disk.

    Requests to object storage that are under way cannot be ended, and the interpreter's own end
    would wait for them, for minutes where a store takes connections and answers nothing.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
