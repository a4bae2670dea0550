"""How lines are recognised."""

from functools import partial
from typing import Final

from wireloom.wire.recognition import Recognition, WholeDatagrams
from wireloom_protocols.tiny.constants import MARK, PATH, PORT


def begins(raw: bytes) -> bool:
    """Whether a line begins with the mark."""
    return raw.startswith(MARK)


RECOGNITION: Final = Recognition(
    begins=begins,
    chance=256.0 ** -len(MARK),
    port=PORT,
    web_paths=(PATH,),
    web_text=True,
    datagrams=partial(WholeDatagrams, begins),
)
