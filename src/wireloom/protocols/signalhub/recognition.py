"""How Signal Hub frames are recognised."""

from typing import Final

from wireloom.protocols.signalhub.constants import PATH, PORT
from wireloom.protocols.signalhub.spans import is_json, is_msgpack
from wireloom.wire.recognition import Recognition


def begins(raw: bytes) -> bool:
    """Whether a frame begins as a JSON object or a MessagePack map does."""
    return is_json(raw) or is_msgpack(raw)


RECOGNITION: Final = Recognition(
    begins=begins,
    chance=sum(begins(bytes([first])) for first in range(256)) / 256,
    port=PORT,
    web_paths=(PATH,),
    web_text=True,
)
