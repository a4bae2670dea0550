"""What could not go at once: when it goes, and what becomes of it if it does not.

A message that waits goes when its receiver associates or reads again, a slice at a time (see
`pace`), one receiver after the other. What expires is reported to its sender, now or when the
sender is back.
"""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final

from wireloom.protocols.cthun.broker.clients import Client, State
from wireloom.protocols.cthun.broker.held import Holding
from wireloom.protocols.cthun.broker.inventory import Inventory
from wireloom.protocols.cthun.broker.kept import Held
from wireloom.protocols.cthun.broker.pace import Pace
from wireloom.protocols.cthun.broker.replies import Replies
from wireloom.protocols.cthun.broker.settings import BrokerSettings
from wireloom.protocols.cthun.broker.stamps import Stamps
from wireloom.protocols.cthun.integrity import redelivery_delay_ms
from wireloom.protocols.cthun.messages import TtlExpired
from wireloom.wire.outcome import Outcome
from wireloom.wire.session import Command, Compose, Send, Store, Turn, WakeAt

EXPIRY_TIMER: Final = "expiry"
REDELIVERY_TIMER: Final = "redelivery"
SLICE_TIMER: Final = "slice"
_NEWS_SIZE: Final = 512
"""Bytes in a ttl_expired, about."""

_TEXT: Final = False
_FORWARDED: Final = Outcome.FORWARDED


