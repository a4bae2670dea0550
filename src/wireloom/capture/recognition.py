"""Which protocol a frame is of, when only its bytes can tell.

The first bytes leave one protocol, seldom two; between two, the one that decodes the frame has
it. If both do or neither does, it is the one whose first bytes are the less likely by chance.
"""

from functools import cache

from wireloom.registry import every
from wireloom.registry import protocol as protocol_named
from wireloom.wire.errors import WireError
from wireloom.wire.recognition import Recognition


def recognise(raw: bytes) -> str | None:
    """The protocol whose frame `raw` is or, damaged, may have been; None if there is none."""
    likely = [name for name, known in recognitions().items() if known.begins(raw)]
    if len(likely) > 1:
        likely = [name for name in likely if decodes(name, raw)] or likely
    return likely[0] if likely else None


def decodes(protocol: str, raw: bytes) -> bool:
    """Whether `raw` is a good frame of `protocol`."""
    try:
        protocol_named(protocol).codec.decode(raw)
    except WireError:
        return False
    return True


@cache
def recognitions() -> dict[str, Recognition]:
    """What each protocol says about recognising its frames, the surest first."""
    known = {one.name: one.recognition for one in every()}
    return dict(sorted(known.items(), key=lambda item: item[1].chance))
