"""A peer of UEP-12 swarms: events in, commands out.

Each swarm has a link of its own, a flow, and peers; what is said in one means nothing in another.
All that happens in a swarm is in `swarm`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from wireloom.protocols.uep12.integrity import msg_hash
from wireloom.protocols.uep12.peer.compose import POST_TASK
from wireloom.protocols.uep12.peer.confirm import CONFIRM_TIMER
from wireloom.protocols.uep12.peer.peers import State
from wireloom.protocols.uep12.peer.pulls import PULLS_TIMER
from wireloom.protocols.uep12.peer.records import forgotten, found
from wireloom.protocols.uep12.peer.requests import Confirm, Post, Refused, Withdraw
from wireloom.protocols.uep12.peer.settings import PeerSettings
from wireloom.protocols.uep12.peer.swarm import PURGE_TIMER, Swarm
from wireloom.protocols.uep12.peer.sync import PEER_TIMER, tickets
from wireloom.wire.ids import Ids
from wireloom.wire.outcome import Outcome, Reason
from wireloom.wire.session import (
    Close,
    Closed,
    Computed,
    Conclude,
    Deliver,
    Dial,
    DialFailed,
    Event,
    FrameReceived,
    FrameRefused,
    Line,
    Opened,
    Requested,
    Stopping,
    Store,
    TimerFired,
    Turn,
    WakeAt,
)

DIAL_TIMER: Final = "dial"
GOING_AWAY: Final = 1001
SHOWN_PEERS: Final = 100
"""Peers that the gauges name."""

_UNKNOWN: Final = Conclude(Outcome.REJECTED, Reason.UNAUTHENTICATED)
_TOO_LARGE: Final = Conclude(Outcome.REJECTED, Reason.TOO_LARGE)


class PeerSession:
    """One peer of all its swarms.

    Args:
        settings: What the operator has set.
        ids: What makes the numbers that its tickets and nonces begin with.
    """

    def __init__(self, settings: PeerSettings, ids: Ids) -> None:
        self.ids = ids
        self.slow: Mapping[str, int] = {}
        """Nobody is cut off: what is not read in time is lost, as datagrams are."""
        self._settings = settings
        ticket = tickets(settings.secret, ids)
        self._swarms = {one.link: Swarm(settings, one, ticket) for one in settings.memberships}
        self._named = {one.membership.name: one for one in self._swarms.values()}
        self._lines: dict[Line, Swarm] = {}
        self._unreadable_count = 0
        self._stopping = False
        self._handlers: dict[type[Event], Callable[[Turn, Any], None]] = {
            Opened: self._on_opened,
            DialFailed: self._on_dial_failed,
            Closed: self._on_closed,
            TimerFired: self._on_timer,
            Requested: self._on_requested,
            Computed: self._on_computed,
            Stopping: self._on_stopping,
        }

    @property
    def swarms(self) -> Mapping[str, Swarm]:
        """The swarms by name."""
        return self._named

    def gauges(self) -> dict[str, float]:
        """How much of everything there is now, by swarm."""
        gauges: dict[str, float] = {"unreadable_records": self._unreadable_count}
        for name, swarm in self._named.items():
            gauges |= {f"{name}.{what}": value for what, value in _numbers(swarm)}
        return gauges

    def restore(self, records: Iterable[Store], turn: Turn) -> None:
        """Takes up what an earlier life stored, and reaches out to the peers that are named."""
        kept = found(records)
        turn.commands += kept.commands
        self._unreadable_count = kept.unreadable_count
        for name, swarm in self._named.items():
            swarm.restore(turn, kept.messages.pop(name, []))
            for address in swarm.membership.peers:
                turn.commands.append(Dial(swarm.membership.link, address))
        for name, messages in kept.messages.items():  # of swarms that it is no peer of any more
            hashes = [msg_hash(one.raw) for _, one in messages]
            turn.commands += [forgotten(name, one) for one in hashes]

    def handle(self, event: Event, turn: Turn) -> None:
        """Appends what is to be done about an event."""
        if type(event) is FrameReceived:
            swarm = self._lines.get(event.line)
            peer = None if swarm is None else swarm.peers.get(event.line)
            if swarm is None or peer is None:
                turn.commands.append(_UNKNOWN)
            else:
                turn.commands.append(swarm.receive(turn, peer, event.raw))
        elif type(event) is FrameRefused:
            turn.commands.append(_TOO_LARGE)
        else:
            handler = self._handlers.get(type(event))
            if handler is not None:
                handler(turn, event)

    def _on_opened(self, turn: Turn, event: Opened) -> None:
        swarm = self._swarms.get(event.link)
        if swarm is None or self._stopping:
            turn.commands.append(Close(event.line, GOING_AWAY, "no swarm"))
            return
        self._lines[event.line] = swarm
        peer = swarm.peers.add(event, turn.now_ms)
        spare = swarm.peers.spare()
        if spare is not None:
            self._lose(turn, spare.line)
            turn.commands.append(Close(spare.line, GOING_AWAY, "no room"))
        if peer.dial is not None and peer.state is State.STRANGER:
            swarm.sync.meet(turn, peer)
        elif peer.state is State.SHUNNED:
            due_ms = turn.now_ms + self._settings.shun_ms
            turn.commands.append(WakeAt((PEER_TIMER, peer.line), due_ms))

    def _on_closed(self, turn: Turn, event: Closed) -> None:
        self._lose(turn, event.line)

    def _lose(self, turn: Turn, line: Line) -> None:
        """A connection ends; a peer that is named is tried again later."""
        swarm = self._lines.pop(line, None)
        peer = None if swarm is None else swarm.lose(line)
        if peer is None:
            return
        turn.commands.append(WakeAt((PEER_TIMER, line), None))
        if peer.dial is not None:
            self._dial_later(turn, peer.dial)

    def _on_dial_failed(self, turn: Turn, event: DialFailed) -> None:
        self._dial_later(turn, event.dial)

    def _dial_later(self, turn: Turn, dial: Dial) -> None:
        if not self._stopping:
            due_ms = turn.now_ms + self._settings.refresh_ms
            turn.commands.append(WakeAt((DIAL_TIMER, dial.link, dial.address), due_ms))

    def _on_timer(self, turn: Turn, event: TimerFired) -> None:
        match event.timer:
            case (str(kind), int(line)) if kind == PEER_TIMER:
                self._on_peer_timer(turn, line)
            case (str(kind), str(link), str(address)) if kind == DIAL_TIMER:
                turn.commands.append(Dial(link, address))
            case (str(kind), str(link)) if kind == PULLS_TIMER:
                self._swarms[link].pulls.retry(turn)
            case (str(kind), str(link)) if kind == PURGE_TIMER:
                self._swarms[link].purge(turn)
            case (str(kind), str(link)) if kind == CONFIRM_TIMER:
                self._swarms[link].confirmations.ask(turn)

    def _on_peer_timer(self, turn: Turn, line: Line) -> None:
        swarm = self._lines.get(line)
        peer = None if swarm is None else swarm.peers.get(line)
        if swarm is not None and peer is not None:
            swarm.fire(turn, peer)

    def _on_requested(self, turn: Turn, event: Requested) -> None:
        match event.request:
            case Post() as post:
                swarm = self._called(post.swarm)
                if swarm is None:
                    turn.commands.append(Deliver(Refused(post.id, "there is no such swarm")))
                else:
                    swarm.composer.begin(turn, post)
            case Withdraw(post_id):
                for swarm in self._named.values():
                    swarm.composer.withdraw(turn, post_id)
            case Confirm() as confirm:
                swarm = self._called(confirm.swarm)
                if swarm is not None:
                    swarm.confirmations.begin(turn, confirm.msg_hash)

    def _called(self, name: str) -> Swarm | None:
        """The swarm of a name; the first one, if it is empty."""
        return self._named.get(name) if name else next(iter(self._named.values()), None)

    def _on_computed(self, turn: Turn, event: Computed) -> None:
        match event.task, event.result:
            case (str(kind), str(link), str(post_id)), int(nonce) if kind == POST_TASK:
                self._swarms[link].post(turn, post_id, nonce)

    def _on_stopping(self, turn: Turn, event: Stopping) -> None:
        del turn, event
        self._stopping = True


def _numbers(swarm: Swarm) -> Iterator[tuple[str, float]]:
    """The numbers of one swarm."""
    yield "total", len(swarm.flow)
    yield "unreferred", len(swarm.flow.heads)
    yield "missing", swarm.pulls.missing_count
    yield "irretrievable", swarm.pulls.irretrievable_count
    yield "synced", swarm.sync.is_synced
    yield "stored_bytes", swarm.flow.size
    yield "peers", len(swarm.peers)
    yield "proven_peers", len(swarm.peers.proven)
    yield "shunned", swarm.peers.shunned_count
    yield "posting", len(swarm.composer)
    shown = sorted(swarm.peers.everyone, key=lambda peer: peer.state is not State.PROVEN)
    for peer in shown[:SHOWN_PEERS]:
        yield f"peer {peer.address}", peer.state is State.PROVEN
