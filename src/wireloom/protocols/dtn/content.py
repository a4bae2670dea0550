"""What of a bundle does not change on its way: its id and its signature.

Custodians change three keys of a bundle's header, which are outside both (R14).
"""

from collections.abc import Iterable

import pyarrow as pa

from wireloom.protocols.dtn.constants import BUNDLE_PREFIX_SIZE, LENGTHS_SIZE


def unchanging(raws: pa.BinaryArray, decoded: pa.RecordBatch) -> Iterable[bytes]:
    """Id and signature of each bundle; other frames as they are.

    A bundle's id covers all but its signature. A message without a bundle has no id, and
    neither has a frame that is refused.

    Args:
        raws: The frames, none of them null.
        decoded: What `columns.decode` gave for them.
    """
    ids = decoded.column("message_id").to_pylist()
    return [
        raw if id_ is None else id_.encode() + raw[LENGTHS_SIZE:BUNDLE_PREFIX_SIZE]
        for raw, id_ in zip(raws.to_pylist(), ids, strict=True)
    ]
