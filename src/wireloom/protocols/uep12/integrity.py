"""Hashes, proof of work, lifetimes and clocks of UEP-12 messages.

The work is SHA-256 over the message with its timestamp torn apart (R2): the high 32 bits
stand in front of everything, the low 16 where the timestamp was.

```
message   79 10 ver | pow_nonce | ts[0:2] ts[2:6] | ttl_epoch …
work of   ts[2:6] 79 10 ver | pow_nonce | ts[0:2] | ttl_epoch …
```
"""

from collections.abc import Collection
from hashlib import sha256
from typing import Final, NamedTuple

from wireloom.protocols.uep12.constants import (
    DEFAULT_EPOCH_MS,
    HASH_SIZE,
    MAX_AHEAD_MS,
    POW_TARGET,
)
from wireloom.protocols.uep12.messages import Content
from wireloom.wire.cursor import Reader
from wireloom.wire.errors import ExpiredError, FutureError, TtlExceededError
from wireloom.wire.message import Message
from wireloom.wire.outcome import Auth

NONCE_SIZE: Final = 8

_TARGET_BYTES: Final = POW_TARGET.to_bytes(32, "big")
_EPOCH_DIFF_MIN: Final = -0x8000
_EPOCH_DIFF_MAX: Final = 0x7FFF


class WorkInput(NamedTuple):
    """What is hashed for a proof of work, around the nonce."""

    head: bytes
    tail: bytes


def msg_hash(raw: bytes) -> bytes:
    """A message's identity: the first 8 bytes of the SHA-256 over all of it (R9)."""
    return sha256(raw).digest()[:HASH_SIZE]


def work_input(raw: bytes) -> WorkInput:
    """What stands before and after the nonce when the work of a CONTENT is hashed."""
    reader = Reader(raw, order="little")
    header = reader.take(3, "header and version")
    reader.take(NONCE_SIZE, "pow_nonce")
    low = reader.take(2, "timestamp, low bits")
    high = reader.take(4, "timestamp, high bits")
    return WorkInput(head=high + header, tail=low + reader.rest("after the timestamp"))


def work(raw: bytes) -> bytes:
    """The 32-byte work of a CONTENT."""
    head, tail = work_input(raw)
    reader = Reader(raw, offset=3)
    return sha256(head + reader.take(NONCE_SIZE, "pow_nonce") + tail).digest()


def is_proof(digest: bytes) -> bool:
    """Whether a work is below the target; of equal length, bytes compare as big-endian (R4)."""
    return digest < _TARGET_BYTES


def authenticate(message: Message, raw: bytes, keys: Collection[bytes]) -> Auth:
    """What the proof of work says of a message; pulls and lists carry none.

    Args:
        message: As decoded from `raw`.
        raw: The frame.
        keys: Not used: no key takes part in UEP-12.
    """
    del keys
    if not isinstance(message, Content):
        return Auth.UNSIGNED
    return Auth.VALID if is_proof(work(raw)) else Auth.INVALID


def expires_ms(message: Content, *, epoch_ms: int = DEFAULT_EPOCH_MS) -> int:
    """When the message's lifetime ends; a ttl of 0 counts as 1."""
    return message.timestamp + max(1, message.ttl_epoch) * epoch_ms


def epoch_diff(expiry_ms: int, referred_expiry_ms: int, *, epoch_ms: int = DEFAULT_EPOCH_MS) -> int:
    """A reference's `epoch_diff`: whole epochs toward zero, saturated to 16 bits (R12)."""
    difference = expiry_ms - referred_expiry_ms
    epochs = abs(difference) // epoch_ms
    signed = epochs if difference >= 0 else -epochs
    return max(_EPOCH_DIFF_MIN, min(_EPOCH_DIFF_MAX, signed))


def referred_expiry_ms(expiry_ms: int, diff: int, *, epoch_ms: int = DEFAULT_EPOCH_MS) -> int:
    """When a referred message expires, as far as its `epoch_diff` tells."""
    return expiry_ms - diff * epoch_ms


def check_fresh(
    message: Content, *, now_ms: int, max_ttl_epoch: int, epoch_ms: int = DEFAULT_EPOCH_MS
) -> None:
    """Refuses a message that no peer may store, serve or relay now.

    Raises:
        TtlExceededError: If it asks for more epochs than the swarm allows.
        FutureError: If its clock is more than a minute ahead.
        ExpiredError: If its lifetime is over.
    """
    if message.ttl_epoch > max_ttl_epoch:
        raise TtlExceededError(f"{message.ttl_epoch} epochs, the swarm allows {max_ttl_epoch}")
    if message.timestamp > now_ms + MAX_AHEAD_MS:
        raise FutureError(f"{message.timestamp - now_ms} ms ahead of the receiver's clock")
    overdue = now_ms - expires_ms(message, epoch_ms=epoch_ms)
    if overdue >= 0:
        raise ExpiredError(f"expired {overdue} ms ago")
