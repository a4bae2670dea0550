"""What a node counts, and how Prometheus reads it.

Counting is plain arithmetic on dictionaries; names, labels and text are made when somebody asks.
Counters only go up; rates and windows are for the reader to compute.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector, CollectorRegistry

from wireloom.wire.outcome import Outcome, Reason
from wireloom.wire.session import Session

BOUNDS: Final = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.5)
"""Seconds."""

MAX_NAMED: Final = 100
"""Slow consumers that are named; all others are counted together."""


class Histogram:
    """How long things took."""

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS) + 1)
        self.total = 0.0

    def observe(self, seconds: float) -> None:
        """Counts one."""
        self.counts[bisect_left(BOUNDS, seconds)] += 1
        self.total += seconds

    def buckets(self) -> list[tuple[str, float]]:
        """The buckets as Prometheus has them: each holds those before it."""
        sums, so_far = [], 0
        for bound, count in zip((*map(str, BOUNDS), "+Inf"), self.counts, strict=True):
            so_far += count
            sums.append((bound, float(so_far)))
        return sums


class Meters:
    """What one protocol's endpoint counts."""

    def __init__(self) -> None:
        self.received: Counter[tuple[str | None, Outcome, Reason | None]] = Counter()
        self.sent: Counter[Outcome | None] = Counter()
        self.opened = 0
        self.turned_away: Counter[str] = Counter()
        """Connections that were not let in, by why."""

        self.closed: Counter[int] = Counter()
        self.faults = 0
        """Events that a session failed to handle."""

        self.cut: Counter[str] = Counter()
        self.turn = Histogram()
        self.gauges: dict[str, Callable[[], float]] = {}
        """What is read when somebody asks: queue depths by name."""

        self.session: Callable[[], Mapping[str, float]] = dict
        """How much the session keeps, by its own names."""

        self.session_cut: Mapping[str, int] = {}
        """Whom the session has cut for reading too slowly, by name."""

        self.slow: Callable[[], list[tuple[str, int]]] = list
        """Who reads too slowly now, and how many bytes wait for each."""

    def watch(self, session: Session) -> None:
        """Shows a session's own numbers from now on."""
        self.session = session.gauges
        self.session_cut = session.slow

    def count_cut(self, name: str) -> None:
        """Counts a connection that was cut because its peer did not read."""
        self.cut[name if name in self.cut or len(self.cut) < MAX_NAMED else ""] += 1


