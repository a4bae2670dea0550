"""The system's clock."""

from time import perf_counter, time_ns


class SystemClock:
    """The time of day, and how long things take."""

    now_ns = staticmethod(time_ns)
    elapsed = staticmethod(perf_counter)
