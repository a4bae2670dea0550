"""What of a mesh frame does not change on its way."""

import pyarrow as pa

from support.cases import case
from wireloom.protocols.myriadmesh.columns import decode
from wireloom.protocols.myriadmesh.content import unchanging
from wireloom.protocols.myriadmesh.integrity import signing_bytes


def parts(raws: pa.BinaryArray) -> list[bytes]:
    return [bytes(part) for part in unchanging(raws, decode(raws))]


def test_it_is_what_is_signed_and_the_signature() -> None:
    raws = case("myriadmesh").frames
    expected = [signing_bytes(raw) + raw[len(signing_bytes(raw)) :] for raw in raws]
    assert parts(pa.array(raws, pa.binary())) == expected


def test_a_slice_and_nothing_and_what_is_refused() -> None:
    raws = pa.array([b"before", *case("myriadmesh").frames, b"x", b""], pa.binary())
    assert parts(raws.slice(len(raws) - 2)) == [b"x", b""]
    assert parts(raws.slice(1, 3)) == parts(raws)[1:4]
    assert parts(raws.slice(1, 0)) == []
