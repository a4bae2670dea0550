"""What of a frame stays the same on its way, as a hash: one content, many sightings.

What that is, each protocol says in its module `content`: relays count hops, brokers append notes.
Two frames of one content say the same and are verified once; one message id with two contents
is a conflict.
"""

from hashlib import blake2b
from typing import Final

import numpy as np
import pyarrow as pa

from wireloom.registry import protocol
from wireloom.wire import content as whole
from wireloom.wire.batch import Selection

HASH_SIZE: Final = 16


def contents(name: str | None, raws: pa.BinaryArray, decoded: pa.RecordBatch) -> pa.StringArray:
    """The content of every frame; of one that is refused, the hash of its bytes."""
    content = whole if name is None else protocol(name).content
    parts = content.unchanging(raws, decoded)
    digests = b"".join([blake2b(part, digest_size=HASH_SIZE).digest() for part in parts])
    every = Selection(np.ones(len(raws), np.bool_))
    return every.fixed(np.frombuffer(digests, f"V{HASH_SIZE}"))
