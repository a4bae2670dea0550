"""Messages to many: to the subscribers of a topic, or to all registered actors."""

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from wireloom.protocols.signalhub.constants import QUICK_PAUSE_MS, Detail
from wireloom.protocols.signalhub.hub.desk import Desk
from wireloom.protocols.signalhub.hub.directory import Directory, Registration
from wireloom.protocols.signalhub.hub.express import Express
from wireloom.protocols.signalhub.hub.forwarding import Forwarding, content, is_reserved
from wireloom.protocols.signalhub.hub.limits import Budget
from wireloom.protocols.signalhub.hub.roster import Actor, Connection
from wireloom.protocols.signalhub.hub.slices import (
    BROADCASTS,
    Broadcasting,
    Group,
    Publishing,
    Slices,
    spread,
)
from wireloom.protocols.signalhub.hub.topics import Topics, forget, store, subscription_id
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
from wireloom.protocols.signalhub.payloads import (
    BroadcastAckPayload,
    PublishedPayload,
    SubscribedPayload,
)
from wireloom.wire.session import Conclude, Send

_connection: Final = attrgetter("owner.connection")
_TEXT: Final = True
_HEAD_SIZE: Final = 128
"""Bytes of a frame for one of many before its sender, and of an address of the usual length."""


class Fanout:
    """Topics and broadcasts."""

    def __init__(self, desk: Desk, directory: Directory, topics: Topics) -> None:
        self._desk = desk
        self._directory = directory
        self._topics = topics
        self._express = Express(desk.written[True], desk.id_head)
        self.slices = Slices(desk)
        self._queues = self.slices.queues
        self._at_once = desk.settings.slice_count
        self._quick = Budget(desk.settings.slice_size, QUICK_PAUSE_MS)
        """For what leaves at once."""

    def handle_subscribe(self, connection: Connection, message: Subscribe) -> Conclude:
        """Adds a subscription; the same one again changes nothing but its durability."""
        desk, actor, topic = self._desk, connection.actor, message.payload.topic
        if not self._topics.has(actor, topic) and not self._has_room(connection, topic):
            text = "No more subscriptions are taken"
            return desk.full(connection, message, text, Detail.LIMIT_REACHED)
        durable = message.payload.durable is True
        name = subscription_id(actor.address, topic)
        was_durable = self._topics.add(actor, topic, connection.account, durable=durable)
        if durable and not was_durable:
            desk.out.append(store(actor, topic, connection.account))
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
        count: int | None = 0
        if self._topics.subscribers(topic):
            notes = {"publication": True, "topic": topic}
            count = self._publish(connection, message, self._forwarding(connection, message, notes))
        if count is None:
            text = "Too many messages to many are under way"
            return desk.full(connection, message, text, Detail.QUEUE_FULL)
        raw = self._published(connection, message, count)
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
        targets = self._directory.selected(_capability(message))
        if message.payload.exclude_self is True:
            without = self._excluded(connection, message)
            targets = [one for one in targets if one.owner is not without and one is not without]
        forwarding = self._forwarding(connection, message, {"broadcast": True})
        job = Broadcasting(forwarding, targets, connection.account, expires_ms(message))
        counts = self._broadcast(job, targets)
        if counts is None:
            text = "Too many messages to many are under way"
            return desk.full(connection, message, text, Detail.QUEUE_FULL)
        return self._acknowledge(connection, message, counts)

    def _forwarding(
        self, connection: Connection, message: Publish | Broadcast, notes: dict[str, Any]
    ) -> Forwarding:
        inner = message.payload.message
        about = content(self._desk, inner, message.id, expires_ms(message), notes)
        about = replace(about, correlation_id=message.id)
        return Forwarding(self._desk, connection.voice(message), about)

    def _publish(
        self, connection: Connection, message: Publish, forwarding: Forwarding
    ) -> int | None:
        """Passes a publication on; gives how many get it, None if there is no room for it.

        Nothing overtakes an earlier publication of the same topic that is under way.
        """
        desk, topic = self._desk, message.payload.topic
        packed, written = self._topics.audiences(topic)
        letter = forwarding.letter(text=True) if written.lines else None
        other = forwarding.letter(text=False) if packed.lines else None
        count = size = 0
        if letter is not None:
            count = len(written.lines)
            size = count * (len(letter.tail) + _HEAD_SIZE)
        if other is not None:
            count += len(packed.lines)
            size += len(packed.lines) * (len(other.tail) + _HEAD_SIZE)
        if (
            count <= self._at_once
            and topic not in self._queues
            and self._quick.take(size, desk.now_ms)
        ):
            if letter is not None:
                spread(desk, letter, written, text=True)
            if other is not None:
                spread(desk, other, packed, text=False)
            return count
        ends_ms = expires_ms(message)
        jobs = [
            Publishing(self._topics, topic, group, connection.account, ends_ms)
            for group in (Group(letter, written, text=True), Group(other, packed, text=False))
            if group.letter is not None
        ]
        return count if self.slices.offer(jobs) else None

    def _broadcast(
        self, job: Broadcasting, targets: Sequence[Registration]
    ) -> tuple[int, int, int] | None:
        """Delivers a broadcast, or lets it wait: how many have it, will get it, will not."""
        desk = self._desk
        is_small = job.count <= desk.settings.sync_broadcast_max and BROADCASTS not in self._queues
        if is_small and self._quick.take(job.count * job.frame_size, desk.now_ms):
            before = desk.ids.number
            job.reach(desk, 0, job.count)
            delivered = desk.ids.number - before
            return delivered, 0, job.count - delivered
        if not self.slices.offer([job]):
            return None
        absent = list(map(_connection, targets)).count(None)
        return 0, job.count - absent, absent

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

    def _published(self, connection: Connection, message: Publish, count: int) -> bytes:
        """Tells the publisher how many get it."""
        desk, topic = self._desk, message.payload.topic
        if not connection.text:
            payload = PublishedPayload(topic=topic, subscriber_count=count)
            return desk.answer(connection, message, Published, payload)
        desk.ids.number += 1
        self._express.at(desk.now_ms)
        to, answers = connection.voice(message)[True], message.id.encode()
        raw = self._express.published(desk.ids.number, to, answers, topic.encode(), count)
        desk.out.append(Send(connection.line, raw, _TEXT))
        return raw

    def _excluded(self, connection: Connection, message: Broadcast) -> Actor | Registration | None:
        """Who is left out: the address that speaks or, for the client itself, all it has."""
        name = connection.name(message)
        return connection.actor if name == connection.address else self._directory.get(name)

    def _has_room(self, connection: Connection, topic: str) -> bool:
        count = len(connection.actor.subscriptions)
        return count < self._desk.settings.max_subscriptions and self._topics.has_room(
            connection.account, topic
        )


def _capability(message: Broadcast) -> str | None:
    metadata = message.metadata
    if metadata is UNSET or metadata.target_capability is UNSET:
        return None
    return metadata.target_capability
