"""Times as Cthun writes them: ISO 8601, date, time and zone in full.

`2015-04-27T12:00:03Z`, `…03.000Z` and `…03+00:00` are one instant (R17). The text is kept
as it came, so that a message encodes to the bytes it was decoded from.
"""

from datetime import UTC, datetime, timedelta
from typing import Final

from wireloom.wire.errors import MalformedError

_DATE: Final = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CLOCK: Final = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]"
TIME_PATTERN: Final = rf"\A{_DATE}T{_CLOCK}:[0-5][0-9](?:\.[0-9]{{1,9}})?(?:Z|[+\-]{_CLOCK})\Z"
"""The form; whether the calendar has that day is `millis`' to say."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)


def check_day(text: str, name: str) -> None:
    """Refuses a time of the right form whose day is in no calendar.

    Raises:
        MalformedError: If there is no such day.
    """
    try:
        datetime.fromisoformat(text)
    except ValueError as error:
        raise MalformedError(f"{name} {text!r:.60} is no date: {error}") from None


def millis(text: str) -> int:
    """A checked time in ms since 1970, fractions of a millisecond dropped."""
    return (datetime.fromisoformat(text) - _EPOCH) // _MILLISECOND


def text_of(millis_: int) -> str:
    """An instant as this implementation writes it, to the millisecond.

    Raises:
        MalformedError: If it is not within the years 1 to 9999.
    """
    try:
        instant = _EPOCH + millis_ * _MILLISECOND
    except OverflowError:
        raise MalformedError(f"{millis_} ms since 1970 is in no calendar") from None
    return instant.isoformat(timespec="milliseconds").replace("+00:00", "Z")
