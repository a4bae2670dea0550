"""Ids for the messages that a session makes itself.

An id is a UUID of version 8, which leaves its bits to whoever makes it: a constant part, which
follows from the text of one life of the process, and a number. Making one costs a tenth of a
random UUID, and none is made twice.
"""

from hashlib import sha256


class Ids:
    """Makes the ids of one life of a session.

    Args:
        boot: A text that no other life has.
    """

    __slots__ = ("number", "prefix")

    def __init__(self, boot: str) -> None:
        digest = sha256(boot.encode()).hexdigest()
        self.prefix = f"{digest:.8}-{digest[8:12]}-8{digest[12:15]}-8{digest[15:18]}-"
        """What all ids begin with."""
        self.number = 0
        """The last id's number. Whoever writes ids as bytes by itself counts it up."""

    def next(self) -> str:
        """An id that no message had before."""
        self.number += 1
        return f"{self.prefix}{self.number:012x}"
