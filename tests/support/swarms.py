"""Messages of a UEP-12 swarm with a proof of work, and sightings of them."""

from functools import cache
from typing import Any

from msgspec.structs import replace

from wireloom.capture.frame import CapturedFrame
from wireloom.protocols.uep12.codec import encode
from wireloom.protocols.uep12.integrity import msg_hash, work_input
from wireloom.protocols.uep12.messages import Content, Reference
from wireloom.protocols.uep12.work import scan
from wireloom.wire.outcome import Direction, Outcome

EPOCH_MS = 1_000
NOW_MS = 1_700_000_000_000


def content(
    text: str, *references: bytes, at: int = 0, ttl: int = 10, diff: int = 0, proven: bool = True
) -> bytes:
    """A CONTENT, `at` ms after NOW_MS, that refers to the messages with these hashes."""
    message = Content(
        pow_nonce=0,
        timestamp=NOW_MS + at,
        ttl_epoch=ttl,
        references=tuple(Reference(msg_hash=one, epoch_diff=diff) for one in references),
        payload=text.encode(),
    )
    return _worked(message) if proven else encode(message)


def hash_of(raw: bytes) -> str:
    """The message's hash as tables show it."""
    return msg_hash(raw).hex()


def sighting(
    raw: bytes,
    node: str,
    direction: str = "in",
    outcome: Outcome | None = Outcome.ACCEPTED,
    **more: Any,
) -> CapturedFrame:
    """`raw` as a node saw it, `at` ms after NOW_MS, in the swarm `tea` if not said otherwise."""
    at = more.pop("at", 0)
    return CapturedFrame(
        captured_at=(NOW_MS + at) * 1000,
        node=node,
        protocol="uep12",
        link="udp",
        direction=Direction(direction),
        raw=raw,
        outcome=outcome,
        **{"swarm": "tea", "epoch_ms": EPOCH_MS, **more},
    )


@cache
def _worked(message: Content) -> bytes:
    nonce = scan(work_input(encode(message)), 0, 1 << 32)
    assert nonce is not None
    return encode(replace(message, pow_nonce=nonce))
