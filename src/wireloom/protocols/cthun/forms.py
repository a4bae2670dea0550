"""The forms that texts in Cthun's JSON have, and the words for a text that has another.

msgspec could check a pattern while it reads, at twice the cost: these are checked after it.
"""

import re
from collections.abc import Sequence
from typing import Final

from wireloom.protocols.cthun.times import TIME_PATTERN
from wireloom.protocols.cthun.uris import ADDRESS_PATTERN, TARGET_PATTERN
from wireloom.wire.errors import MalformedError

_HEX: Final = "[0-9A-Fa-f]"


class Form:
    """One form.

    Args:
        pattern: Of the whole text. Its end is not `$`, which also matches before a final
            line feed.
        words: What to say of a text that does not have it.
    """

    __slots__ = ("fits", "pattern", "words")

    def __init__(self, pattern: str, words: str) -> None:
        self.pattern = pattern
        self.words = words
        self.fits = re.compile(pattern).match
        """Gives a match, or None."""

    def require(self, text: str, name: str) -> None:
        """Refuses a text of another form.

        Raises:
            MalformedError: If it has one.
        """
        if not self.fits(text):
            raise MalformedError(f"{name} {self.words}")

    def require_all(self, texts: Sequence[str], name: str) -> None:
        """Refuses a list in which a text has another form.

        Raises:
            MalformedError: If one has.
        """
        if not all(map(self.fits, texts)):
            index = [bool(self.fits(text)) for text in texts].index(False)
            raise MalformedError(f"{name}[{index}] {self.words}")


ID: Final = Form(
    rf"\A{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}\Z", "is not a UUID"
)
MESSAGE_TYPE: Final = Form(
    r"\A[A-Za-z0-9_\-.:/]*\Z", "has other characters than letters, digits and _-.:/"
)
TIME: Final = Form(TIME_PATTERN, "is not an ISO 8601 time with zone")
ADDRESS: Final = Form(ADDRESS_PATTERN, "is not the Cthun URI of one node")
TARGET: Final = Form(TARGET_PATTERN, "is not a Cthun URI")
