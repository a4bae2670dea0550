"""Ids, signatures, relaying and clocks of MyriadMesh frames.

A relay changes the TTL and sets the relay flag, so neither can be under the signature (R3).

```
signed    header with flags & 0xf7 and ttl 0 | payload as on the wire
```
"""

from collections.abc import Collection, Sequence
from functools import cache
from hashlib import blake2b
from typing import Final

from msgspec.structs import replace

from wireloom.protocols.myriadmesh.codec import encode
from wireloom.protocols.myriadmesh.constants import (
    CACHE_MS,
    HASH_SIZE,
    HEADER_SIZE,
    MAX_SKEW_MS,
    MESSAGE_ID_SIZE,
    MIN_SIGNED_SIZE,
    NODE_ID_SIZE,
    SIGNATURE_SIZE,
    Flags,
    MessageType,
)
from wireloom.protocols.myriadmesh.header import (
    DESTINATION_AT,
    FLAGS_AT,
    RELAY,
    SIGNED,
    SOURCE_AT,
    TTL_AT,
    TYPE_AT,
    put_header,
    read_header,
    take_header,
)
from wireloom.protocols.myriadmesh.lookups import put_ledger_block
from wireloom.protocols.myriadmesh.messages import Discovery, Frame, LedgerBlock
from wireloom.wire import keys as ed25519
from wireloom.wire.cursor import Reader, Writer
from wireloom.wire.errors import (
    FutureError,
    StaleError,
    TtlExceededError,
    UnauthenticatedError,
    UnknownKeyError,
)
from wireloom.wire.message import Message
from wireloom.wire.outcome import Auth

_NO_SIGNATURE: Final = bytes(SIGNATURE_SIZE)
_DISCOVERY: Final = int(MessageType.DISCOVERY)
_UNRELAYED: Final = [bytes([bits & ~RELAY]) for bits in range(256)]
"""The flags as one byte without the relay flag, by the flags."""


def node_id(public_key: bytes) -> bytes:
    """The id of the node that owns an Ed25519 key: its 32-byte BLAKE2b (R9)."""
    return blake2b(public_key, digest_size=NODE_ID_SIZE).digest()


def message_id(*, timestamp: int, source_node_id: bytes, nonce: bytes) -> bytes:
    """A new message's id, by the specification's recipe (R9).

    Args:
        timestamp: The frame's, in ms since 1970.
        source_node_id: The frame's.
        nonce: Random bytes.
    """
    writer = Writer()
    writer.u64(timestamp, "timestamp")
    writer.put(source_node_id, "source_node_id", size=NODE_ID_SIZE)
    writer.put(nonce, "nonce")
    return blake2b(writer.finish()).digest()[:MESSAGE_ID_SIZE]


def content_message_id(
    *, timestamp: int, source_node_id: bytes, dest_node_id: bytes, payload: bytes, sequence: int
) -> bytes:
    """A new message's id as the protocol's first implementation makes it: little-endian.

    Receivers never recompute an id, so senders of either kind get along (R9).
    """
    writer = Writer(order="little")
    writer.u64(timestamp, "timestamp")
    writer.put(source_node_id, "source_node_id", size=NODE_ID_SIZE)
    writer.put(dest_node_id, "dest_node_id", size=NODE_ID_SIZE)
    writer.put(payload, "payload")
    writer.u32(sequence, "sequence")
    return blake2b(writer.finish()).digest()[:MESSAGE_ID_SIZE]


def dht_key(kind: str, id_: bytes) -> bytes:
    """Where something about `id_` is stored: `kind` is `node`, `route` or `cache`."""
    return blake2b(f"{kind}:".encode() + id_, digest_size=HASH_SIZE).digest()


def merkle_root(entries: Sequence[bytes]) -> bytes:
    """The root over a block's entries (R31).

    A list that ends in an odd entry has the same root as one where that entry stands twice. The
    block's own hash covers its entries as they are, so such a pair is still two blocks.
    """
    level = [blake2b(entry).digest() for entry in entries] or [blake2b().digest()]
    while len(level) > 1:
        if len(level) % 2:
            level.append(level[-1])
        pairs = zip(level[::2], level[1::2], strict=True)
        level = [blake2b(one + other).digest() for one, other in pairs]
    return level[0][:HASH_SIZE]


def block_hash(block: LedgerBlock) -> bytes:
    """What the next block calls `block`: over its payload (R27).

    Raises:
        WireError: If the block cannot be encoded.
    """
    writer = Writer()
    put_ledger_block(writer, block)
    return blake2b(writer.finish()).digest()[:HASH_SIZE]


def signing_bytes(raw: bytes) -> bytes:
    """What the signature of a frame covers.

    Raises:
        WireError: If `raw` is not a frame.
    """
    read_header(raw)
    reader = Reader(raw)
    header = take_header(reader)
    writer = Writer()
    put_header(writer, header._replace(flags=header.flags & ~RELAY, ttl=0))
    writer.put(reader.take(header.payload_length, "payload"), "payload")
    return writer.finish()


