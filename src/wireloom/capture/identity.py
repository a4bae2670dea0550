"""Which log a segment belongs to.

A node's name is what somebody chose, and two may choose the same. So every log has an identity too,
made at random with it. It stands in the lock's file of the log, and in the schema of each of its
segments under `wireloom.log`, so that whoever reads the segments of many logs can tell them apart:

```
identity, 32 hex digits | space | CRC-32 of the digits, 8 hex digits
```

Segments of versions before this one have none.
"""

import re
import secrets
import zlib
from typing import Final

KEY: Final = b"wireloom.log"
DIGITS: Final = 32
PACKED_SIZE: Final = 41

_PACKED: Final = re.compile(rb"([0-9a-f]{32}) [0-9a-f]{8}")


def new_identity() -> str:
    """An identity that no other log has."""
    return secrets.token_hex(DIGITS // 2)


def put_identity(identity: str) -> bytes:
    """An identity as it is written down."""
    return b"%s %08x" % (identity.encode(), zlib.crc32(identity.encode()))


def take_identity(packed: bytes) -> str | None:
    """The mirror of `put_identity`; None if it is none, or damaged."""
    match = _PACKED.fullmatch(packed)
    identity = None if match is None else match[1].decode()
    return identity if identity is not None and put_identity(identity) == packed else None
