"""How Cthun frames are recognised."""

from typing import Final

from wireloom.protocols.cthun.constants import (
    LATER_PATH,
    PATH,
    PORT,
    TYPE_BITS,
    TYPE_MASK,
    VERSION,
    ChunkType,
)
from wireloom.wire.recognition import Recognition


def begins(raw: bytes) -> bool:
    """Whether a frame begins with the version and an envelope chunk."""
    return len(raw) > 1 and raw[0] == VERSION and raw[1] & TYPE_MASK == ChunkType.ENVELOPE


RECOGNITION: Final = Recognition(
    begins=begins,
    chance=2.0 ** -(8 + TYPE_BITS),
    port=PORT,
    web_paths=(PATH.rstrip("/"), LATER_PATH),
)
