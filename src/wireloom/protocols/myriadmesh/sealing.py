"""Encrypted payloads: XSalsa20-Poly1305 under keys from an X25519 exchange.

```
secret  X25519(own private, peer's public)
keys    HKDF-SHA-256(secret, salt = smaller id | larger id, info = label)
        A is the node with the smaller id: it sends with A-to-B and receives with B-to-A
nonce   message_id 16 | timestamp 8                                              (R2)
sealed  tag 16 | ciphertext of the payload, which was compressed first if it is
```

A session uses each message id once: the same id and timestamp with another payload would
use a nonce twice.
"""

from hmac import compare_digest, digest
from typing import Final, NamedTuple

from msgspec.structs import replace

from wireloom.protocols.myriadmesh.codec import put_payload, take_payload
from wireloom.protocols.myriadmesh.compression import deflate, saves
from wireloom.protocols.myriadmesh.constants import BROADCAST_ID, MESSAGE_ID_SIZE, Flags
from wireloom.protocols.myriadmesh.messages import Frame, Sealed
from wireloom.wire.ciphers import hkdf, open_xsalsa, seal_xsalsa, x25519
from wireloom.wire.cursor import Reader, Writer
from wireloom.wire.errors import MalformedError

_A_TO_B: Final = b"MyriadMesh-v1-A-to-B"
_B_TO_A: Final = b"MyriadMesh-v1-B-to-A"
_CONFIRM: Final = b"confirm"


class SessionKeys(NamedTuple):
    """The two keys of a session, as one side sees them."""

    tx_key: bytes
    """What this side seals with."""

    rx_key: bytes
    """What this side opens with."""


def session_keys(
    private_key: bytes, peer_public_key: bytes, *, own_id: bytes, peer_id: bytes
) -> SessionKeys:
    """The keys that two nodes share after a key exchange.

    Args:
        private_key: This side's ephemeral X25519 key.
        peer_public_key: The other side's ephemeral key.
        own_id: This node's id.
        peer_id: The other node's id.

    Raises:
        MalformedError: If both ids are the same, since then neither is A.
        DecryptFailedError: If the public key gives no secret.
    """
    if own_id == peer_id:
        raise MalformedError("a node has no session with itself")
    secret = x25519(private_key, peer_public_key)
    salt = b"".join(sorted((own_id, peer_id)))
    labels = (_A_TO_B, _B_TO_A) if own_id < peer_id else (_B_TO_A, _A_TO_B)
    return SessionKeys(*[hkdf(secret, info=label, salt=salt) for label in labels])


def confirmation(tx_key: bytes) -> bytes:
    """What a CONFIRM carries to show that its sender has the keys (R26)."""
    return digest(tx_key, _CONFIRM, "sha256")


def is_confirmed(rx_key: bytes, received: bytes) -> bool:
    """Whether `received` is the other side's confirmation."""
    return compare_digest(confirmation(rx_key), received)


def nonce_of(frame: Frame) -> bytes:
    """The 24-byte nonce of a frame (R2)."""
    writer = Writer()
    writer.put(frame.message_id, "message_id", size=MESSAGE_ID_SIZE)
    writer.u64(frame.timestamp, "timestamp")
    return writer.finish()


def compress(frame: Frame) -> Frame:
    """`frame` compressed, if that saves more than a tenth; otherwise as it is.

    Raises:
        WireError: If the payload cannot be encoded.
    """
    if frame.flags & (Flags.COMPRESSED | Flags.ENCRYPTED):
        return frame
    plain = put_payload(frame)
    packed = deflate(plain)
    if not saves(plain, packed):
        return frame
    return _unsigned(replace(frame, flags=frame.flags | Flags.COMPRESSED, compressed=packed))


def seal_frame(frame: Frame, key: bytes) -> Frame:
    """`frame` with its payload encrypted. It is unsigned: sign it next.

    Raises:
        MalformedError: If it is sealed already, or goes to everyone (R12).
        WireError: If the payload cannot be encoded.
    """
    if Flags.ENCRYPTED in frame.flags:
        raise MalformedError("the frame is sealed already")
    if frame.dest_node_id == BROADCAST_ID:
        raise MalformedError("a broadcast cannot be encrypted")
    ciphertext = seal_xsalsa(key, nonce_of(frame), put_payload(frame))
    return _unsigned(
        replace(
            frame,
            flags=frame.flags | Flags.ENCRYPTED,
            payload=Sealed(ciphertext=ciphertext),
            compressed=None,
        )
    )


def open_frame(frame: Frame, key: bytes) -> Frame:
    """What `seal_frame` sealed. Verify the signature first: the opened frame has none.

    Raises:
        MalformedError: If the frame is not sealed.
        DecryptFailedError: If it does not open with this key.
        WireError: If what was sealed is not a payload.
    """
    if not isinstance(frame.payload, Sealed):
        raise MalformedError("the frame is not sealed")
    plain = Reader(open_xsalsa(key, nonce_of(frame), frame.payload.ciphertext))
    flags = frame.flags & ~Flags.ENCRYPTED
    payload, compressed = take_payload(plain, flags, frame.message_type, lenient=False)
    return _unsigned(replace(frame, flags=flags, payload=payload, compressed=compressed))


def _unsigned(frame: Frame) -> Frame:
    """A signature covers the payload as it was, so it does not survive a change of it."""
    return replace(frame, flags=frame.flags & ~Flags.SIGNED, signature=None)
