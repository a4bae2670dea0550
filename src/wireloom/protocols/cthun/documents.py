"""The JSON in chunks: typed, closed and strict, in both directions.

msgspec checks types, patterns and unknown keys as fast as it reads. It does not see a key
that stands twice. Nothing in these closed schemas can be written longer than it was read
(no numbers, no defaults, escapes only where JSON demands them), so a document that writes
back to its own length had no second key. Any other length (white space, escapes, or a
second key) sends the document through the slow and exact reader.
"""

import re
from collections.abc import Callable
from typing import Final, Generic, TypeVar

import msgspec

from wireloom.protocols.cthun.constants import MessageType
from wireloom.protocols.cthun.messages import (
    BROKER_TYPES,
    ID_PATTERN,
    MESSAGE_TYPE_PATTERN,
    BrokerData,
    Envelope,
    Hop,
)
from wireloom.protocols.cthun.times import TIME_PATTERN, check_day
from wireloom.protocols.cthun.uris import ADDRESS_PATTERN, TARGET_PATTERN
from wireloom.wire import jsontext
from wireloom.wire.errors import MalformedError, WireError

S = TypeVar("S", bound=msgspec.Struct)

_encode: Final = msgspec.json.Encoder().encode
_VALIDATION: Final = re.compile(r"(?P<what>.*?)(?: - at `\$(?P<path>.*)`)?\Z", re.DOTALL)
_WORDS: Final = {
    f"Expected `str` matching regex {pattern!r}": words
    for pattern, words in (
        (ID_PATTERN, "is not a UUID"),
        (MESSAGE_TYPE_PATTERN, "has other characters than letters, digits and _-.:/"),
        (TIME_PATTERN, "is not an ISO 8601 time with zone"),
        (ADDRESS_PATTERN, "is not the Cthun URI of one node"),
        (TARGET_PATTERN, "is not a Cthun URI"),
    )
}


class Notes(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The content of a debug chunk."""

    hops: tuple[Hop, ...]


class Document(Generic[S]):
    """How one kind of chunk content is read and written.

    Args:
        cls: What it holds.
        name: What refusals call it.
        check: A further check of what was read, which raises a WireError.
    """

    def __init__(
        self, cls: type[S], name: str, *, check: Callable[[S], None] | None = None
    ) -> None:
        self._cls = cls
        self._name = name
        self._check = check
        self._decode = msgspec.json.Decoder(cls).decode

    def take(self, content: bytes, *, base: int = 0) -> S:
        """What `content` says.

        Args:
            content: Any bytes.
            base: Where they begin in the message, for the offset of a refusal.

        Raises:
            MalformedError: If it is not such a document.
        """
        try:
            taken = self._decode(content)
            if len(_encode(taken)) != len(content):
                jsontext.load(content)
            if self._check is not None:
                self._check(taken)
        except msgspec.ValidationError as error:
            raise MalformedError(self._words(error), offset=base) from None
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise self._explained(content, error).shifted(base) from None
        except WireError as error:
            raise MalformedError(f"{self._name}: {error.detail}").shifted(
                base + (error.offset or 0)
            ) from None
        return taken

    def put(self, value: object) -> bytes:
        """The mirror of `take`: compact, keys in the order of the schema.

        Raises:
            MalformedError: If `take` would refuse it.
        """
        if not isinstance(value, self._cls):
            raise MalformedError(
                f"{self._name} is {type(value).__name__}, not {self._cls.__name__}"
            )
        try:
            content = _encode(value)
            self.take(content)
        except WireError as error:
            raise MalformedError(error.detail) from None
        except (TypeError, ValueError, RecursionError) as error:
            raise MalformedError(f"{self._name} cannot be written: {error}") from None
        return content

    def _words(self, error: msgspec.ValidationError) -> str:
        match = _VALIDATION.match(str(error))
        if match is None:
            return f"{self._name}: {error}"
        where = self._name + (match["path"] or "")
        words = _WORDS.get(match["what"])
        return f"{where} {words}" if words else f"{where}: {match['what']}"

    def _explained(self, content: bytes, error: Exception) -> WireError:
        """The exact reader's words for what msgspec could not read, if it has any."""
        try:
            jsontext.load(content)
        except WireError as exact:
            return MalformedError(f"{self._name}: {exact.detail}", offset=exact.offset)
        return MalformedError(f"{self._name}: {error}")


def _check_expires(envelope: Envelope) -> None:
    check_day(envelope.expires, "expires")


def _check_times(notes: Notes) -> None:
    for hop in notes.hops:
        check_day(hop.time, "time")


ENVELOPE: Final = Document(Envelope, "envelope", check=_check_expires)
DEBUG: Final = Document(Notes, "debug", check=_check_times)
DATA: Final[dict[str, Document[BrokerData]]] = {
    type_: Document(cls, "data")
    for type_, cls in BROKER_TYPES.items()
    if type_ != MessageType.ASSOCIATE_REQUEST
}
"""What the data chunk holds, by message type. An associate_request has no data (R20)."""
