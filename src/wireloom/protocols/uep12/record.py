"""A UEP-12 message in the columns that all protocols share."""

from typing import Final

from wireloom.protocols.uep12.constants import Opcode
from wireloom.protocols.uep12.integrity import expires_ms, msg_hash
from wireloom.protocols.uep12.messages import TYPES, Content
from wireloom.wire.errors import UnknownTypeError
from wireloom.wire.message import Cast, Message, Summary
from wireloom.wire.plain import from_plain

_NAMES: Final = {cls: name for name, cls in TYPES.items()}


def summarise(message: Message, raw: bytes) -> Summary:
    """What the common record says of `message`, which was decoded from `raw`.

    A swarm hides who sends, and the swarm itself is named by the link, not by the frame. A
    CONTENT is for all of it, the other messages go between two peers.
    """
    if isinstance(message, Content):
        return Summary(
            type=Opcode.CONTENT.name,
            id=msg_hash(raw).hex(),
            created_ms=message.timestamp,
            expires_ms=expires_ms(message),
            cast=Cast.BROADCAST,
            payload_size=len(message.payload),
        )
    return Summary(type=_NAMES[type(message)], id=msg_hash(raw).hex(), cast=Cast.UNICAST)


def from_fields(type_: str, fields: object) -> Message:
    """The message that `wireloom decode` showed as `type_` and `fields`.

    Raises:
        WireError: If there is no such type, or the fields do not make one.
    """
    cls = TYPES.get(type_)
    if cls is None:
        raise UnknownTypeError(f"{type_!r:.60} is not a UEP-12 message type")
    return from_plain(cls, fields)
