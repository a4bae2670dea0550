"""Who wants the messages of which topic."""

from collections.abc import Collection
from hashlib import sha256
from typing import Final

import msgspec

from wireloom.protocols.signalhub.roster import Actor
from wireloom.wire.message import Message
from wireloom.wire.session import Forget, Store

KIND: Final = "subscription"


class Record(Message, frozen=True, kw_only=True):
    """A durable subscription as it is stored."""

    actor: str
    """Whose it is."""

    topic: str
    """To what."""


_write: Final = msgspec.json.Encoder().encode
_read: Final = msgspec.json.Decoder(Record).decode


def subscription_id(actor: str, topic: str) -> str:
    """The name of a subscription: the same for the same actor and topic, in every life."""
    return f"sub-{sha256(f'{topic} {actor}'.encode()).hexdigest()[:32]}"


def store(actor: Actor, topic: str) -> Store:
    """Keeps a durable subscription across a crash."""
    record = Record(actor=actor.address, topic=topic)
    return Store(KIND, subscription_id(actor.address, topic), _write(record))


def forget(name: str) -> Forget:
    """Keeps a subscription no longer."""
    return Forget(KIND, name)


def restored(value: bytes) -> Record | None:
    """A stored subscription; None if it is none."""
    try:
        return _read(value)
    except msgspec.MsgspecError:
        return None


class Topics:
    """All subscriptions."""

    def __init__(self) -> None:
        self.count = 0
        self._by_topic: dict[str, dict[Actor, bool]] = {}

    def subscribers(self, topic: str) -> Collection[Actor]:
        """The actors that want the messages of a topic, connected or not."""
        return self._by_topic.get(topic, ())

    def has(self, actor: Actor, topic: str) -> bool:
        """Whether there is such a subscription."""
        return actor in self._by_topic.get(topic, ())

    def add(self, actor: Actor, topic: str, *, durable: bool) -> bool:
        """Adds a subscription, or changes the one there is; gives whether that one was durable."""
        actors = self._by_topic.setdefault(topic, {})
        before = actors.get(actor)
        actors[actor] = durable
        if before is None:
            self.count += 1
            actor.subscriptions[subscription_id(actor.address, topic)] = topic
        return bool(before)

    def remove(self, actor: Actor, name: str) -> list[Forget]:
        """Ends one subscription; gives what to forget if it was stored."""
        topic = actor.subscriptions.pop(name)
        actors = self._by_topic[topic]
        durable = actors.pop(actor)
        self.count -= 1
        if not actors:
            del self._by_topic[topic]
        return [forget(name)] if durable else []

    def leave(self, actor: Actor) -> None:
        """Ends the subscriptions that do not outlive the connection."""
        for name, topic in list(actor.subscriptions.items()):
            if not self._by_topic[topic][actor]:
                self.remove(actor, name)

    def clear(self, actor: Actor) -> list[Forget]:
        """Ends all subscriptions of an actor; gives what to forget."""
        return [one for name in list(actor.subscriptions) for one in self.remove(actor, name)]
