"""What Prometheus reads."""

from prometheus_client.parser import text_string_to_metric_families

from live.parts import EchoSession
from wireloom.live.metrics import BOUNDS, DEPTHS, MAX_NAMED, Histogram, Meters, NodeMetrics
from wireloom.wire.outcome import Outcome, Reason


def samples(metrics: NodeMetrics) -> dict[tuple[str, tuple[str, ...]], float]:
    families = text_string_to_metric_families(metrics.text().decode())
    return {
        (sample.name, tuple(sorted(sample.labels.values()))): sample.value
        for family in families
        for sample in family.samples
    }


def test_everything_that_is_counted_is_shown() -> None:
    meters = Meters()
    meters.received[None, Outcome.REJECTED, Reason.MALFORMED] += 2
    meters.received["hub:send", Outcome.FORWARDED, None] += 3
    meters.sent[Outcome.DELIVERED] += 4
    meters.sent[None] += 1
    meters.opened = 5
    meters.closed[1006] += 1
    meters.faults = 6
    meters.slow = lambda: [("@(a/b)", 10), ("@(c/d)", 20)]
    meters.session = lambda: {"queued": 7}
    meters.session_cut = {"@(a/b)": 1}
    meters.count_cut("@(a/b)")
    meters.gauges = dict.fromkeys(list(DEPTHS)[:4], lambda: 8)
    meters.turn.observe(0.002)
    metrics = NodeMetrics({"signalhub": meters, "cthun": Meters()})
    metrics.gauges = {"overloaded": lambda: 1}
    metrics.sync.observe(0.3)
    found = samples(metrics)

    def shown(name: str, *labels: str) -> float:
        return found[name, tuple(sorted(labels))]

    name = "wireloom_frames_received_total"
    assert shown(name, "signalhub", "", "rejected", "malformed") == 2
    assert shown(name, "signalhub", "hub:send", "forwarded", "") == 3
    assert shown("wireloom_frames_sent_total", "signalhub", "delivered") == 4
    assert shown("wireloom_frames_sent_total", "signalhub", "") == 1
    assert shown("wireloom_connections_opened_total", "signalhub") == 5
    assert shown("wireloom_connections_opened_total", "cthun") == 0
    assert shown("wireloom_connections_closed_total", "signalhub", "1006") == 1
    assert shown("wireloom_faults_total", "signalhub") == 6
    assert shown("wireloom_slow_consumer_bytes", "signalhub", "@(c/d)") == 20
    assert shown("wireloom_slow_consumers_cut_total", "signalhub", "@(a/b)") == 2
    assert shown("wireloom_session", "signalhub", "queued") == 7
    assert shown("wireloom_connections", "signalhub") == 8
    assert shown("wireloom_overloaded") == 1
    assert shown("wireloom_turn_seconds_bucket", "signalhub", "0.001") == 0
    assert shown("wireloom_turn_seconds_bucket", "signalhub", "0.0025") == 1
    assert shown("wireloom_turn_seconds_count", "signalhub") == 1
    assert shown("wireloom_store_sync_seconds_sum") == 0.3


def test_a_histogram_holds_everything_up_to_each_bound() -> None:
    histogram = Histogram()
    for seconds in (0.0, BOUNDS[0], BOUNDS[1], 100.0):
        histogram.observe(seconds)
    buckets = histogram.buckets()
    assert buckets[0] == (str(BOUNDS[0]), 2.0)
    assert buckets[1][1] == 3.0
    assert buckets[-1] == ("+Inf", 4.0)


def test_the_names_of_those_who_were_cut_are_bounded() -> None:
    meters = Meters()
    for number in range(MAX_NAMED + 50):
        meters.count_cut(f"peer {number}")
    meters.count_cut("peer 3")
    assert len(meters.cut) == MAX_NAMED + 1
    assert meters.cut[""] == 50
    assert meters.cut["peer 3"] == 2


def test_a_session_shows_its_own_numbers() -> None:
    class Counting(EchoSession):
        def __init__(self) -> None:
            super().__init__()
            self.slow = {"a": 1}

        def gauges(self) -> dict[str, float]:
            return {"queued": 3}

    meters = Meters()
    meters.watch(Counting())
    assert meters.session() == {"queued": 3}
    assert meters.session_cut == {"a": 1}
