"""`routes`: which first hop brings messages to a destination, learned from what became of them."""

from typing import Final

from pyspark.sql import DataFrame

from wireloom.pipeline.scopes import By, Scope
from wireloom.pipeline.tables import Column, Table
from wireloom.pipeline.transforms.ways import TABLE as WAYS

TABLE: Final = Table(
    "routes",
    "How messages fare by destination and first hop (DTN and MyriadMesh).",
    (
        Column("protocol", "string", "`dtn` or `myriadmesh`."),
        Column("destination", "string", "For whom the messages were."),
        Column(
            "first_hop",
            "string",
            "Who took them from their composer: UID or node id where it is known, else its name "
            "as captured.",
        ),
        Column("successes", "bigint", "Messages that were delivered this way."),
        Column("losses", "bigint", "Messages given to it that were lost, expired or had no route."),
        Column("latency_p50_ms", "double", "Latency of the delivered, the median.", "ms"),
        Column("latency_p90_ms", "double", "The same, for nine of ten.", "ms"),
        Column("latency_p99_ms", "double", "The same, for 99 of 100.", "ms"),
        Column("score", "double", "(successes + 1) / (successes + losses + 2).", "0 to 1"),
        Column("last_success_at", "timestamp", "The latest proof of a delivery.", "UTC"),
        Column("h3r5_cells", "array<string>", "Where receipts came from: H3 of resolution 5, hex."),
        Column("h3r7_cells", "array<string>", "The same, of resolution 7."),
    ),
    ("protocol", "destination", "first_hop"),
)

SCOPE: Final = Scope(By.WHOLE, made_of=(WAYS,))

_ROUTES: Final = """
    select protocol, destination, first_hop, count_if(arrived) as successes,
           count_if(not arrived) as losses,
           percentile(latency_ms, 0.5) filter (where arrived) as latency_p50_ms,
           percentile(latency_ms, 0.9) filter (where arrived) as latency_p90_ms,
           percentile(latency_ms, 0.99) filter (where arrived) as latency_p99_ms,
           (count_if(arrived) + 1) / (count(*) + 2) as score,
           max(decided_at) filter (where arrived) as last_success_at,
           array_sort(collect_set(h3r5)) as h3r5_cells,
           array_sort(collect_set(h3r7)) as h3r7_cells
    from {w} lateral view explode(hops) as first_hop
    where first_hop is not null
    group by protocol, destination, first_hop
"""


def routes(ways: DataFrame) -> DataFrame:
    """What `ways` teach about the first hops of messages."""
    return ways.sparkSession.sql(_ROUTES, w=ways)
