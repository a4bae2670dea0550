"""Messages to many: to the subscribers of a topic, or to all registered actors."""

from collections.abc import Sequence
from operator import attrgetter
from typing import Final

from msgspec import UNSET

from wireloom.protocols.signalhub.constants import QUICK_PAUSE_MS, Detail
from wireloom.protocols.signalhub.hub.answers import RESERVED, Answers
from wireloom.protocols.signalhub.hub.connections import Actor, Client, Clients
from wireloom.protocols.signalhub.hub.directory import Directory, Registration
from wireloom.protocols.signalhub.hub.outgoing import Forwarding, Outgoing, is_reserved
from wireloom.protocols.signalhub.hub.settings import HubSettings
from wireloom.protocols.signalhub.hub.slices import (
    BROADCASTS,
    Broadcasting,
    Group,
    Publishing,
    Slices,
    Subscribers,
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
from wireloom.wire.rates import Bucket
from wireloom.wire.session import Conclude, Send, Turn

_client: Final = attrgetter("owner.client")
_TEXT: Final = True
_HEAD_SIZE: Final = 128
"""Bytes of a frame for one of many before its sender, and of an address of the usual length."""


class Fanout:
    """Topics and broadcasts.

    Args:
        settings: The hub's.
        answers: What answers senders.
        outgoing: What writes frames.
        clients: Who is connected.
        directory: Who is registered.
        topics: Who has subscribed.
    """

    def __init__(
        self,
        settings: HubSettings,
        answers: Answers,
        outgoing: Outgoing,
        clients: Clients,
        directory: Directory,
        topics: Topics,
    ) -> None:
        self._settings = settings
        self._answers = answers
        self._outgoing = outgoing
        self._clients = clients
        self._directory = directory
        self._topics = topics
        self.slices = Slices(settings, outgoing)
        self._queues = self.slices.queues
        self._at_once = settings.slice_count
        self._quick = Bucket(settings.slice_size, QUICK_PAUSE_MS)
        """For what leaves at once."""

    def handle_subscribe(self, turn: Turn, client: Client, message: Subscribe) -> Conclude:
        """Adds a subscription; the same one again changes nothing but its durability."""
        actor, topic = client.actor, message.payload.topic
        if not self._topics.has(actor, topic) and not self._has_room(client, topic):
            text = "No more subscriptions are taken"
            return self._answers.full(turn, client, message, text, Detail.LIMIT_REACHED)
        durable = message.payload.durable is True
        name = subscription_id(actor.address, topic)
        was_durable = self._topics.add(actor, topic, client.account, durable=durable)
        if durable and not was_durable:
            turn.commands.append(store(actor, topic, client.account))
        elif was_durable and not durable:
            turn.commands.append(forget(name))
        payload = SubscribedPayload(topic=topic, subscription_id=name)
        raw = self._answers.answer(turn, client, message, Subscribed, payload)
        return self._answers.done(client, message, raw)

    def handle_unsubscribe(self, turn: Turn, client: Client, message: Unsubscribe) -> Conclude:
        """Ends a subscription; one that is not the client's own is passed over (R13)."""
        actor, name = client.actor, message.payload.subscription_id
        if name in actor.subscriptions:
            turn.commands.extend(self._topics.remove(actor, name))
        return self._answers.done(client, message)

    def handle_publish(self, turn: Turn, client: Client, message: Publish) -> Conclude:
        """Passes a message on to all subscribers of a topic that can take it."""
        topic = message.payload.topic
        if is_reserved(message.payload.message):
            return self._answers.forbid(turn, client, message, "publish", RESERVED)
        count: int | None = 0
        if self._topics.subscribers(topic):
            notes = {"publication": True, "topic": topic}
            forwarding = self._outgoing.to_many(turn, client.name(message), message, notes)
            count = self._publish(turn, client, message, forwarding)
        if count is None:
            text = "Too many messages to many are under way"
            return self._answers.full(turn, client, message, text, Detail.QUEUE_FULL)
        raw = self._published(turn, client, message, count)
        self._answers.remember(client, message, raw)
        return client.forwarded

    def handle_broadcast(self, turn: Turn, client: Client, message: Broadcast) -> Conclude:
        """Passes a message on to all actors that it is meant for: at once, or in slices (R7)."""
        if is_reserved(message.payload.message):
            return self._answers.forbid(turn, client, message, "broadcast", RESERVED)
        slowed = self._answers.check_rate(turn, client, message, client.allowance.broadcasts)
        if slowed:
            return slowed
        targets = self._directory.selected(_capability(message))
        if message.payload.exclude_self is True:
            without = self._excluded(client, message)
            targets = [one for one in targets if one.owner is not without and one is not without]
        notes = {"broadcast": True}
        forwarding = self._outgoing.to_many(turn, client.name(message), message, notes)
        job = Broadcasting(forwarding, targets, client.account, expires_ms(message))
        counts = self._broadcast(turn, job, targets)
        if counts is None:
            text = "Too many messages to many are under way"
            return self._answers.full(turn, client, message, text, Detail.QUEUE_FULL)
        return self._acknowledge(turn, client, message, counts)

    def _publish(
        self, turn: Turn, client: Client, message: Publish, forwarding: Forwarding
    ) -> int | None:
        """Passes a publication on; gives how many get it, None if there is no room for it.

        Nothing overtakes an earlier publication of the same topic that is under way.
        """
        topic = message.payload.topic
        packed, plain = self._topics.audiences(topic)
        as_json = forwarding.template(text=True) if plain.lines else None
        as_msgpack = forwarding.template(text=False) if packed.lines else None
        count = size = 0
        if as_json is not None:
            count = len(plain.lines)
            size = count * (len(as_json.tail) + _HEAD_SIZE)
        if as_msgpack is not None:
            count += len(packed.lines)
            size += len(packed.lines) * (len(as_msgpack.tail) + _HEAD_SIZE)
        if not count:
            return 0
        if (
            count <= self._at_once
            and topic not in self._queues
            and not self._quick.take(turn.now_ms, size)
        ):
            if as_json is not None:
                spread(turn, self._outgoing, as_json, plain, text=True)
            if as_msgpack is not None:
                spread(turn, self._outgoing, as_msgpack, packed, text=False)
            return count
        groups = (Group(as_json, plain, text=True), Group(as_msgpack, packed, text=False))
        return count if self._publish_in_slices(turn, client, message, groups) else None

    def _publish_in_slices(
        self, turn: Turn, client: Client, message: Publish, groups: Sequence[Group]
    ) -> bool:
        """Lets a publication leave bit by bit; gives whether there is room for it."""
        audience = Subscribers(self._clients, self._topics, message.payload.topic)
        ends_ms = expires_ms(message)
        jobs = [
            Publishing(audience, group, client.account, ends_ms)
            for group in groups
            if group.template is not None
        ]
        return self.slices.offer(turn, jobs)

    def _broadcast(
        self, turn: Turn, job: Broadcasting, targets: Sequence[Registration]
    ) -> tuple[int, int, int] | None:
        """Delivers a broadcast, or lets it wait: how many have it, will get it, will not."""
        is_small = job.count <= self._settings.sync_broadcast_max and BROADCASTS not in self._queues
        if is_small and not self._quick.take(turn.now_ms, job.count * job.frame_size):
            before = turn.ids.number
            job.reach(turn, self._outgoing, 0, job.count)
            delivered = turn.ids.number - before
            return delivered, 0, job.count - delivered
        if not self.slices.offer(turn, [job]):
            return None
        absent = list(map(_client, targets)).count(None)
        return 0, job.count - absent, absent

    def _acknowledge(
        self, turn: Turn, client: Client, message: Broadcast, counts: tuple[int, int, int]
    ) -> Conclude:
        delivered, queued, failed = counts
        payload = BroadcastAckPayload(
            message_id=message.id,
            delivered_count=delivered,
            queued_count=queued,
            failed_count=failed,
        )
        raw = self._answers.answer(turn, client, message, BroadcastAck, payload)
        self._answers.done(client, message, raw)
        return client.forwarded

    def _published(self, turn: Turn, client: Client, message: Publish, count: int) -> bytes:
        """Tells the publisher how many get it."""
        if not client.text:
            payload = PublishedPayload(topic=message.payload.topic, subscriber_count=count)
            return self._answers.answer(turn, client, message, Published, payload)
        raw = self._outgoing.published(turn, client.wire_name(message)[_TEXT], message, count)
        turn.commands.append(Send(client.line, raw, _TEXT))
        return raw

    def _excluded(self, client: Client, message: Broadcast) -> Actor | Registration | None:
        """Who is left out: the address that speaks or, for the client itself, all it has."""
        name = client.name(message)
        return client.actor if name == client.address else self._directory.get(name)

    def _has_room(self, client: Client, topic: str) -> bool:
        count = len(client.actor.subscriptions)
        return count < self._settings.max_subscriptions and self._topics.has_room(
            client.account, topic
        )


def _capability(message: Broadcast) -> str | None:
    metadata = message.metadata
    if metadata is UNSET or metadata.target_capability is UNSET:
        return None
    return metadata.target_capability
