"""What signatures and proofs of work say, each distinct frame once.

Python sees rows here and in the data source only. Signed protocols need keys: those come from
the traffic itself, since a public key certifies its own owner by its hash.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
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
from wireloom.protocols.myriadmesh.constants import HEADER_SIZE, SIGNATURE_SIZE, MessageType
from wireloom.protocols.myriadmesh.header import (
    DESTINATION_AT,
    FLAGS_AT,
    RELAY,
    SIGNED,
    SOURCE_AT,
    TTL_AT,
    TYPE_AT,
)
from wireloom.protocols.myriadmesh.integrity import node_id
from wireloom.registry import protocol as protocol_named
from wireloom.wire.errors import WireError
from wireloom.wire.keys import verify
from wireloom.wire.outcome import Auth

CHECKED: Final = ("dtn", "myriadmesh", "uep12")
"""The protocols whose frames carry a proof."""

WANTED: Final = ("protocol", "content", "signer", "raw")
"""What is judged."""

SCHEMA: Final = pa.schema(
    [(name, pa.string()) for name in ("protocol", "content", "signer", "auth")]
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
            columns = [batch.column(name).to_pylist() for name in ("protocol", "signer", "raw")]
            found = [
                _judge(protocol, raw, keys.get(signer)).value
                for protocol, signer, raw in zip(*columns, strict=True)
            ]
            told = [batch.column(name) for name in ("protocol", "content", "signer")]
            yield pa.RecordBatch.from_arrays([*told, pa.array(found, pa.string())], schema=SCHEMA)

    return judged


def _judge(protocol: str, raw: bytes, key: bytes | None) -> Auth:
    """What `judge` says, faster for most frames of the mesh, which are known to decode."""
    if protocol != "myriadmesh" or len(raw) < _SIGNED_SIZE or raw[TYPE_AT] == _DISCOVERY:
        return judge(protocol, raw, [] if key is None else [key])
    if not raw[FLAGS_AT] & SIGNED:
        return Auth.UNSIGNED
    if key is None or _node_id(key) != raw[SOURCE_AT:DESTINATION_AT]:
        return Auth.UNKNOWN_KEY
    signature, flags = raw[-SIGNATURE_SIZE:], _UNRELAYED[raw[FLAGS_AT]]
    # As signed: the relay flag cleared and no hop count (`integrity.signing_bytes`).
    head = b"".join((raw[:FLAGS_AT], flags, raw[TYPE_AT:TTL_AT], b"\0"))
    covered = head + raw[TTL_AT + 1 : -SIGNATURE_SIZE]
    return Auth.VALID if verify(key, covered, signature) else Auth.INVALID


def _inner(payload: ControlMessage, src_pub: bytes) -> Auth:
    return dtn_integrity.authenticate(payload, b"", [src_pub])


_node_id: Final = cache(node_id)
_DISCOVERY: Final = int(MessageType.DISCOVERY)
_SIGNED_SIZE: Final = HEADER_SIZE + SIGNATURE_SIZE
_UNRELAYED: Final = [bytes([bits & ~RELAY]) for bits in range(256)]
_SIGNED: Final = (ConfigUpdate, DeliveryAck, DeliveryCancel, GroupAnnounceMsg, Payment)
