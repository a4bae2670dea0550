"""Frames within frames: what a DATA_BATCH holds."""

from typing import Final

from wireloom.protocols.myriadmesh.codec import decode, encode
from wireloom.protocols.myriadmesh.constants import MessageType
from wireloom.protocols.myriadmesh.messages import DataBatch, Frame

TYPE: Final = MessageType.DATA_BATCH.name
"""The type of the messages that hold frames."""


def frames(raw: bytes) -> list[bytes]:
    """The frames within a batch, as if each had come by itself; a sealed batch shows none.

    Raises:
        WireError: If `raw` is not a frame.
    """
    message = decode(raw)
    payload = message.payload if isinstance(message, Frame) else None
    return [encode(one) for one in payload.messages] if isinstance(payload, DataBatch) else []
