"""How DTN frames are recognised."""

from typing import Final

from wireloom.protocols.dtn.bundles import is_bundle, is_map
from wireloom.protocols.dtn.constants import MAP_HEADS, PORT
from wireloom.wire.recognition import Recognition


def begins(raw: bytes) -> bool:
    """Whether a frame begins as a CBOR map or as a bundle does.

    A bundle begins with lengths, which can be nearly any bytes.
    """
    return bool(raw) and (is_map(raw) or is_bundle(raw))


RECOGNITION: Final = Recognition(begins=begins, chance=len(MAP_HEADS) / 256 + 2.0**-16, port=PORT)
