"""Messages that wait for clients who are away, and news of expiries that wait for senders.

Each is a record that survives a crash (see `kept`). What is kept is bounded in number and in
bytes, and no owner can fill the place for the others (R32). Whoever calls here passes the commands
on; a message is forgotten after it was sent, so that a crash in between sends it twice rather than
never (R37).
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from wireloom.protocols.cthun.broker.kept import Held, Marks, Notice, forgotten, found, stored
from wireloom.protocols.cthun.broker.settings import BrokerSettings
from wireloom.wire.deadlines import Deadlines
from wireloom.wire.session import Command, Store
from wireloom.wire.shares import Shares

_DONE: Final = Marks(0)
"""Of a notice, which nobody is owed to."""


class Holding:
    """All that waits.

    Args:
        settings: The broker's.
    """

    def __init__(self, settings: BrokerSettings) -> None:
        self._settings = settings
        self._number = 0
        self._waiting: dict[int, Held | Notice] = {}
        self._marks: dict[int, Marks] = {}
        self._queues: dict[str, dict[int, int]] = {}
        """What waits for a client: numbers, and the client's place among the receivers."""
        self._notices: dict[str, dict[int, Notice]] = {}
        self._expiries = Deadlines(self._waiting)
        self._shares = Shares(settings.held_count, settings.held_size)
        self.unreadable_count = 0
        """Records that were set aside because they cannot be read."""

    def __len__(self) -> int:
        """How many messages and notices wait."""
        return len(self._waiting)

    @property
    def count(self) -> int:
        """How much of what may be held is: messages by receiver, and notices."""
        return self._shares.count

    @property
    def size(self) -> int:
        """Bytes of all that waits, whole records."""
        return self._shares.size

    @property
    def next_expiry_ms(self) -> int | None:
        """When the next message or notice expires."""
        return self._expiries.next_ms

    def owes(self, uri: str) -> bool:
        """Whether a message waits for this client."""
        return uri in self._queues

    def covers(self, held: Held) -> bool:
        """Whether a message may be held: whether its owner's share has room for it (R32)."""
        return self._shares.fits(held.owner, len(held.owed), held.weight)

    def hold(self, held: Held) -> Store:
        """Keeps a message for all whom it is owed to."""
        return stored(self._add(held, Marks(len(held.owed))), held)

    def first_for(self, uri: str) -> Held | None:
        """The message that has waited longest for a client."""
        return next(self._messages_for(uri), (0, None))[1]

    def next_for(self, uri: str, now_ms: int) -> list[tuple[int, Held]]:
        """The next messages for a client, with their numbers, those left out that have expired.

        There are no more of them than one turn may deliver.
        """
        first = islice(self._messages_for(uri), self._settings.burst_count)
        return [(number, held) for number, held in first if held.expires_ms > now_ms]

    def delivered(self, number: int, uri: str) -> None:
        """Notes that a client got its message; `settle` makes that last."""
        held, marks = self._waiting[number], self._marks[number]
        marks.add(self._queues[uri][number])
        self._unqueue(uri, number)
        self._shares.remove(held.owner, 1, 0 if marks.left else held.weight)

    def settle(self, numbers: Iterable[int], commands: list[Command]) -> None:
        """Stores who has got these messages, and forgets those that everybody has."""
        for number in numbers:
            marks = self._marks[number]
            if marks.left:
                marks.store(number, commands)
            else:
                self._forget(number, commands)

    def expired(self, count: int, now_ms: int) -> Iterator[tuple[int, Held | Notice]]:
        """Messages and notices whose time is over, with their numbers.

        Args:
            count: How many, each message counted once for every client that it waits for: with
                the last one it may be more.
            now_ms: The time.
        """
        for number in self._expiries.due(now_ms):
            count -= max(1, self._marks[number].left)
            yield number, self._waiting[number]
            if count <= 0:
                return

    def drop(self, number: int, commands: list[Command]) -> None:
        """Gives up what expired or was told."""
        dropped, marks = self._waiting[number], self._marks[number]
        if isinstance(dropped, Notice):
            self._shares.remove(dropped.owner, 1, dropped.weight)
            told = self._notices[dropped.sender]
            del told[number]
            if not told:
                del self._notices[dropped.sender]
        else:
            self._shares.remove(dropped.owner, marks.left, dropped.weight)
            for uri in self.waiting_for(number):
                self._unqueue(uri, number)
        self._forget(number, commands)

    def waiting_for(self, number: int) -> list[str]:
        """The clients that have not got a message."""
        held, marks = self._waiting[number], self._marks[number]
        owed = held.owed if isinstance(held, Held) else []
        return [uri for place, uri in enumerate(owed) if place not in marks]

    def note(self, expired: Held, now_ms: int) -> Store:
        """Keeps the news that a message expired for its sender."""
        notice = Notice(
            id=expired.id,
            sender=expired.sender,
            expires_ms=now_ms + self._settings.report_wait_ms,
            owner=expired.owner,
        )
        return stored(self._add(notice, _DONE), notice)

    def notices_for(self, sender: str) -> list[tuple[int, Notice]]:
        """The first of the news that waits for a sender, no more than one turn may tell."""
        notices = self._notices.get(sender, {}).items()
        return list(islice(notices, self._settings.burst_count))

    def restore(self, records: Iterable[Store], commands: list[Command]) -> None:
        """Takes up what an earlier life stored; the commands set aside what cannot be read."""
        waiting, aside, self.unreadable_count = found(records)
        commands += aside
        for number, one, marks in waiting:
            if isinstance(one, Held) and not marks.left:
                commands.append(forgotten(number, one))
                marks.forget(number, commands)
            else:
                self._number = number - 1
                self._add(one, marks)

    def targets(self) -> list[str]:
        """The clients whom messages wait for."""
        return list(self._queues)

    def messages(self) -> Iterator[Held]:
        """The messages that wait."""
        return (waiting for waiting in self._waiting.values() if isinstance(waiting, Held))

    def _messages_for(self, uri: str) -> Iterator[tuple[int, Held]]:
        for number in self._queues.get(uri, ()):
            held = self._waiting[number]
            if isinstance(held, Held):
                yield number, held

    def _add(self, waiting: Held | Notice, marks: Marks) -> int:
        self._number += 1
        number = self._number
        self._waiting[number], self._marks[number] = waiting, marks
        self._expiries.add(number, waiting.expires_ms)
        self._expiries.tidy(len(self._waiting))
        if isinstance(waiting, Notice):
            self._notices.setdefault(waiting.sender, {})[number] = waiting
            self._shares.add(waiting.owner, 1, waiting.weight)
        else:
            for place, uri in enumerate(waiting.owed):
                if place not in marks:
                    self._queues.setdefault(uri, {})[number] = place
            self._shares.add(waiting.owner, marks.left, waiting.weight)
        return number

    def _forget(self, number: int, commands: list[Command]) -> None:
        gone, marks = self._waiting.pop(number), self._marks.pop(number)
        commands.append(forgotten(number, gone))
        marks.forget(number, commands)

    def _unqueue(self, uri: str, number: int) -> None:
        queue = self._queues[uri]
        del queue[number]
        if not queue:
            del self._queues[uri]
