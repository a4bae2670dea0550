"""The public keys that bundles announce."""

import pyarrow as pa
import pyarrow.compute as pc

from protocols.dtn.samples import ACK, bundled, signed
from wireloom.protocols.dtn.announcement import KEY, owner
from wireloom.protocols.dtn.codec import encode
from wireloom.protocols.dtn.columns import decode


def test_a_bundle_brings_the_key_of_its_source() -> None:
    bundle = bundled(signed(ACK))
    rows = decode(pa.array([encode(bundle)], pa.binary()))
    (key,) = pc.struct_field(rows.column("dtn"), list(KEY)).to_pylist()
    assert bytes.fromhex(key) == bundle.header.src_pub
    assert rows.column("source").to_pylist() == [owner(bundle.header.src_pub)]