def sign(frame: Frame, key: ed25519.SigningKey) -> Frame:
    """`frame` with its flag and signature set.

    Raises:
        UnknownKeyError: If the key is not the source's: nobody could verify it.
        WireError: If the frame cannot be encoded.
    """
    if node_id(key.public) != frame.source_node_id:
        raise UnknownKeyError("the key does not belong to the frame's source")
    marked = replace(frame, flags=frame.flags | Flags.SIGNED, signature=_NO_SIGNATURE)
    return replace(marked, signature=key.sign(signing_bytes(encode(marked))))


def verify(raw: bytes, public_key: bytes) -> bool:
    """Whether a frame is signed by the owner of `public_key`.

    Raises:
        WireError: If `raw` is not a frame.
    """
    covered = signing_bytes(raw)
    signature = Reader(raw, offset=len(covered)).rest("signature")
    return bool(signature) and ed25519.verify(public_key, covered, signature)


def authenticate(message: Message, raw: bytes, keys: Collection[bytes]) -> Auth:
    """What a frame's signature proves.

    A DISCOVERY brings its own key, which has to be its source's (R20). For others, the key
    of `keys` counts that hashes to the source (R14).

    Args:
        message: As decoded from `raw`.
        raw: The frame.
        keys: Ed25519 public keys.
    """
    header = read_header(raw)
    if not header.flags & SIGNED:
        return Auth.UNSIGNED
    known = [key for key in keys if node_id(key) == header.source_node_id]
    if isinstance(message, Frame) and isinstance(message.payload, Discovery):
        known = [message.payload.public_key]
        if node_id(message.payload.public_key) != header.source_node_id:
            return Auth.INVALID
    if not known:
        return Auth.UNKNOWN_KEY
    return Auth.VALID if verify(raw, known[0]) else Auth.INVALID


def authenticate_sound(raw: bytes, key: bytes | None) -> Auth | None:
    """What `authenticate` says of a frame that is known to decode, without decoding it again.

    None if it has to be decoded: a DISCOVERY brings its key along. What is signed are the same
    bytes as in `signing_bytes`, cut out by the header's offsets.

    Args:
        raw: The frame.
        key: The public key that is known of its source.
    """
    if len(raw) < MIN_SIGNED_SIZE or raw[TYPE_AT] == _DISCOVERY:
        return None
    if not raw[FLAGS_AT] & SIGNED:
        return Auth.UNSIGNED
    if key is None or _known_node_id(key) != raw[SOURCE_AT:DESTINATION_AT]:
        return Auth.UNKNOWN_KEY
    head = b"".join((raw[:FLAGS_AT], _UNRELAYED[raw[FLAGS_AT]], raw[TYPE_AT:TTL_AT], b"\0"))
    covered = head + raw[TTL_AT + 1 : -SIGNATURE_SIZE]
    is_valid = ed25519.verify(key, covered, raw[-SIGNATURE_SIZE:])
    return Auth.VALID if is_valid else Auth.INVALID


def check_signed(frame: Frame, *, trusted: Collection[bytes] = ()) -> None:
    """Refuses an unsigned frame, unless it is a HEARTBEAT or of a trusted node (R4).

    Args:
        frame: Any frame; whether its signature holds is not looked at.
        trusted: Ids of the nodes that need not sign.

    Raises:
        UnauthenticatedError: If it has to be signed.
    """
    if Flags.SIGNED in frame.flags or frame.message_type is MessageType.HEARTBEAT:
        return
    if frame.source_node_id not in trusted:
        raise UnauthenticatedError(f"an unsigned {frame.message_type.name} of a node not trusted")


def relay(raw: bytes) -> bytes:
    """A frame as a relay passes it on: one hop less, relay flag set, signature as it was.

    Raises:
        TtlExceededError: If no hop would be left.
        WireError: If it is not a frame.
    """
    header = read_header(raw)
    if header.ttl == 1:
        raise TtlExceededError("its last hop was to this node", offset=TTL_AT)
    writer = Writer()
    put_header(writer, header._replace(flags=header.flags | RELAY, ttl=header.ttl - 1))
    writer.put(Reader(raw, offset=HEADER_SIZE).rest("payload and signature"), "payload")
    return writer.finish()


def check_fresh(frame: Frame, *, now_ms: int) -> None:
    """Refuses a frame whose clock is too far off.

    One that was relayed may have waited for as long as its priority's band allows (R11).

    Raises:
        FutureError: If it is more than five minutes ahead.
        StaleError: If it is older than it may be.
    """
    age_ms = now_ms - frame.timestamp
    if age_ms < -MAX_SKEW_MS:
        raise FutureError(f"{-age_ms} ms ahead of the receiver's clock")
    allowed_ms = CACHE_MS[frame.band] if Flags.RELAY in frame.flags else MAX_SKEW_MS
    if age_ms > allowed_ms:
        raise StaleError(f"{age_ms} ms old, at most {allowed_ms} are allowed")


_known_node_id: Final = cache(node_id)
