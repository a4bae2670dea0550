"""What a process that only serves sets for itself."""

import gc
import resource
import sys
from typing import Final

GC_THRESHOLDS: Final = (50_000, 20, 50)
"""Frames come and go by the ten thousand; looking for cycles among them is in vain."""


RESERVED_FILES: Final = 128
"""Files that are not for connections: the store, captures, the pages, libraries."""


def sockets() -> int:
    """How many connections the system lets this process have."""
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most == resource.RLIM_INFINITY:
        return sys.maxsize
    return max(1, most - min(RESERVED_FILES, most // 2))


def prepare() -> None:
    """Lets the process have as many connections as the system allows, and tidy up less often."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)
