"""Which messages came already, in bounded memory."""


class Seen:
    """Remembers the ids of the latest messages, each with its sender (R34).

    Args:
        count: How many are remembered at least; at most it is twice as many.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._recent: dict[str, str | None] = {}
        self._older: dict[str, str | None] = {}

    def knows(self, id_: str, sender: str) -> bool:
        """Whether `sender` sent a message with this id before."""
        return self._recent.get(id_) == sender or self._older.get(id_) == sender

    def add(self, id_: str, sender: str | None) -> bool:
        """Remembers a message; gives whether it is new.

        Who gives the same text for all messages of a sender, has it kept once.
        """
        recent = self._recent
        if recent.get(id_) == sender or self._older.get(id_) == sender:
            return False
        recent[id_] = sender
        if len(recent) >= self._count:
            self._older, self._recent = recent, {}
        return True
