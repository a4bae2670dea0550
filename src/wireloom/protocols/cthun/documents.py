"""The JSON in chunks: typed, closed and strict, in both directions.

msgspec checks types and unknown keys as fast as it reads. It does not see a key that stands
twice (R25). Nothing in these closed schemas can be written longer than it was read (no
numbers, no defaults, escapes only where JSON demands them), so a document that writes back
to its own length had no second key. Any other length (white space, escapes, or a second
key) sends the document through the slow and exact reader.
"""

from collections.abc import Callable
from typing import Final, Generic, TypeVar

import msgspec
from msgspec import UNSET

from wireloom.protocols.cthun.constants import MessageType
from wireloom.protocols.cthun.forms import ADDRESS, ID, MESSAGE_TYPE, TARGET, TIME
from wireloom.protocols.cthun.messages import (
    AssociateResponse,
    DestinationReport,
    Envelope,
    ErrorMessage,
    Hop,
    InventoryRequest,
    InventoryResponse,
    TtlExpired,
)
from wireloom.protocols.cthun.times import check_day
from wireloom.wire import jsontext
from wireloom.wire.errors import MalformedError, WireError
from wireloom.wire.wording import worded

S = TypeVar("S", bound=msgspec.Struct)

_encode: Final = msgspec.json.Encoder().encode
_is_id: Final = ID.fits
_is_message_type: Final = MESSAGE_TYPE.fits
_is_time: Final = TIME.fits
_is_address: Final = ADDRESS.fits
_is_target: Final = TARGET.fits


class Notes(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The content of a debug chunk."""

    hops: tuple[Hop, ...]


class Document(Generic[S]):
    """How one kind of chunk content is read and written.

    Args:
        cls: What it holds.
        name: What refusals call it.
        check: Refuses texts of a wrong form.
    """

    def __init__(self, cls: type[S], name: str, check: Callable[[S], None]) -> None:
        self._cls = cls
        self._name = name
        self._check = check
        self._decode = msgspec.json.Decoder(cls).decode

    def take(self, content: bytes, base: int = 0) -> S:
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
                self._load(content)
            self._check(taken)
        except msgspec.ValidationError as error:
            raise MalformedError(self._words(error), offset=base) from None
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise self._explained(content, error).shifted(base) from None
        except WireError as error:
            raise error.shifted(base) from None
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

    def _load(self, content: bytes) -> None:
        try:
            jsontext.load(content)
        except WireError as error:
            raise MalformedError(f"{self._name}: {error.detail}", offset=error.offset) from None

    def _words(self, error: msgspec.ValidationError) -> str:
        what, _, path = str(error).partition(" - at `$")
        place = path.rstrip("`")
        return f"{self._name}{place}: {worded(self._cls, what, place):.200}"

    def _explained(self, content: bytes, error: Exception) -> WireError:
        """The exact reader's words for what msgspec could not read, if it has any."""
        try:
            self._load(content)
        except WireError as exact:
            return exact
        return MalformedError(f"{self._name}: {error}")


def _check_envelope(envelope: Envelope) -> None:
    """Every message passes this check, so the usual case is one expression."""
    if not (
        _is_id(envelope.id)
        and _is_message_type(envelope.message_type)
        and _is_time(envelope.expires)
        and _is_address(envelope.sender)
        and all(map(_is_target, envelope.targets))
    ):
        ID.require(envelope.id, "envelope.id")
        MESSAGE_TYPE.require(envelope.message_type, "envelope.message_type")
        TIME.require(envelope.expires, "envelope.expires")
        ADDRESS.require(envelope.sender, "envelope.sender")
        TARGET.require_all(envelope.targets, "envelope.targets")
    if envelope.in_reply_to is not UNSET:
        ID.require(envelope.in_reply_to, "envelope.in-reply-to")
    check_day(envelope.expires, "envelope.expires")


def _check_notes(notes: Notes) -> None:
    for index, hop in enumerate(notes.hops):
        ADDRESS.require(hop.server, f"debug.hops[{index}].server")
        TIME.require(hop.time, f"debug.hops[{index}].time")
        check_day(hop.time, f"debug.hops[{index}].time")


def _check_id(data: AssociateResponse | TtlExpired) -> None:
    ID.require(data.id, "data.id")


def _check_query(data: InventoryRequest) -> None:
    TARGET.require_all(data.query, "data.query")


def _check_uris(data: InventoryResponse) -> None:
    ADDRESS.require_all(data.uris, "data.uris")


def _check_error(data: ErrorMessage) -> None:
    if data.id is not UNSET:
        ID.require(data.id, "data.id")


def _check_report(data: DestinationReport) -> None:
    ID.require(data.id, "data.id")
    ADDRESS.require_all(data.targets, "data.targets")


DataDocument = (
    Document[AssociateResponse]
    | Document[InventoryRequest]
    | Document[InventoryResponse]
    | Document[ErrorMessage]
    | Document[DestinationReport]
    | Document[TtlExpired]
)

ENVELOPE: Final = Document(Envelope, "envelope", _check_envelope)
DEBUG: Final = Document(Notes, "debug", _check_notes)
DATA: Final[dict[str, DataDocument]] = {
    MessageType.ASSOCIATE_RESPONSE.value: Document(AssociateResponse, "data", _check_id),
    MessageType.INVENTORY_REQUEST.value: Document(InventoryRequest, "data", _check_query),
    MessageType.INVENTORY_RESPONSE.value: Document(InventoryResponse, "data", _check_uris),
    MessageType.ERROR_MESSAGE.value: Document(ErrorMessage, "data", _check_error),
    MessageType.DESTINATION_REPORT.value: Document(DestinationReport, "data", _check_report),
    MessageType.TTL_EXPIRED.value: Document(TtlExpired, "data", _check_id),
}
"""What the data chunk holds, by message type. An associate_request has no data (R20)."""
