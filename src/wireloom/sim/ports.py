"""Datagrams of a simulated machine: who sends from one address is one connection."""

from typing import TYPE_CHECKING, Final, Protocol

from wireloom.performing.world import NS_PER_MS
from wireloom.sim.agenda import Call
from wireloom.sim.ends import End
from wireloom.sim.network import Named, Network
from wireloom.wire.session import Dial, Swarm

if TYPE_CHECKING:
    from wireloom.sim.machine import Machine

GONE: Final = 1001
MAX_SILENCE_NS: Final = 60_000 * NS_PER_MS
"""A peer that was silent for so long is gone, as on sockets."""

Place = tuple[str, str]
"""A link, and an address on it."""


class Ground(Protocol):
    """What a port needs of its world."""

    network: Network

    @property
    def now_ns(self) -> int:
        """What time it is, whatever a machine's clock says."""
        ...

    def later(self, at_ns: int, call: Call, /, *args: object) -> None:
        """Has something happen at a time, after all that happens then already."""
        ...

    def port(self, place: Place, /) -> "Port | None":
        """What takes datagrams at an address."""
        ...


class DatagramEnd(End):
    """A machine's end of what it says to one address.

    Args:
        port: Where its datagrams come from and go to.
        address: The peer's address.
    """

    def __init__(self, port: "Port", address: str) -> None:
        super().__init__(port.machine, port.link, address)
        self.swarm = port.swarm
        self._port = port
        self.heard_ns = port.world.now_ns
        """When the last datagram came."""

    def flush(self, network: Network, now_ns: int) -> None:
        """Sends all that was put, a datagram each."""
        out, self.out = self.out, []
        far = self._port.world.port((self.link, self.peer))
        if far is None:
            for _ in out:
                network.lose()
            return
        path = self.path
        if path is None or path.far is not far.machine:
            near: Named = self._port.machine
            path = self.path = network.path(near, far.machine)
        for raw, _ in out:
            network.datagram(path, raw, far.arrive, self._port.address, now_ns)

    def part(self, network: Network, code: int, reason: str) -> None:
        """Forgets the peer; there is no way to tell it."""
        del network, code, reason
        self._port.forget(self)


class Port:
    """Where a machine takes datagrams.

    Args:
        machine: Whose it is.
        link: The link's name.
        address: Where others send to.
        world: Where it is.
        swarm: What it is a link of, if frames do not say that.
    """

    def __init__(
        self,
        machine: "Machine",
        link: str,
        address: str,
        world: Ground,
        swarm: Swarm | None = None,
    ) -> None:
        self.machine = machine
        self.link = link
        self.address = address
        self.world = world
        self.swarm = swarm
        self._peers: dict[str, DatagramEnd] = {}
        self._is_watching = False

    def dial(self, dial: Dial) -> None:
        """Makes the connection to a peer, whether or not anybody is there."""
        if dial.address in self._peers:
            self.machine.fail(dial, "the peer is connected already")
        else:
            self._open(dial.address, dial)

    def arrive(self, raw: bytes, sender: str, sent_ns: int) -> None:
        """A datagram arrives; if nothing runs here, it is lost."""
        if not self.machine.is_up:
            self.world.network.lose()
        elif not self.machine.defers(self.arrive, raw, sender, sent_ns):
            end = self._peers.get(sender) or self._open(sender, None)
            end.heard_ns = self.world.now_ns
            end.sent_ns = sent_ns
            self.machine.received(end, raw, False)  # noqa: FBT003

    def forget(self, end: DatagramEnd) -> None:
        """A peer is not known any more."""
        if self._peers.get(end.peer) is end:
            del self._peers[end.peer]

    def _open(self, address: str, dial: Dial | None) -> DatagramEnd:
        end = self._peers[address] = DatagramEnd(self, address)
        end.dial = dial
        if not self.machine.open(end):
            self.forget(end)
        self._watch()
        return end

    def _watch(self) -> None:
        """Looks again when the peer that was silent for longest may be gone."""
        if self._peers and not self._is_watching:
            self._is_watching = True
            oldest_ns = min(end.heard_ns for end in self._peers.values())
            self.world.later(oldest_ns + MAX_SILENCE_NS, self._check)

    def _check(self) -> None:
        self._is_watching = False
        for end in tuple(self._peers.values()):
            if self.world.now_ns - end.heard_ns >= MAX_SILENCE_NS:
                self.forget(end)
                self.machine.lost(end, GONE, "")
        self._watch()
