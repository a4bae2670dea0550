"""What signatures and proofs of work say, each distinct frame once.

Python sees rows here and in the data source only. Signed protocols need keys: those come from
the traffic itself, since a public key certifies its own owner by its hash.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

import pyarrow as pa

from wireloom.protocols.dtn import integrity as dtn_integrity
from wireloom.protocols.dtn.messages import (
    Bundle,
    ConfigUpdate,
    ControlMessage,
    DeliveryAck,
    DeliveryCancel,
    GroupAnnounceMsg,
    Payment,
)
from wireloom.registry import protocol as protocol_named
from wireloom.wire.errors import WireError
from wireloom.wire.outcome import Auth

CHECKED: Final = ("dtn", "myriadmesh", "uep12")
"""The protocols whose frames carry a proof."""

SCHEMA: Final = pa.schema(
    [("protocol", pa.string()), ("content", pa.string()), ("auth", pa.string())]
)


def judge(protocol: str, raw: bytes, keys: Iterable[bytes]) -> Auth:
    """What is known of one frame.

    A bundle that carries a signed message is as good as the weaker of the two signatures.
    """
    spoken = protocol_named(protocol)
    try:
        message = spoken.codec.decode(raw)
    except WireError:
        return Auth.INVALID
    auth = spoken.integrity.authenticate(message, raw, list(keys))
    if isinstance(message, Bundle) and isinstance(message.payload, _SIGNED) and auth is Auth.VALID:
        return _inner(message.payload, message.header.src_pub)
    return auth


def judge_batches(
    keys: Mapping[str, bytes],
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """A function for `mapInArrow`: rows of protocol, content, signer and raw get a verdict.

    Args:
        keys: Public keys by the hex of who they belong to.
    """

    def judged(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            rows = zip(*[batch.column(name).to_pylist() for name in _WANTED], strict=True)
            found = [
                (protocol, content, str(judge(protocol, raw, _known(keys, signer))))
                for protocol, content, signer, raw in rows
            ]
            columns = [pa.array(list(column), pa.string()) for column in zip(*found, strict=True)]
            if found:
                yield pa.RecordBatch.from_arrays(columns, schema=SCHEMA)

    return judged


def _inner(payload: ControlMessage, src_pub: bytes) -> Auth:
    return dtn_integrity.authenticate(payload, b"", [src_pub])


def _known(keys: Mapping[str, bytes], signer: str | None) -> list[bytes]:
    key = keys.get(signer or "")
    return [] if key is None else [key]


_SIGNED: Final = (ConfigUpdate, DeliveryAck, DeliveryCancel, GroupAnnounceMsg, Payment)
_WANTED: Final = ("protocol", "content", "signer", "raw")
