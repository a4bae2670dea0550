"""What of a Cthun message does not change on its way."""

import pyarrow as pa

from support.cases import case
from wireloom.protocols.cthun.chunks import split
from wireloom.protocols.cthun.columns import decode
from wireloom.protocols.cthun.constants import ChunkType
from wireloom.protocols.cthun.content import unchanging


def parts(raws: list[bytes]) -> list[bytes]:
    array = pa.array(raws, pa.binary())
    return list(unchanging(array, decode(array)))


def test_it_is_all_chunks_but_those_of_notes() -> None:
    raws = case("cthun").frames
    assert parts(raws) == [
        b"\0".join(one.content for one in split(raw).chunks if one.type is not ChunkType.DEBUG)
        for raw in raws
    ]


def test_a_refused_frame_is_its_bytes() -> None:
    assert parts([b"\x01\x01\xff", b""]) == [b"\x01\x01\xff", b""]
