"""A line in the columns that all protocols share."""

from wireloom.wire.errors import UnknownTypeError
from wireloom.wire.message import Cast, Message, Summary, Unknown
from wireloom.wire.plain import from_plain
from wireloom_protocols.tiny.messages import TYPES, Ack, Line, Msg


def summarise(message: Message, raw: bytes) -> Summary:
    """What the common record says of `message`; an acknowledgement has no id of its own."""
    del raw
    if not isinstance(message, Line):
        return Summary(type=message.type if isinstance(message, Unknown) else "")
    return Summary(
        type=message.verb,
        id=None if isinstance(message, Ack) else message.id,
        source=message.from_,
        destination=message.to,
        cast=Cast.UNICAST,
        reply_to=message.id if isinstance(message, Ack) else None,
        payload_size=len(message.text.encode()) if isinstance(message, Msg) else None,
    )


def from_fields(type_: str, fields: object) -> Message:
    """The message with these plain fields.

    Raises:
        WireError: If there is no such type, or the fields do not make one.
    """
    if type_ not in TYPES:
        raise UnknownTypeError(f"{type_!r:.20} is no verb")
    return from_plain(TYPES[type_], fields)
