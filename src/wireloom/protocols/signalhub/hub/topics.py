"""Who wants the messages of which topic."""

from collections.abc import Collection
from hashlib import sha256
from typing import Final, NamedTuple

import msgspec

from wireloom.protocols.signalhub.constants import MAX_TOPIC_SIZE
from wireloom.protocols.signalhub.hub.connections import Actor, State
from wireloom.wire.message import Message
from wireloom.wire.session import Forget, Line, Store
from wireloom.wire.shares import Shares

KIND: Final = "subscription"
_CONNECTED: Final = State.CONNECTED
"""Named once: the interpreter looks up a member of an enum slowly."""

_SUBSCRIPTION_SIZE: Final = 768
"""Bytes that a subscription takes beside its topic, which may be one that nobody else wants."""


class StoredSubscription(Message, frozen=True, kw_only=True):
    """A durable subscription as it is stored."""

    actor: str
    """Whose it is."""

    topic: str
    """To what."""

    account: str = ""
    """Whose share it takes; empty in a record of an earlier version."""


_write: Final = msgspec.json.Encoder().encode
_read: Final = msgspec.json.Decoder(StoredSubscription).decode


def subscription_id(actor: str, topic: str) -> str:
    """The name of a subscription: the same for the same actor and topic, in every life."""
    return f"sub-{sha256(f'{topic} {actor}'.encode()).hexdigest()[:32]}"


def store(actor: Actor, topic: str, account: str) -> Store:
    """Keeps a durable subscription across a crash."""
    record = StoredSubscription(actor=actor.address, topic=topic, account=account)
    return Store(KIND, subscription_id(actor.address, topic), _write(record))


def forget(name: str) -> Forget:
    """Keeps a subscription no longer."""
    return Forget(KIND, name)


def restored(value: bytes) -> StoredSubscription | None:
    """A stored subscription; None if it is none."""
    try:
        return _read(value)
    except (msgspec.MsgspecError, UnicodeError):
        return None


class Audience(NamedTuple):
    """Subscribers of a topic who can take a message now and speak one encoding."""

    lines: list[Line]
    addresses: list[bytes]
    """As the encoding writes them, in the order of the lines."""


class Subscription(NamedTuple):
    """What is known of one."""

    durable: bool
    account: str
    """Whose share it takes."""


def weight(topic: str) -> int:
    """Bytes that a subscription takes in memory."""
    return _SUBSCRIPTION_SIZE + len(topic)


class Topics:
    """All subscriptions.

    Who gets a publication is found out once, and again after `refresh` or a change of the
    topic's subscriptions: between two of these the lists in an `Audience` stay the same objects.

    Args:
        max_count: How many there may be.
    """

    def __init__(self, max_count: int) -> None:
        self.shares = Shares(max_count, max_count * weight("x" * MAX_TOPIC_SIZE))
        self._by_topic: dict[str, dict[Actor, Subscription]] = {}
        self._audiences: dict[str, tuple[Audience, Audience]] = {}

    def subscribers(self, topic: str) -> Collection[Actor]:
        """The actors that want the messages of a topic, connected or not."""
        return self._by_topic.get(topic, ())

    def audiences(self, topic: str) -> tuple[Audience, Audience]:
        """Who can get a publication now: packed at 0, as JSON at 1."""
        found = self._audiences.get(topic)
        if found is None:
            found = Audience([], []), Audience([], [])
            for actor in self.subscribers(topic):
                there = actor.client
                if there is not None and there.state is _CONNECTED:
                    lines, addresses = found[there.text]
                    lines.append(there.line)
                    addresses.append(there.to)
            if found[0].lines or found[1].lines:
                self._audiences[topic] = found
        return found

    def refresh(self, actor: Actor) -> None:
        """Has it found out anew whether an actor can take messages."""
        for topic in actor.subscriptions.values():
            self._audiences.pop(topic, None)

    def has(self, actor: Actor, topic: str) -> bool:
        """Whether there is such a subscription."""
        return actor in self._by_topic.get(topic, ())

    def has_room(self, account: str, topic: str) -> bool:
        """Whether an account may have one more (R52)."""
        return self.shares.fits(account, 1, weight(topic))

    def add(self, actor: Actor, topic: str, account: str, *, durable: bool) -> bool:
        """Adds a subscription, or changes the one there is; gives whether that one was durable."""
        self._audiences.pop(topic, None)
        actors = self._by_topic.setdefault(topic, {})
        before = actors.get(actor)
        if before is None:
            self.shares.add(account, 1, weight(topic))
            actors[actor] = Subscription(durable, account)
            actor.subscriptions[subscription_id(actor.address, topic)] = topic
            return False
        actors[actor] = before._replace(durable=durable)
        return before.durable

    def remove(self, actor: Actor, name: str) -> list[Forget]:
        """Ends one subscription; gives what to forget if it was stored."""
        topic = actor.subscriptions.pop(name)
        self._audiences.pop(topic, None)
        actors = self._by_topic[topic]
        ended = actors.pop(actor)
        self.shares.remove(ended.account, 1, weight(topic))
        if not actors:
            del self._by_topic[topic]
        return [forget(name)] if ended.durable else []

    def leave(self, actor: Actor) -> None:
        """Ends the subscriptions that do not outlive the connection."""
        for name, topic in list(actor.subscriptions.items()):
            if not self._by_topic[topic][actor].durable:
                self.remove(actor, name)

    def clear(self, actor: Actor) -> list[Forget]:
        """Ends all subscriptions of an actor; gives what to forget."""
        return [one for name in list(actor.subscriptions) for one in self.remove(actor, name)]
