"""Conversations with a hub, made of one sample a type, as the hub captured them."""

from typing import Any
from uuid import UUID

from msgspec.structs import replace

from protocols.signalhub.samples import SAMPLES
from wireloom.capture.frame import CapturedFrame
from wireloom.protocols.signalhub.codec import encode
from wireloom.protocols.signalhub.envelope import SharedMessage
from wireloom.wire.outcome import Direction

HUB_NODE = "hub-1"
NOW_MS = 1_767_225_600_000


def uuid(number: int) -> str:
    """An id that is easy to tell from others."""
    return str(UUID(int=number))


def said(type_: str, number: int, *, at: int, about: int | None = None, **changes: Any) -> bytes:
    """The sample of a type as message `number`.

    Args:
        type_: Its type.
        number: Its id.
        at: When it is made, in ms after `NOW_MS`.
        about: The id of the message that it answers.
        changes: Other fields; of its payload under `payload`, as a dictionary.
    """
    sample = SAMPLES[type_]
    assert isinstance(sample, SharedMessage)
    if isinstance(payload := changes.pop("payload", None), dict):
        changes["payload"] = replace(sample.payload, **payload)
    if about is not None:
        changes["correlation_id"] = uuid(about)
    return encode(replace(sample, id=uuid(number), timestamp=NOW_MS + at, **changes))


def heard(
    raw: bytes, at: int, direction: str = "in", *, node: str = HUB_NODE, **more: Any
) -> CapturedFrame:
    """A frame captured `at` ms after `NOW_MS`; at the hub, from `ui` unless told otherwise."""
    return CapturedFrame(
        captured_at=(NOW_MS + at) * 1000,
        node=node,
        protocol="signalhub",
        link="ws",
        direction=Direction(direction),
        raw=raw,
        **{"peer": "ui", **more},
    )
