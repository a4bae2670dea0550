"""The public keys that the mesh announces."""

import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from protocols.myriadmesh.samples import SAMPLES
from wireloom.protocols.myriadmesh.announcement import KEY, owner
from wireloom.protocols.myriadmesh.codec import encode
from wireloom.protocols.myriadmesh.columns import decode
from wireloom.protocols.myriadmesh.integrity import node_id
from wireloom.protocols.myriadmesh.messages import Discovery, Frame


def test_a_discovery_brings_the_key_of_its_source() -> None:
    sample, public_key = SAMPLES["DISCOVERY"], b"\5" * 32
    assert isinstance(sample, Frame)
    payload = Discovery(public_key=public_key)
    frame = replace(sample, source_node_id=node_id(public_key), payload=payload)
    rows = decode(pa.array([encode(frame)], pa.binary()))
    (key,) = pc.struct_field(rows.column("myriadmesh"), list(KEY)).to_pylist()
    assert bytes.fromhex(key) == public_key
    assert rows.column("source").to_pylist() == [owner(public_key)]
