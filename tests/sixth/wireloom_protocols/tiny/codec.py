"""Lines and their bytes.

```
TINY MSG id from to text
TINY ACK id from to
```
"""

from msgspec import ValidationError, convert, to_builtins

from wireloom.wire.cursor import Span
from wireloom.wire.errors import MalformedError, TooLargeError, UnknownTypeError
from wireloom.wire.message import Message, Unknown
from wireloom_protocols.tiny.constants import MARK, MAX_SIZE, Verb
from wireloom_protocols.tiny.messages import Ack, Line, Msg

_CLASSES: dict[str, type[Line]] = {Verb.MSG: Msg, Verb.ACK: Ack}


def decode(raw: bytes, *, lenient: bool = False) -> Message:
    """The message in `raw`.

    Raises:
        WireError: If it is not a line of Tiny.
    """
    if len(raw) > MAX_SIZE:
        raise TooLargeError(f"{len(raw)} bytes, a line has at most {MAX_SIZE}")
    if not raw.startswith(MARK):
        raise MalformedError("no line of Tiny", offset=0)
    try:
        verb, _, rest = raw.removeprefix(MARK).decode().partition(" ")
    except UnicodeDecodeError as error:
        raise MalformedError("not UTF-8", offset=len(MARK) + error.start) from None
    cls = _CLASSES.get(verb)
    if cls is not None:
        return _checked(cls, dict(zip(cls.__struct_fields__, _words(cls, rest), strict=True)))
    if lenient:
        return Unknown(type=verb, raw=raw)
    raise UnknownTypeError(f"{verb!r:.20} is no verb", offset=len(MARK))


def encode(message: Message) -> bytes:
    """The mirror of `decode`."""
    if not isinstance(message, Msg | Ack):
        raise UnknownTypeError(f"{type(message).__name__} is not a message of Tiny")
    _checked(type(message), to_builtins(message))
    words = [getattr(message, name) for name in message.__struct_fields__]
    raw = MARK + " ".join([message.verb, *words]).encode()
    if len(raw) > MAX_SIZE:
        raise TooLargeError(f"{len(raw)} bytes, a line has at most {MAX_SIZE}")
    return raw


def spans(raw: bytes) -> list[Span]:
    """Where each word lies."""
    found, offset = [], 0
    for name, word in zip(
        ("mark", "verb", *Msg.__struct_fields__), raw.split(b" ", 5), strict=False
    ):
        found.append(Span(name.rstrip("_"), offset, len(word)))
        offset += len(word) + 1
    return found


def _words(cls: type[Line], rest: str) -> list[str]:
    count = len(cls.__struct_fields__)
    words = rest.split(" ", count - 1)
    if len(words) != count:
        raise MalformedError(f"{len(words)} words, {cls.verb} has {count}")
    return words


def _checked(cls: type[Line], fields: dict[str, str]) -> Line:
    try:
        return convert(fields, cls)
    except ValidationError as error:
        raise MalformedError(str(error)) from None
