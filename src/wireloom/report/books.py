"""The books: for every protocol and node, the messages by their final state."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from wireloom.wire.outcome import Fate

if TYPE_CHECKING:
    from wireloom.lake import Lake  # imports DuckDB

STATES: Final = (
    Fate.DELIVERED,
    Fate.EXPIRED,
    Fate.REJECTED,
    Fate.CANCELLED,
    Fate.IN_FLIGHT,
    Fate.LOST,
)
"""In the order in which every page and table has them."""

OUTCOMES: Final = (
    "accepted",
    "delivered",
    "forwarded",
    "queued",
    "acked",
    "duplicate",
    "expired",
    "cancelled",
    "rejected",
)

TIMES: Final = ("p50_ms", "p90_ms", "p99_ms")

MAX_REASONS: Final = 15
"""How many reasons a person is shown at first."""

MINUTE: Final = 60
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR
SPANS: Final = {HOUR: MINUTE, 3 * HOUR: 5 * MINUTE, 72 * HOUR: HOUR, 18 * DAY: 6 * HOUR}
"""The length of a part, by the length of the span: hours, unless these are too few or too many."""

MAX_PARTS: Final = 72
NEEDED: Final = (
    "frames",
    "quarantine",
    "fates",
    "messages",
    "disagreements",
    "swarms",
    "ledger",
    "hub_asks",
)


def gather(lake: "Lake") -> dict[str, Any]:
    """Everything that a report shows, as one object.

    Raises:
        LakeError: If a table is missing or cannot be read.
    """
    lake.require(*NEEDED)
    return {
        "captured": captured(lake),
        "books": books(lake),
        "hours": hours(lake),
        "nodes": nodes(lake),
        "latency": latency(lake),
        "reasons": reasons(lake),
        "types": types(lake),
        "health": health(lake),
        "disagreements": _one(lake, "SELECT count(*) AS n FROM disagreements"),
        "conflicts": _one(lake, "SELECT count(*) AS n FROM messages WHERE conflict"),
    }


def captured(lake: "Lake") -> dict[str, Any]:
    """How many frames there are, and from when to when."""
    (found,) = lake.rows(
        """SELECT count(*) FILTER (good) AS frames, count(*) FILTER (NOT good) AS quarantine,
                  count(*) AS captured, min(captured_at) AS first_at, max(captured_at) AS horizon
           FROM (SELECT true AS good, captured_at FROM frames
                 UNION ALL SELECT false, captured_at FROM quarantine)"""
    )
    return found


def books(lake: "Lake") -> dict[str, dict[str, Any]]:
    """Messages of every protocol, and how many of them have which state."""
    counts = ", ".join(f"count(*) FILTER (state = '{one}') AS {one}" for one in STATES)
    sql = f"SELECT protocol, count(*) AS sent, {counts} FROM fates GROUP BY 1 ORDER BY 1"  # noqa: S608
    return {str(row.pop("protocol")): row for row in lake.rows(sql)}


def hours(lake: "Lake") -> dict[str, Any]:
    """Messages by their state and the hour of their first sighting, or what suits their span."""
    (span,) = lake.rows(
        """SELECT CAST(floor(epoch(min(sent_at))) AS BIGINT) AS first,
                  CAST(floor(epoch(max(sent_at))) AS BIGINT) AS last FROM fates"""
    )
    if span["first"] is None:
        return {"step_s": HOUR, "rows": []}
    step = step_of(int(str(span["last"])) - int(str(span["first"])))
    counts = ", ".join(f"count(*) FILTER (state = '{one}') AS {one}" for one in STATES)
    rows = lake.rows(
        f"""SELECT protocol, CAST(floor(epoch(sent_at) / {step}) AS BIGINT) * {step} AS at,
                  count(*) AS sent, {counts}
           FROM fates WHERE sent_at IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 2"""  # noqa: S608
    )
    for row in rows:
        row["at"] = datetime.fromtimestamp(int(str(row["at"])), UTC)
    return {"step_s": step, "rows": rows}


def step_of(span_s: int) -> int:
    """How many seconds one part of a span has."""
    found = next((step for longest, step in SPANS.items() if span_s <= longest), None)
    return found or DAY * max(1, -(-span_s // (DAY * MAX_PARTS)))


def nodes(lake: "Lake") -> list[dict[str, Any]]:
    """Frames in of every node by its own outcomes."""
    counts = ", ".join(f"count(*) FILTER (outcome = '{one}') AS {one}" for one in OUTCOMES)
    return lake.rows(
        f"""SELECT node, protocol, count(*) AS frames_in, {counts},
                  count(*) FILTER (outcome IS NULL) AS unsaid
           FROM (SELECT node, protocol, direction, outcome FROM frames
                 UNION ALL SELECT node, protocol, direction, outcome FROM quarantine)
           WHERE direction = 'in' GROUP BY ALL ORDER BY protocol, node"""  # noqa: S608
    )


def latency(lake: "Lake") -> dict[str, dict[str, Any]]:
    """Delivery times of every protocol."""
    rows = lake.rows(
        """SELECT protocol, count(*) AS delivered, quantile_cont(latency_ms, 0.5) AS p50_ms,
                  quantile_cont(latency_ms, 0.9) AS p90_ms, quantile_cont(latency_ms, 0.99) AS
                      p99_ms,
                  count(*) FILTER (skew_ms > 0) AS skewed
           FROM fates WHERE state = 'delivered' GROUP BY ALL ORDER BY 1"""
    )
    return {str(row.pop("protocol")): row for row in rows}


def reasons(lake: "Lake") -> list[dict[str, Any]]:
    """Why messages were rejected and frames refused, most frequent first."""
    return lake.rows(
        """SELECT protocol, 'message' AS what, reason, count(*) AS n FROM fates
           WHERE state = 'rejected' GROUP BY ALL
           UNION ALL
           SELECT protocol, 'frame', reason, count(*) FROM quarantine GROUP BY ALL
           ORDER BY n DESC, protocol, what, reason"""
    )


def types(lake: "Lake") -> list[dict[str, Any]]:
    """Message types, all sightings and distinct contents."""
    return lake.rows(
        """SELECT protocol, type, count(*) AS frames, count(DISTINCT content) AS distinct_frames,
                  sum(size) AS bytes FROM frames GROUP BY ALL ORDER BY 1, 3 DESC, 2"""
    )


def health(lake: "Lake") -> dict[str, Any]:
    """How the swarms, the ledger and the hub's questions are doing."""
    return {
        "swarms": lake.rows(
            """SELECT swarm, messages, missing, gone, status FROM swarms
               WHERE node IS NULL ORDER BY swarm"""
        ),
        "ledger": _tally(lake, "ledger", "state"),
        "hub_asks": _tally(lake, "hub_asks", "outcome"),
    }


def tally(counts: Mapping[str, int]) -> str:
    """Counts in words."""
    return ", ".join(f"{count:,} {name}" for name, count in counts.items()) or "none"


def _tally(lake: "Lake", table: str, column: str) -> dict[str, int]:
    sql = f"SELECT {column} AS c, count(*) AS n FROM {table} GROUP BY 1 ORDER BY 1"  # noqa: S608
    rows = lake.rows(sql)
    return {str(row["c"]): int(str(row["n"])) for row in rows}


def _one(lake: "Lake", sql: str) -> int:
    (row,) = lake.rows(sql)
    return int(str(row["n"]))
