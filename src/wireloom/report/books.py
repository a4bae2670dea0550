"""The books: for every protocol and node, what came in equals what became of it."""

from typing import Any, Final

from wireloom.lake import Lake

STATES: Final = ("delivered", "expired", "rejected", "cancelled", "in_flight", "lost")
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


def gather(lake: Lake) -> dict[str, Any]:
    """Everything that a report shows, as one object."""
    return {
        "captured": captured(lake),
        "books": books(lake),
        "nodes": nodes(lake),
        "latency": latency(lake),
        "reasons": reasons(lake),
        "types": types(lake),
        "health": health(lake),
        "disagreements": _one(lake, "SELECT count(*) AS n FROM disagreements"),
        "conflicts": _one(lake, "SELECT count(*) AS n FROM messages WHERE conflict"),
    }


def captured(lake: Lake) -> dict[str, Any]:
    """How many frames there are, and from when to when."""
    (found,) = lake.rows(
        """SELECT count(*) FILTER (good) AS frames, count(*) FILTER (NOT good) AS quarantine,
                  count(*) AS captured, min(captured_at) AS first_at, max(captured_at) AS horizon
           FROM (SELECT true AS good, captured_at FROM frames
                 UNION ALL SELECT false, captured_at FROM quarantine)"""
    )
    return found


def books(lake: Lake) -> dict[str, dict[str, int]]:
    """Messages of every protocol by their state; `sent` is their sum."""
    found: dict[str, dict[str, int]] = {}
    for row in lake.rows(
        "SELECT protocol, state, count(*) AS n FROM fates GROUP BY ALL ORDER BY 1"
    ):
        entry = found.setdefault(str(row["protocol"]), dict.fromkeys(("sent", *STATES), 0))
        entry[str(row["state"])] += int(str(row["n"]))
        entry["sent"] += int(str(row["n"]))
    return found


def nodes(lake: Lake) -> list[dict[str, Any]]:
    """Frames in of every node by its own outcomes."""
    counts = ", ".join(f"count(*) FILTER (outcome = '{one}') AS {one}" for one in OUTCOMES)
    return lake.rows(
        f"""SELECT node, protocol, count(*) AS frames_in, {counts},
                  count(*) FILTER (outcome IS NULL) AS unsaid
           FROM (SELECT node, protocol, direction, outcome FROM frames
                 UNION ALL SELECT node, protocol, direction, outcome FROM quarantine)
           WHERE direction = 'in' GROUP BY ALL ORDER BY protocol, node"""  # noqa: S608
    )


def latency(lake: Lake) -> dict[str, dict[str, Any]]:
    """Delivery times of every protocol."""
    rows = lake.rows(
        """SELECT protocol, count(*) AS delivered, quantile_cont(latency_ms, 0.5) AS p50_ms,
                  quantile_cont(latency_ms, 0.9) AS p90_ms, quantile_cont(latency_ms, 0.99) AS
                      p99_ms,
                  count(*) FILTER (skew_ms > 0) AS skewed
           FROM fates WHERE state = 'delivered' GROUP BY ALL ORDER BY 1"""
    )
    return {str(row.pop("protocol")): row for row in rows}


def reasons(lake: Lake) -> list[dict[str, Any]]:
    """Why messages were rejected and frames refused, most frequent first."""
    return lake.rows(
        """SELECT protocol, 'message' AS what, reason, count(*) AS n FROM fates
           WHERE state = 'rejected' GROUP BY ALL
           UNION ALL
           SELECT protocol, 'frame', reason, count(*) FROM quarantine GROUP BY ALL
           ORDER BY n DESC, protocol, what, reason"""
    )


def types(lake: Lake) -> list[dict[str, Any]]:
    """Message types, all sightings and distinct contents."""
    return lake.rows(
        """SELECT protocol, type, count(*) AS frames, count(DISTINCT content) AS distinct_frames,
                  sum(size) AS bytes FROM frames GROUP BY ALL ORDER BY 1, 3 DESC, 2"""
    )


def health(lake: Lake) -> dict[str, Any]:
    """How the swarms, the ledger and the hub's questions are doing."""
    return {
        "swarms": lake.rows(
            """SELECT swarm, messages, missing, gone, status FROM swarms
               WHERE node IS NULL ORDER BY swarm"""
        ),
        "ledger": _tally(lake, "ledger", "state"),
        "hub_asks": _tally(lake, "hub_asks", "outcome"),
    }


def _tally(lake: Lake, table: str, column: str) -> dict[str, int]:
    sql = f"SELECT {column} AS c, count(*) AS n FROM {table} GROUP BY 1 ORDER BY 1"  # noqa: S608
    rows = lake.rows(sql)
    return {str(row["c"]): int(str(row["n"])) for row in rows}


def _one(lake: Lake, sql: str) -> int:
    (row,) = lake.rows(sql)
    return int(str(row["n"]))
