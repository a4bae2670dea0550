"""Which protocol a frame is of, when only its bytes can tell.

The first bytes leave one protocol, seldom two (a DTN bundle begins with lengths, which can
be any bytes); between two, the one that decodes the frame has it.
"""

from collections.abc import Callable
from typing import Final

from wireloom.protocols.cthun import codec as cthun
from wireloom.protocols.cthun.constants import TYPE_MASK, VERSION, ChunkType
from wireloom.protocols.dtn import codec as dtn
from wireloom.protocols.dtn.bundles import is_bundle, is_map
from wireloom.protocols.myriadmesh import codec as myriadmesh
from wireloom.protocols.myriadmesh.constants import MAGIC
from wireloom.protocols.signalhub import codec as signalhub
from wireloom.protocols.signalhub.spans import is_json, is_msgpack
from wireloom.protocols.uep12 import codec as uep12
from wireloom.protocols.uep12.constants import INDICATOR
from wireloom.wire.errors import WireError

_DECODE: Final[dict[str, Callable[[bytes], object]]] = {
    "myriadmesh": myriadmesh.decode,
    "uep12": uep12.decode,
    "cthun": cthun.decode,
    "signalhub": signalhub.decode,
    "dtn": dtn.decode,
}


def recognise(raw: bytes) -> str | None:
    """The protocol whose frame `raw` is or, damaged, may have been; None if there is none."""
    likely = [name for name, begins in _BEGINS.items() if begins(raw)]
    if len(likely) > 1:
        likely = [name for name in likely if decodes(name, raw)] or likely
    return likely[0] if likely else None


def decodes(protocol: str, raw: bytes) -> bool:
    """Whether `raw` is a good frame of `protocol`."""
    try:
        _DECODE[protocol](raw)
    except WireError:
        return False
    return True


def begins_as_cthun(raw: bytes) -> bool:
    """Whether a frame begins with Cthun's version and an envelope chunk."""
    return len(raw) > 1 and raw[0] == VERSION and raw[1] & TYPE_MASK == ChunkType.ENVELOPE


def _begins_as_myriadmesh(raw: bytes) -> bool:
    return raw.startswith(MAGIC)


def _begins_as_uep12(raw: bytes) -> bool:
    return raw[:1] == bytes([INDICATOR])


def _begins_as_signalhub(raw: bytes) -> bool:
    return is_json(raw) or is_msgpack(raw)


def _begins_as_dtn(raw: bytes) -> bool:
    return bool(raw) and (is_map(raw) or is_bundle(raw))


_BEGINS: Final[dict[str, Callable[[bytes], bool]]] = {
    "myriadmesh": _begins_as_myriadmesh,
    "uep12": _begins_as_uep12,
    "cthun": begins_as_cthun,
    "signalhub": _begins_as_signalhub,
    "dtn": _begins_as_dtn,
}