class Redelivery:
    """Delivers late what one broker holds.

    Args:
        settings: The broker's.
        inventory: Who is connected.
        replies: How senders are told.
        stamps: What is noted on a message's way.
    """

    def __init__(
        self, settings: BrokerSettings, inventory: Inventory, replies: Replies, stamps: Stamps
    ) -> None:
        self._settings = settings
        self._clients = inventory.clients
        self._replies = replies
        self._stamps = stamps
        self._pace = Pace(settings)
        self.holding = Holding(settings)
        """All that waits."""
        self._due: dict[str, None] = {}
        """Clients for whom something waits that can go in this turn or the next ones."""
        self._aside: dict[str, None] = {}
        """Clients for whom something cannot go as long as too much waits to leave for all."""

    def reached(self, uris: Sequence[str], size: int, now_ms: int) -> list[Client]:
        """Those of the receivers to whom a frame of this size can go at once.

        What has one receiver is no more than came in, and goes at any pace.
        """
        ready = (client for client in map(self._clients.get, uris) if client and client.ready)
        if len(uris) == 1:
            return list(ready)
        if self._pace.is_crowded:
            ready = (client for client in ready if self._pace.admits(client, size))
        found = list(islice(ready, self._pace.room(size, now_ms)))
        self._pace.spend(len(found), size)
        return found

    def hold(self, turn: Turn, held: Held) -> None:
        """Stores a message and sets the time of its first new attempt, and of its expiry."""
        idle = [uri for uri in held.owed if not self.holding.owes(uri)]
        if self._aside:  # it may overtake what waits there
            self._due.update(dict.fromkeys(filter(self._aside.__contains__, held.owed)))
        expiry_ms = self.holding.next_expiry_ms
        turn.commands.append(self.holding.hold(held))
        if expiry_ms is None or held.expires_ms < expiry_ms:
            turn.commands.append(WakeAt(EXPIRY_TIMER, held.expires_ms))
        for uri in idle:
            client = self._clients.get(uri)
            if client is None or client.stalled:
                self._attempt_later(turn, uri, held.expires_ms)
            else:  # a later slice
                client.ready = False
                self._due[uri] = None
        self._go_on(turn)

    def welcome(self, turn: Turn, uri: str) -> None:
        """Gives a client that has associated all that waited for it."""
        self._refresh([uri])
        self.redeliver(turn, uri)

    def congested(self, turn: Turn, client: Client, count: int, size: int) -> None:
        """Holds messages for a client back, or goes on, by what waits to leave for it."""
        limits = self._settings
        self._weigh(turn, client, size)
        client.stalled = count >= limits.stalled_count or size >= limits.stalled_size
        if client.stalled or client.uri is None:
            client.ready = False
            return
        client.unread_size = 0
        self._refresh([client.uri])
        self.redeliver(turn, client.uri)

    def leave(self, turn: Turn, client: Client) -> None:
        """Counts nothing more as waiting to leave for a client that has gone."""
        self._weigh(turn, client, 0)

    def redeliver(self, turn: Turn, uri: str) -> None:
        """Tries again what waits for a client, and sets the time of the next attempt (R38)."""
        client = self._clients.get(uri)
        if client is not None and not client.stalled:
            if self.holding.owes(uri) or self.holding.notices_for(uri):
                self._due[uri] = None
            self.deliver(turn)
            return
        first = self.holding.first_for(uri)
        if first is not None:
            self._attempt_later(turn, uri, first.expires_ms)

    def deliver(self, turn: Turn) -> None:
        """Sends a slice of what can go, one client after the other; the rest in later turns.

        What was sent is forgotten after all of it: a crash in between sends twice, never not at
        all (R37).
        """
        out = _Slice()
        while self._due and self._serve(turn, next(iter(self._due)), out):
            pass
        self.holding.settle(out.numbers, turn.commands)
        turn.commands += out.after
        self._go_on(turn)

    def expire(self, turn: Turn) -> None:
        """Ends what has waited for too long; senders hear of it now or when they are back (R33)."""
        now_ms = turn.now_ms
        after: list[Command] = []
        for number, waiting in self.holding.expired(self._settings.burst_count, now_ms):
            missed = self.holding.waiting_for(number)
            self.holding.drop(number, after)
            self._refresh(missed)
            self._due.update(dict.fromkeys(filter(self.holding.owes, missed)))
            if isinstance(waiting, Held):
                self._report(turn, waiting, after)
        turn.commands += after
        self._go_on(turn)
        next_ms = self.holding.next_expiry_ms
        # What is due already waits for another turn: others have their share of this one.
        again_ms = None if next_ms is None else max(next_ms, now_ms + 1)
        turn.commands.append(WakeAt(EXPIRY_TIMER, again_ms))

    def restore(self, turn: Turn, records: Iterable[Store]) -> None:
        """Takes up what an earlier life held; attempts and expiries go on."""
        self.holding.restore(records, turn.commands)
        for uri in self.holding.targets():
            self.redeliver(turn, uri)
        turn.commands.append(WakeAt(EXPIRY_TIMER, self.holding.next_expiry_ms))

    def _serve(self, turn: Turn, uri: str, out: "_Slice") -> bool:
        """Sends a client what waits for it; gives whether there is room for more in this turn."""
        del self._due[uri]
        client = self._clients.get(uri)
        if client is None or client.stalled:
            return True
        before = len(turn.commands)
        goes_on = self._tell_news(turn, client, uri, out)
        goes_on = goes_on and self._send_held(turn, client, uri, out)
        self._refresh([uri])
        is_served = len(turn.commands) > before
        if not self.holding.owes(uri) and not self.holding.notices_for(uri):
            out.after.append(WakeAt((REDELIVERY_TIMER, uri), None))
        elif is_served or not goes_on:
            self._due[uri] = None
        return goes_on

    def _tell_news(self, turn: Turn, client: Client, uri: str, out: "_Slice") -> bool:
        """Tells a sender what expired meanwhile, as far as this turn has room."""
        for number, notice in self.holding.notices_for(uri):
            if not self._pace.grant(_NEWS_SIZE, turn.now_ms):
                return False
            self._replies.tell(turn, client, TtlExpired(id=notice.id))
            self.holding.drop(number, out.after)
        return True

    def _send_held(self, turn: Turn, client: Client, uri: str, out: "_Slice") -> bool:
        """Sends the messages that wait for a client, as far as this turn has room.

        Those that must wait for others are overtaken, but not by messages of the same sender.
        """
        now_ms = turn.now_ms
        stamp = self._stamps.at(now_ms).redelivered
        waiting: set[str] = set()
        for number, held in self.holding.next_for(uri, now_ms):
            size = len(held.raw) + len(stamp)
            if held.sender in waiting or not self._pace.admits(client, size):
                waiting.add(held.sender)
                self._aside[uri] = None
                continue
            if not self._pace.grant(size, now_ms):
                return False
            client.active_ms = now_ms
            frame = held.raw + stamp if held.noted else held.raw
            turn.commands.append(Send(client.line, frame, _TEXT, _FORWARDED))
            self.holding.delivered(number, uri)
            out.numbers[number] = None
        return True

    def _report(self, turn: Turn, expired: Held, after: list[Command]) -> None:
        """Tells a sender that its message expired; the capture, if the sender is not there."""
        news = TtlExpired(id=expired.id)
        sender = self._clients.get(expired.sender)
        if sender is not None:
            self._replies.tell(turn, sender, news)
        if sender is None or sender.state is State.CLOSING:  # one that does not read was cut
            raw = self._replies.compose(turn, news, expired.sender)
            turn.commands.append(Compose(raw, expired.sender))
            after.append(self.holding.note(expired, turn.now_ms))

    def _weigh(self, turn: Turn, client: Client, size: int) -> None:
        """Notes what waits to leave for a client; goes on if that is no longer too much."""
        if self._pace.weigh(client, size):
            self._due |= self._aside
            self._aside.clear()
            self._go_on(turn)

    def _go_on(self, turn: Turn) -> None:
        """Sees to it that what can go goes on in the next turn."""
        if self._due:
            turn.commands.append(WakeAt(SLICE_TIMER, self._pace.next_ms(turn.now_ms)))

    def _refresh(self, uris: Iterable[str]) -> None:
        """Sees anew who can get messages at once."""
        for uri in uris:
            client = self._clients.get(uri)
            if client is not None:
                client.ready = not client.stalled and not self.holding.owes(uri)

    def _attempt_later(self, turn: Turn, uri: str, expires_ms: int) -> None:
        """Sets the time of the next attempt for a client."""
        settings = self._settings
        wait_ms = redelivery_delay_ms(
            expires_ms - turn.now_ms,
            least=settings.min_redelivery_ms,
            most=settings.max_redelivery_ms,
        )
        turn.commands.append(WakeAt((REDELIVERY_TIMER, uri), turn.now_ms + wait_ms))


class _Slice:
    """What one turn sends of what waited."""

    __slots__ = ("after", "numbers")

    def __init__(self) -> None:
        self.numbers: dict[int, None] = {}
        """Messages that somebody gets."""
        self.after: list[Command] = []
        """What is done once all has been sent."""
