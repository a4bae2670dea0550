"""One content, many sightings."""

import pyarrow as pa
import pytest

from protocols.cthun.samples import append_hop
from support.cases import case
from wireloom.pipeline.contents import contents
from wireloom.protocols.cthun.messages import Hop
from wireloom.protocols.myriadmesh.integrity import relay
from wireloom.wire.columns import DECODED


def of(
    name: str, *raws: bytes, ids: list[str | None] | None = None, bad: bool = False
) -> list[str]:
    count = len(raws)
    known = {
        "message_id": pa.array(ids or [None] * count, pa.string()),
        "reason": pa.array(["malformed" if bad else None] * count, pa.string()),
    }
    columns = [known.get(field.name, pa.nulls(count, field.type)) for field in DECODED]
    batch = pa.RecordBatch.from_arrays(columns, schema=DECODED)
    found: list[str] = contents(name, pa.array(raws, pa.binary()), batch).to_pylist()
    return found


def test_a_relayed_mesh_frame_keeps_its_content() -> None:
    mesh = case("myriadmesh")
    raw = mesh.protocol.codec.encode(mesh.samples["DATA"])
    first, second, third = of("myriadmesh", raw, relay(raw), relay(relay(raw)))
    assert first == second == third
    assert of("myriadmesh", raw[:-1] + bytes([raw[-1] ^ 1])) != [first]


def test_a_debug_hop_does_not_change_a_cthun_message() -> None:
    cthun = case("cthun")
    raw = cthun.protocol.codec.encode(next(iter(cthun.samples.values())))
    hop = Hop(server="cth:///server", stage="accepted", time="2015-04-27T12:00:00Z")
    first, second = of("cthun", raw, append_hop(raw, hop))
    assert first == second


def test_a_bundle_is_its_id_and_its_signature() -> None:
    one, other = bytes(8) + b"\1" * 64 + b"header", bytes(8) + b"\1" * 64 + b"changed"
    first, second = of("dtn", one, other, ids=["aa", "aa"])
    assert first == second
    assert of("dtn", one, ids=["bb"]) != [first]
    assert of("dtn", one) != of("dtn", other)


@pytest.mark.parametrize("name", ["uep12", "signalhub"])
def test_other_frames_are_their_bytes(name: str) -> None:
    first, second = of(name, b"one", b"two")
    assert first != second
    assert len(first) == 32


def test_a_refused_frame_is_its_bytes() -> None:
    assert of("myriadmesh", b"x", bad=True) == of("uep12", b"x")
