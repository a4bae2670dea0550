"""How much a client may do, and how much leaves."""

from typing import Final

from wireloom.protocols.signalhub.hub.settings import HubSettings
from wireloom.wire.rates import Bucket

_KEPT_FACTOR: Final = 2
"""How many more allowances than connections are kept: enough that a client which comes back
finds its own, few enough that a crowd of names does not fill the memory."""


class Allowance:
    """What one actor may do, whichever connection it uses (R49)."""

    __slots__ = ("broadcasts", "messages", "registrations", "searches")

    def __init__(self, settings: HubSettings) -> None:
        self.messages = Bucket.of(settings.actor_rate)
        self.broadcasts = Bucket.of(settings.broadcast_rate)
        self.registrations = Bucket.of(settings.register_rate)
        self.searches = Bucket.of(settings.discover_rate)


class Allowances:
    """The allowances of those that came last."""

    def __init__(self, settings: HubSettings) -> None:
        self._settings = settings
        self._kept: dict[str, Allowance] = {}

    def of(self, actor: str) -> Allowance:
        """The allowance of an actor that connects: its own, if it was here before."""
        allowance = self._kept.pop(actor, None) or Allowance(self._settings)
        self._kept[actor] = allowance
        if len(self._kept) > _KEPT_FACTOR * self._settings.max_lines:
            del self._kept[next(iter(self._kept))]
        return allowance


class Meter:
    """How many messages leave each second, over the last second or more."""

    __slots__ = ("_began_ms", "_count", "per_second")

    def __init__(self) -> None:
        self.per_second = 0.0
        self._count = 0
        self._began_ms = 0

    def add(self, count: int, now_ms: int) -> None:
        """Counts messages that leave now."""
        passed_ms = now_ms - self._began_ms
        if passed_ms >= 1_000:
            self.per_second = self._count * 1_000 / passed_ms
            self._count, self._began_ms = 0, now_ms
        self._count += count
