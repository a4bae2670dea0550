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
from wireloom.protocols.cthun.broker.notes import Notes
from wireloom.protocols.cthun.broker.pace import Pace
from wireloom.protocols.cthun.broker.replies import Replies
from wireloom.protocols.cthun.broker.settings import BrokerSettings
from wireloom.protocols.cthun.integrity import half_of
from wireloom.protocols.cthun.messages import TtlExpired
from wireloom.wire.outcome import Outcome
from wireloom.wire.session import Command, Compose, Send, Store, WakeAt

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
        notes: What is noted on a message's way.
    """

    def __init__(
        self, settings: BrokerSettings, inventory: Inventory, replies: Replies, notes: Notes
    ) -> None:
        self._settings = settings
        self._clients = inventory.clients
        self._replies = replies
        self._notes = notes
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

    def hold(self, held: Held, now_ms: int) -> list[Command]:
        """Stores a message and sets the time of its first new attempt, and of its expiry."""
        idle = [uri for uri in held.owed if not self.holding.owes(uri)]
        if self._aside:  # it may overtake what waits there
            self._due.update(dict.fromkeys(filter(self._aside.__contains__, held.owed)))
        expiry_ms = self.holding.next_expiry_ms
        commands: list[Command] = [self.holding.hold(held)]
        if expiry_ms is None or held.expires_ms < expiry_ms:
            commands.append(WakeAt(EXPIRY_TIMER, held.expires_ms))
        for uri in idle:
            client = self._clients.get(uri)
            if client is None or client.stalled:
                commands.append(self._next_attempt(uri, held.expires_ms, now_ms))
            else:  # a later slice
                client.ready = False
                self._due[uri] = None
        return commands + self._go_on(now_ms)

    def welcome(self, uri: str, now_ms: int) -> list[Command]:
        """Gives a client that has associated all that waited for it."""
        self._refresh([uri])
        return self.redeliver(uri, now_ms)

    def congested(self, client: Client, count: int, size: int, now_ms: int) -> list[Command]:
        """Holds messages for a client back, or goes on, by what waits to leave for it."""
        limits = self._settings
        resumed = self._weigh(client, size, now_ms)
        client.stalled = count >= limits.stalled_count or size >= limits.stalled_size
        if client.stalled or client.uri is None:
            client.ready = False
            return resumed
        client.unread_size = 0
        self._refresh([client.uri])
        return resumed + self.redeliver(client.uri, now_ms)

    def gone(self, client: Client, now_ms: int) -> list[Command]:
        """Nothing waits to leave any more for a client that has gone."""
        return self._weigh(client, 0, now_ms)

    def redeliver(self, uri: str, now_ms: int) -> list[Command]:
        """Tries again what waits for a client, and sets the time of the next attempt (R38)."""
        client = self._clients.get(uri)
        if client is not None and not client.stalled:
            if self.holding.owes(uri) or self.holding.notices_for(uri):
                self._due[uri] = None
            return self.deliver(now_ms)
        first = self.holding.first_for(uri)
        return [] if first is None else [self._next_attempt(uri, first.expires_ms, now_ms)]

    def deliver(self, now_ms: int) -> list[Command]:
        """Sends a slice of what can go, one client after the other; the rest in later turns."""
        out = _Slice()
        while self._due and self._serve(next(iter(self._due)), out, now_ms):
            pass
        return [*out.sent, *self.holding.settle(out.numbers), *out.done, *self._go_on(now_ms)]

    def expire(self, now_ms: int) -> list[Command]:
        """Ends what has waited for too long; senders hear of it now or when they are back (R33)."""
        told: list[Command] = []
        done: list[Command] = []
        for number, waiting in self.holding.expired(self._settings.burst_count, now_ms):
            missed = self.holding.waiting_for(number)
            done += self.holding.drop(number)
            self._refresh(missed)
            self._due.update(dict.fromkeys(filter(self.holding.owes, missed)))
            if isinstance(waiting, Held):
                told += self._report(waiting, done, now_ms)
        next_ms = self.holding.next_expiry_ms
        # What is due already waits for another turn: others have their share of this one.
        again = WakeAt(EXPIRY_TIMER, None if next_ms is None else max(next_ms, now_ms + 1))
        return [*told, *done, *self._go_on(now_ms), again]

    def restore(self, records: list[Store], now_ms: int) -> list[Command]:
        """Takes up what an earlier life held; attempts and expiries go on."""
        commands = self.holding.restore(records)
        for uri in self.holding.targets():
            commands += self.redeliver(uri, now_ms)
        return [*commands, WakeAt(EXPIRY_TIMER, self.holding.next_expiry_ms)]

    def _serve(self, uri: str, out: "_Slice", now_ms: int) -> bool:
        """Sends a client what waits for it; gives whether there is room for more in this turn."""
        del self._due[uri]
        client = self._clients.get(uri)
        if client is None or client.stalled:
            return True
        before = len(out.sent)
        goes_on = self._tell_news(client, uri, out, now_ms)
        goes_on = goes_on and self._send_held(client, uri, out, now_ms)
        self._refresh([uri])
        is_served = len(out.sent) > before
        if not self.holding.owes(uri) and not self.holding.notices_for(uri):
            out.done.append(WakeAt((REDELIVERY_TIMER, uri), None))
        elif is_served or not goes_on:
            self._due[uri] = None
        return goes_on

    def _tell_news(self, client: Client, uri: str, out: "_Slice", now_ms: int) -> bool:
        """Tells a sender what expired meanwhile, as far as this turn has room."""
        for number, notice in self.holding.notices_for(uri):
            if not self._pace.grant(_NEWS_SIZE, now_ms):
                return False
            out.sent += self._replies.tell(client, TtlExpired(id=notice.id), now_ms)
            out.done += self.holding.drop(number)
        return True

    def _send_held(self, client: Client, uri: str, out: "_Slice", now_ms: int) -> bool:
        """Sends the messages that wait for a client, as far as this turn has room.

        Those that must wait for others are overtaken, but not by messages of the same sender.
        """
        stamp = self._notes.at(now_ms).redelivered
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
            out.sent.append(Send(client.line, frame, _TEXT, _FORWARDED))
            self.holding.delivered(number, uri)
            out.numbers[number] = None
        return True

    def _report(self, expired: Held, done: list[Command], now_ms: int) -> list[Command]:
        """Tells a sender that its message expired; the capture, if the sender is not there."""
        news = TtlExpired(id=expired.id)
        sender = self._clients.get(expired.sender)
        told = [] if sender is None else self._replies.tell(sender, news, now_ms)
        if sender is None or sender.state is State.CLOSING:  # one that does not read was cut
            told.append(
                Compose(self._replies.compose(news, expired.sender, now_ms), expired.sender)
            )
            done.append(self.holding.note(expired, now_ms))
        return told

    def _weigh(self, client: Client, size: int, now_ms: int) -> list[Command]:
        """Notes what waits to leave for a client; goes on if that is no longer too much."""
        if not self._pace.weigh(client, size):
            return []
        self._due |= self._aside
        self._aside.clear()
        return self._go_on(now_ms)

    def _go_on(self, now_ms: int) -> list[Command]:
        """Sees to it that what can go goes on in the next turn."""
        return [WakeAt(SLICE_TIMER, self._pace.next_ms(now_ms))] if self._due else []

    def _refresh(self, uris: Iterable[str]) -> None:
        """Sees anew who can get messages at once."""
        for uri in uris:
            client = self._clients.get(uri)
            if client is not None:
                client.ready = not client.stalled and not self.holding.owes(uri)

    def _next_attempt(self, uri: str, expires_ms: int, now_ms: int) -> WakeAt:
        least, most = self._settings.min_redelivery_ms, self._settings.max_redelivery_ms
        wait_ms = half_of(expires_ms - now_ms, least=least, most=most)
        return WakeAt((REDELIVERY_TIMER, uri), now_ms + wait_ms)


class _Slice:
    """What leaves in one turn of what waited."""

    __slots__ = ("done", "numbers", "sent")

    def __init__(self) -> None:
        self.sent: list[Command] = []
        self.numbers: dict[int, None] = {}
        """Messages that somebody gets."""
        self.done: list[Command] = []
        """What follows once all has left."""
