"""Messages to many: to the subscribers of a topic, or to all registered actors."""

from collections import deque
from typing import Any, Final, NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from wireloom.protocols.signalhub.constants import Detail
from wireloom.protocols.signalhub.desk import Desk
from wireloom.protocols.signalhub.directory import Directory, Registration
from wireloom.protocols.signalhub.exchange import (
    BroadcastAckPayload,
    PublishedPayload,
    SubscribedPayload,
)
from wireloom.protocols.signalhub.forwarding import Forwarding, content, is_reserved
from wireloom.protocols.signalhub.integrity import expires_ms
from wireloom.protocols.signalhub.messages import (
    Broadcast,
    BroadcastAck,
    Publish,
    Published,
    Subscribe,
    Subscribed,
    Unsubscribe,
)
from wireloom.protocols.signalhub.roster import Actor, Connection
from wireloom.protocols.signalhub.topics import Audience, Topics, forget, store, subscription_id
from wireloom.wire.outcome import Outcome
from wireloom.wire.session import Conclude, Send, Spread, WakeAt

BROADCAST_TIMER: Final = "broadcast"


class Job(NamedTuple):
    """A broadcast that is under way."""

    forwarding: Forwarding
    targets: deque[Registration]
    ends_ms: int | None
    """When its lifetime is over."""


