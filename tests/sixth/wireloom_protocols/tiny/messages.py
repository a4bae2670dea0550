"""The two messages of Tiny, fields in wire order."""

from typing import Annotated, ClassVar, Final

from msgspec import Meta

from wireloom.wire.message import Message
from wireloom_protocols.tiny.constants import Verb

Word = Annotated[str, Meta(min_length=1, pattern=r"\A[!-~]+\Z")]


class Line(Message, frozen=True, kw_only=True):
    """What both messages have."""

    verb: ClassVar[Verb]

    id: Word
    """The message that is sent or acknowledged."""

    from_: Word
    """Who sends."""

    to: Word
    """For whom it is."""


class Msg(Line, frozen=True, kw_only=True):
    """A text from one to another."""

    verb = Verb.MSG

    text: str = ""
    """What is said."""


class Ack(Line, frozen=True, kw_only=True):
    """Its receiver has it."""

    verb = Verb.ACK


TYPES: Final[dict[str, type[Message]]] = {Verb.MSG: Msg, Verb.ACK: Ack}
PARTS: Final[tuple[type[Message], ...]] = ()
