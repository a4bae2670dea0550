"""What a recipient gets: the application's message in an envelope of the hub's making (R34)."""

from typing import Any, Final

from msgspec import UNSET, UnsetType

from wireloom.protocols.signalhub.constants import HUB_PREFIX, MAX_ADDRESS_SIZE
from wireloom.protocols.signalhub.envelope import Inner
from wireloom.protocols.signalhub.hub.desk import Desk
from wireloom.protocols.signalhub.hub.dialects import (
    JSON,
    PACKED,
    Content,
    Dialect,
    Letter,
    Written,
)
from wireloom.protocols.signalhub.metadata import (
    SendMetadata,
)

_BY_TEXT: Final = (PACKED, JSON)
_UNFIT: Final = Letter(b"", b"", b"")
"""Stands for a letter that cannot be written in an encoding."""

UNPORTABLE: Final = (OverflowError, ValueError)
"""What an encoding raises that cannot carry a payload."""

_NO_NOTES: Final[dict[str, Any]] = {}


def is_reserved(inner: Inner) -> bool:
    """Whether a message would pass for one of the hub's own."""
    return inner.type.startswith(HUB_PREFIX)


def noted(metadata: SendMetadata | UnsetType) -> dict[str, Any]:
    """What of a send's metadata goes on to the recipient."""
    if metadata is UNSET or (metadata.trace_id is UNSET and metadata.priority is UNSET):
        return _NO_NOTES
    notes = {"traceId": metadata.trace_id, "priority": metadata.priority}
    return {key: value for key, value in notes.items() if value is not UNSET}


def remaining_ms(ends_ms: int | None, now_ms: int) -> int | None:
    """The lifetime that is left to what is passed on now."""
    if ends_ms is None:
        return None
    left_ms = ends_ms - now_ms
    return left_ms if left_ms > 1 else 1


def content(
    desk: Desk, inner: Inner, original: str, ends_ms: int | None, notes: dict[str, Any]
) -> Content:
    """What recipients get.

    Args:
        desk: The hub's desk.
        inner: The application's message.
        original: The id of the message that carried it.
        ends_ms: When its lifetime is over.
        notes: More for its metadata.
    """
    now_ms = desk.now_ms
    ttl = remaining_ms(ends_ms, now_ms)
    return Content(inner.type, inner.payload, None, now_ms, ttl, desk.written, original, notes)


class Forwarding:
    """One message on its way to many recipients; written once in each encoding.

    Args:
        desk: The hub's desk.
        source: The sender's address.
        about: What it says.
    """

    __slots__ = ("_about", "_desk", "_letters", "_source")

    def __init__(self, desk: Desk, source: Written, about: Content) -> None:
        self._desk = desk
        self._source = source
        self._about: Content | None = about
        self._letters: list[Letter | None] = [None, None]

    def letter(self, *, text: bool) -> Letter | None:
        """The letter in an encoding; None if recipients who speak it cannot get it (R48)."""
        known = self._letters[text]
        if known is None:
            known = self._letters[text] = self._fit_letter(_BY_TEXT[text]) or _UNFIT
        return known if known is not _UNFIT else None

    def seal(self) -> int:
        """Writes both letters and lets go of what they say; gives the size of the larger one."""
        letters = [self.letter(text=text) for text in (False, True)]
        self._about = None
        return max(0 if letter is None else letter.size for letter in letters)

    def _fit_letter(self, dialect: Dialect) -> Letter | None:
        if self._about is None:
            return None
        try:
            made = dialect.letter(self._desk.id_head, self._source, self._about)
        except UNPORTABLE:
            return None
        fits = made.size + MAX_ADDRESS_SIZE <= self._desk.settings.max_message_size
        return made if fits else None