class Fanout:
    """Topics and broadcasts."""

    def __init__(self, desk: Desk, directory: Directory, topics: Topics) -> None:
        self._desk = desk
        self._directory = directory
        self._topics = topics
        self._jobs: deque[Job] = deque()
        self.pending = 0
        """Recipients that queued broadcasts have still to reach."""

    def handle_subscribe(self, connection: Connection, message: Subscribe) -> Conclude:
        """Adds a subscription; the same one again changes nothing but its durability."""
        desk, actor, topic = self._desk, connection.actor, message.payload.topic
        if not self._topics.has(actor, topic) and not self._has_room(connection):
            text = "No more subscriptions are taken"
            return desk.full(connection, message, text, Detail.LIMIT_REACHED)
        durable = message.payload.durable is True
        name = subscription_id(actor.address, topic)
        was_durable = self._topics.add(actor, topic, durable=durable)
        if durable and not was_durable:
            desk.out.append(store(actor, topic))
        elif was_durable and not durable:
            desk.out.append(forget(name))
        payload = SubscribedPayload(topic=topic, subscription_id=name)
        raw = desk.answer(connection, message, Subscribed, payload)
        return desk.done(connection, message, raw)

    def handle_unsubscribe(self, connection: Connection, message: Unsubscribe) -> Conclude:
        """Ends a subscription; one that is not the client's own is passed over (R13)."""
        actor, name = connection.actor, message.payload.subscription_id
        if name in actor.subscriptions:
            self._desk.out.extend(self._topics.remove(actor, name))
        return self._desk.done(connection, message)

    def handle_publish(self, connection: Connection, message: Publish) -> Conclude:
        """Passes a message on to all subscribers of a topic that can take it."""
        desk, topic = self._desk, message.payload.topic
        if is_reserved(message.payload.message):
            return desk.forbid(connection, message, "publish", "types of the hub are its own")
        subscribers = self._topics.subscribers(topic)
        count = 0
        if subscribers:
            forwarding = self._forwarding(
                connection, message, {"publication": True, "topic": topic}
            )
            count = self._publish(forwarding, topic)
        payload = PublishedPayload(topic=topic, subscriber_count=count)
        raw = desk.answer(connection, message, Published, payload)
        desk.seen.remember(connection.address, message.id, raw)
        return connection.forwarded

    def handle_broadcast(self, connection: Connection, message: Broadcast) -> Conclude:
        """Passes a message on to all actors that it is meant for: at once, or in slices (R7)."""
        desk = self._desk
        if is_reserved(message.payload.message):
            return desk.forbid(connection, message, "broadcast", "types of the hub are its own")
        slowed = desk.slowed(connection, message, connection.allowance.broadcasts)
        if slowed:
            return slowed
        targets = self._directory.selected(
            _capability(message), self._excluded(connection, message)
        )
        job = Job(
            self._forwarding(connection, message, {"broadcast": True}),
            deque(targets),
            expires_ms(message),
        )
        if len(targets) <= desk.settings.sync_broadcast_max:
            delivered = self._slice(job, len(targets))
            counts = (delivered, 0, len(targets) - delivered)
        elif len(self._jobs) >= desk.settings.max_broadcasts:
            text = "Too many broadcasts are under way"
            return desk.full(connection, message, text, Detail.QUEUE_FULL)
        else:
            counts = self._enqueue(job)
        return self._acknowledge(connection, message, counts)

    def advance(self, count: int | None = None) -> None:
        """Takes queued broadcasts one slice further.

        Args:
            count: Recipients; as many as are delivered to at once, if nothing is said.
        """
        count = count or self._desk.settings.sync_broadcast_max
        while self._jobs and count > 0:
            job = self._jobs[0]
            reached = min(count, len(job.targets))
            self._slice(job, reached)
            count -= reached
            self.pending -= reached
            if not job.targets:
                self._jobs.popleft()
        if self._jobs:
            self._wake()

    def finish(self) -> None:
        """Takes all queued broadcasts to their end."""
        if self.pending:
            self.advance(self.pending)

    def _forwarding(
        self, connection: Connection, message: Publish | Broadcast, notes: dict[str, Any]
    ) -> Forwarding:
        inner = message.payload.message
        about = content(self._desk, inner, message.id, expires_ms(message), notes)
        about = replace(about, correlation_id=message.id)
        return Forwarding(self._desk, connection.voice(message), about)

    def _publish(self, forwarding: Forwarding, topic: str) -> int:
        """Passes a publication on; gives how many get it."""
        packed, written = self._topics.audiences(topic)
        count = self._spread(forwarding, written, text=True)
        count += self._spread(forwarding, packed, text=False)
        self._desk.meter.add(count, self._desk.now_ms)
        return count

    def _spread(self, forwarding: Forwarding, audience: Audience, *, text: bool) -> int:
        """Sends it to an audience of one encoding; to nobody if that cannot carry it."""
        lines, addresses = audience
        letter = forwarding.letter(text=text) if lines else None
        if letter is None:
            return 0
        desk = self._desk
        frames = letter.to_each(addresses, desk.number + 1)
        desk.number += len(frames)
        desk.out.append(Spread(lines, frames, text, Outcome.FORWARDED))
        return len(frames)

    def _slice(self, job: Job, count: int) -> int:
        """Delivers to the next recipients of a broadcast; gives how many got it."""
        desk = self._desk
        first = desk.number
        expired = job.ends_ms is not None and job.ends_ms < desk.now_ms
        for _ in range(count):
            target = job.targets.popleft()
            there = target.owner.connection
            if there is None or there.paused or expired:
                continue
            letter = job.forwarding.letter(text=there.text)
            if letter is not None:
                desk.number += 1
                raw = letter.to(target.written[there.text], desk.number)
                desk.out.append(Send(there.line, raw, there.text, Outcome.FORWARDED))
        desk.meter.add(desk.number - first, desk.now_ms)
        return desk.number - first

    def _enqueue(self, job: Job) -> tuple[int, int, int]:
        reachable = sum(one.owner.connection is not None for one in job.targets)
        if not self._jobs:
            self._wake()
        self._jobs.append(job)
        self.pending += len(job.targets)
        return 0, reachable, len(job.targets) - reachable

    def _wake(self) -> None:
        desk = self._desk
        desk.out.append(WakeAt((BROADCAST_TIMER,), desk.now_ms + desk.settings.broadcast_pause_ms))

    def _acknowledge(
        self, connection: Connection, message: Broadcast, counts: tuple[int, int, int]
    ) -> Conclude:
        delivered, queued, failed = counts
        payload = BroadcastAckPayload(
            message_id=message.id,
            delivered_count=delivered,
            queued_count=queued,
            failed_count=failed,
        )
        raw = self._desk.answer(connection, message, BroadcastAck, payload)
        self._desk.done(connection, message, raw)
        return connection.forwarded

    def _excluded(self, connection: Connection, message: Broadcast) -> Actor | Registration | None:
        """Who is left out: the address that speaks or, for the client itself, all it has."""
        if message.payload.exclude_self is not True:
            return None
        name = connection.name(message)
        return connection.actor if name == connection.address else self._directory.get(name)

    def _has_room(self, connection: Connection) -> bool:
        settings = self._desk.settings
        return (
            len(connection.actor.subscriptions) < settings.max_subscriptions
            and self._topics.count < settings.max_all_subscriptions
        )


def _capability(message: Broadcast) -> str | None:
    metadata = message.metadata
    if metadata is UNSET or metadata.target_capability is UNSET:
        return None
    return metadata.target_capability
