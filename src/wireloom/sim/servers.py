"""What all servers have in common when they play a part."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from wireloom.sim.parts import Part, converted
from wireloom.wire.settings import Settings


class Server(Part):
    """A server that listens for streams."""

    IS_NODE = True

    LINK: ClassVar[str]
    """What its clients dial through."""

    SETTINGS: ClassVar[type[Settings]]
    """What its session can be set to."""

    GIVEN: ClassVar[Mapping[str, Any]] = {}
    """Settings that hold unless a scenario says otherwise."""

    BOUNDS: ClassVar[Mapping[str, str]] = {}
    """The gauges that a setting bounds, and which."""

    DRAINED: ClassVar[Sequence[str]] = ()
    """The gauges that are 0 once nothing has gone wrong for a while."""

    @classmethod
    def check(cls, name: str, limits: Mapping[str, Any], error: Callable[[str], Exception]) -> None:
        """Raises an error if these settings cannot be."""
        converted(cls.SETTINGS, name, {**cls.GIVEN, **limits}, error)

    @classmethod
    @abstractmethod
    def url(cls, name: str) -> str:
        """Where clients reach the server of a machine."""

    def settle_in(self) -> None:
        """Listens."""
        self.stage.world.listen(self.machine, self.LINK, self.url(self.name))
        given = {**self.GIVEN, **self.limits}
        self.settings = converted(self.SETTINGS, self.name, given, ValueError)

    def bounds(self) -> Mapping[str, int]:
        """What gauges may reach."""
        return {gauge: getattr(self.settings, name) for gauge, name in self.BOUNDS.items()}

    def drained(self) -> Sequence[str]:
        """The gauges that are 0 once nothing has gone wrong for a while."""
        return self.DRAINED