class NodeMetrics(Collector):
    """All that a node counts.

    Args:
        meters: By protocol.
    """

    def __init__(self, meters: dict[str, Meters]) -> None:
        self._meters = meters
        self.sync = Histogram()
        self.gauges: dict[str, Callable[[], float]] = {}

    def text(self) -> bytes:
        """The page that Prometheus reads."""
        registry = CollectorRegistry(auto_describe=False)
        registry.register(self)
        return generate_latest(registry)

    def collect(self) -> Iterator[Metric]:
        """All metrics as they are now."""
        yield self._frames()
        yield self._sent()
        yield from self._connections()
        yield from self._slow()
        yield from self._depths()
        yield self._turns()
        sync = HistogramMetricFamily(
            "wireloom_store_sync_seconds", "From the first record of a commit to the disk."
        )
        sync.add_metric([], self.sync.buckets(), self.sync.total)
        yield sync

    def _frames(self) -> Metric:
        family = CounterMetricFamily(
            "wireloom_frames_received",
            "Frames that came in, by what became of them.",
            labels=["protocol", "type", "outcome", "reason"],
        )
        for protocol, meters in self._meters.items():
            for (kind, outcome, reason), count in sorted(meters.received.items(), key=repr):
                family.add_metric([protocol, kind or "", outcome, reason or ""], count)
        return family

    def _sent(self) -> Metric:
        family = CounterMetricFamily(
            "wireloom_frames_sent",
            "Frames that left, by what leaving meant for them.",
            labels=["protocol", "outcome"],
        )
        for protocol, meters in self._meters.items():
            for outcome, count in sorted(meters.sent.items(), key=repr):
                family.add_metric([protocol, outcome or ""], count)
        return family

    def _connections(self) -> Iterator[Metric]:
        opened = CounterMetricFamily(
            "wireloom_connections_opened", "Connections that came up.", labels=["protocol"]
        )
        closed = CounterMetricFamily(
            "wireloom_connections_closed", "Connections that ended.", labels=["protocol", "code"]
        )
        turned_away = CounterMetricFamily(
            "wireloom_connections_refused",
            "Connections that were not let in: an HTTP status, or files, strangers, rate.",
            labels=["protocol", "why"],
        )
        faults = CounterMetricFamily(
            "wireloom_faults", "Events that failed inside the node.", labels=["protocol"]
        )
        for protocol, meters in self._meters.items():
            opened.add_metric([protocol], meters.opened)
            for why, count in sorted(meters.turned_away.items()):
                turned_away.add_metric([protocol, why], count)
            for code, count in sorted(meters.closed.items()):
                closed.add_metric([protocol, str(code)], count)
            faults.add_metric([protocol], meters.faults)
        yield opened
        yield turned_away
        yield closed
        yield faults

    def _slow(self) -> Iterator[Metric]:
        waiting = GaugeMetricFamily(
            "wireloom_slow_consumer_bytes",
            "Bytes that wait for a peer that reads too slowly; the worst are named.",
            labels=["protocol", "peer"],
        )
        cut = CounterMetricFamily(
            "wireloom_slow_consumers_cut",
            "Connections that were cut because their peer did not read.",
            labels=["protocol", "peer"],
        )
        for protocol, meters in self._meters.items():
            worst = sorted(meters.slow(), key=lambda one: -one[1])[:MAX_NAMED]
            for peer, size in dict(worst).items():
                waiting.add_metric([protocol, peer], size)
            for peer, count in sorted((meters.cut + Counter(meters.session_cut)).items()):
                cut.add_metric([protocol, peer], count)
        yield waiting
        yield cut

    def _depths(self) -> Iterator[Metric]:
        for name, read in self.gauges.items():
            yield GaugeMetricFamily(f"wireloom_{name}", DEPTHS[name], value=read())
        families: dict[str, GaugeMetricFamily] = {}
        for protocol, meters in self._meters.items():
            for name, read in meters.gauges.items():
                if name not in families:
                    families[name] = GaugeMetricFamily(
                        f"wireloom_{name}", DEPTHS[name], labels=["protocol"]
                    )
                families[name].add_metric([protocol], read())
        yield from families.values()
        kept = GaugeMetricFamily(
            "wireloom_session", "How much a session keeps.", labels=["protocol", "of"]
        )
        for protocol, meters in self._meters.items():
            for name, value in meters.session().items():
                kept.add_metric([protocol, name], value)
        yield kept

    def _turns(self) -> Metric:
        family = HistogramMetricFamily(
            "wireloom_turn_seconds",
            "From a turn's first frame to the write of all that it led to.",
            labels=["protocol"],
        )
        for protocol, meters in self._meters.items():
            family.add_metric([protocol], meters.turn.buckets(), meters.turn.total)
        return family


DEPTHS: Final = {
    "connections": "Connections that are up.",
    "timers": "Timers that are set.",
    "held_commands": "Commands that wait for the store.",
    "computing": "Jobs that other processes compute, or that wait to be computed.",
    "congested_connections": "Connections whose peer reads too slowly.",
    "store_waiting": "Records that wait for the next commit.",
    "store_unreadable": "Records and parts of the store that could not be read at the start.",
    "capture_waiting": "Frames that wait for the capture log.",
    "capture_failing": "1 while the capture log does not take frames.",
    "capture_full": "1 while frames are passed over: the captures have their quota.",
    "capture_passed_over": "Frames that were not captured because the quota was full.",
    "capture_bytes": "Captures of this node that are on disk.",
    "ship_waiting": "Sealed segments that have not arrived where they are shipped to.",
    "ship_failing": "1 while segments are not shipped.",
    "ship_failures": "How often shipping failed since the start.",
    "ship_sent": "Segments that were shipped since the start.",
    "overloaded": "1 while the node does not read.",
    "tasks": "Tasks of the event loop: a few, and one for each page that is asked for.",
}
"""Gauges, and what they tell."""
