"""Does the DTN codec, with every check, keep half the speed of bare cbor2.loads?"""

import cbor2

from frames import frame
from timing import Figure, compare
from wireloom.protocols.dtn.codec import decode


def measure() -> list[Figure]:
    """The figures."""
    figures = []
    for name in ("hop_ack", "delivery_ack"):
        raw = frame("dtn", name)
        figures.append(
            compare(
                f"DTN decode, {name}",
                lambda raw=raw: decode(raw),  # type: ignore[misc]
                lambda raw=raw: cbor2.loads(raw),  # type: ignore[misc]
                peer_name="cbor2.loads",
                goal=0.5,
            )
        )
    return figures
