"""What of a bundle does not change on its way."""

import pyarrow as pa
from msgspec.structs import replace

from protocols.dtn.samples import ACK, bundled, signed
from wireloom.protocols.dtn.codec import encode
from wireloom.protocols.dtn.columns import decode
from wireloom.protocols.dtn.content import unchanging

BUNDLE = bundled(signed(ACK))


def parts(*raws: bytes) -> list[bytes]:
    array = pa.array(raws, pa.binary())
    return list(unchanging(array, decode(array)))


def test_what_a_hop_changes_does_not_count() -> None:
    header = replace(BUNDLE.header, attempts=3, copy_budget=1)
    first, second = parts(encode(BUNDLE), encode(replace(BUNDLE, header=header)))
    assert first == second
    assert first.endswith(BUNDLE.signature)


def test_another_signature_is_another_content() -> None:
    first, second = parts(encode(BUNDLE), encode(replace(BUNDLE, signature=b"\1" * 64)))
    assert first != second


def test_other_frames_are_their_bytes() -> None:
    bare = encode(signed(ACK))
    assert parts(bare, b"refused") == [bare, b"refused"]
