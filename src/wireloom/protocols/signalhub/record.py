"""A Signal Hub message in the columns that all protocols share."""

from collections.abc import Mapping
from typing import Final

from msgspec import UNSET

from wireloom.protocols.signalhub.constants import HUB_PREFIX
from wireloom.protocols.signalhub.envelope import SharedMessage
from wireloom.protocols.signalhub.integrity import expires_ms
from wireloom.protocols.signalhub.messages import TYPES, Application, Broadcast, Publish, Send
from wireloom.wire.errors import MalformedError, UnknownTypeError
from wireloom.wire.message import Cast, Message, Summary, Unknown, rank_of_three
from wireloom.wire.plain import from_plain

_CASTS: Final[dict[type[SharedMessage], Cast]] = {
    Broadcast: Cast.BROADCAST,
    Publish: Cast.TOPIC,
}
_ORIGINAL_KEY: Final = "originalMessageId"
"""Where the hub notes the id of what it forwards."""


def summarise(message: Message, raw: bytes) -> Summary:
    """What the common record says of `message`, which was decoded from `raw`.

    A send is for its target and a publish for its topic, not for the hub that carries them.
    """
    del raw
    if not isinstance(message, SharedMessage):
        return Summary(type=message.type if isinstance(message, Unknown) else "")
    return Summary(
        type=type_of(message),
        id=message.id,
        source=message.from_,
        destination=destination(message),
        created_ms=message.timestamp,
        expires_ms=expires_ms(message),
        priority_rank=rank_of_three(priority(message)),
        cast=_CASTS.get(type(message), Cast.UNICAST),
        hops=1,
        reply_to=reply_to(message),
    )


def type_of(message: SharedMessage) -> str:
    """The message's type as it stands on the wire."""
    if isinstance(message, Application):
        return message.type
    return str(type(message).__struct_config__.tag)


def destination(message: SharedMessage) -> str:
    """For whom the message is in the end."""
    match message:
        case Send():
            return message.payload.target_address
        case Publish():
            return message.payload.topic
    return message.to


def priority(message: SharedMessage) -> int | None:
    """The priority of a send that has one: 0 (most urgent) to 2 (R15)."""
    if not isinstance(message, Send) or message.metadata is UNSET:
        return None
    return None if message.metadata.priority is UNSET else message.metadata.priority


def reply_to(message: SharedMessage) -> str | None:
    """The message that this one answers or, if the hub forwards it, that it was sent as."""
    if isinstance(message, Application) and message.metadata is not UNSET:
        original = message.metadata.get(_ORIGINAL_KEY)
        if isinstance(original, str):
            return original
    return message.correlation_id if isinstance(message.correlation_id, str) else None


def from_fields(type_: str, fields: object) -> Message:
    """The message that `wireloom decode` showed as `type_` and `fields`.

    Raises:
        WireError: If there is no such type, or the fields do not make one.
    """
    cls = TYPES.get(type_)
    if cls is not None:
        return from_plain(cls, fields)
    if type_.startswith(HUB_PREFIX):
        raise UnknownTypeError(f"{type_!r:.60} is not a Signal Hub message type")
    if not isinstance(fields, Mapping):
        raise MalformedError("fields must be an object")
    message = from_plain(Application, {"type": type_, **fields})
    if message.type != type_:
        raise MalformedError(f"fields.type is {message.type!r:.60}, not {type_!r:.60}")
    return message
