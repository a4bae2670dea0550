"""`links`: how each link did, in steps of five minutes."""

from typing import Final

from pyspark.sql import DataFrame

from wireloom.pipeline.scopes import By, Scope
from wireloom.pipeline.tables import Column, Table
from wireloom.pipeline.transforms.airtime import airtime_us
from wireloom.pipeline.transforms.crossings import TABLE as CROSSINGS
from wireloom.pipeline.transforms.echoes import TABLE as ECHOES

STEP: Final = "5 minutes"

TABLE: Final = Table(
    "links",
    "Five minutes of one link between a node and a peer, as the node captured it.",
    (
        Column("bucket", "timestamp", "When the five minutes begin, by the capture clock.", "UTC"),
        Column("protocol", "string", "The protocol."),
        Column("node", "string", "The node."),
        Column("peer", "string", "Who is at the other end; null for what goes to all."),
        Column("link", "string", "The link."),
        Column("frames_in", "bigint", "Frames that came."),
        Column("frames_out", "bigint", "Frames that left."),
        Column("bytes_in", "bigint", "Their bytes.", "bytes"),
        Column("bytes_out", "bigint", "Their bytes.", "bytes"),
        Column("duplicates", "bigint", "Frames that came though the node had their content."),
        Column(
            "loss_share",
            "double",
            "Share of the frames that left and were not captured at the peer; null if the peer "
            "captures nothing.",
            "0 to 1",
        ),
        Column("round_trips", "bigint", "Answered tests, pings and heartbeats sent over it."),
        Column("rtt_p50_ms", "double", "Their round-trip time, the median.", "ms"),
        Column("rtt_max_ms", "double", "The longest of them.", "ms"),
        Column("answer_p50_ms", "double", "How long its own answers took, the median.", "ms"),
        Column("queue_length", "bigint", "The last one told: DTN bundles or hub messages waiting."),
        Column("gateway_score", "double", "The last one told in DTN link metrics.", "0 to 1"),
        Column("airtime_ms", "double", "Estimated LoRa airtime of all frames, at SF7.", "ms"),
        Column("airtime_out_ms", "double", "The part that the node sent itself.", "ms"),
    ),
    ("bucket", "protocol", "node", "peer", "link"),
)

SCOPE: Final = Scope(By.WHOLE, made_of=(CROSSINGS, ECHOES))

_KEY: Final = ("bucket", "protocol", "node", "peer", "link")

_LINKS: Final = f"""
    with rows as (
        select captured_at, protocol, node, peer, link, direction, size, sighting, duplicate, lost,
               queue_length, gateway_score, null as rtt_ms, null as answer_ms
        from {{f}}
        union all
        select captured_at, protocol, node, peer, link, null, null, null, null, null, null, null,
               if(round_trip, ms, null), if(round_trip, null, ms)
        from {{e}}),
    timed as (
        select *, window(captured_at, '{STEP}').start as bucket,
               struct(captured_at, sighting) as at,
               if(startswith(link, 'lora'), {airtime_us("size")}, null) as air
        from rows)
    select {", ".join(_KEY)}, count_if(direction = 'in') as frames_in,
           count_if(direction = 'out') as frames_out,
           coalesce(sum(size) filter (where direction = 'in'), 0) as bytes_in,
           coalesce(sum(size) filter (where direction = 'out'), 0) as bytes_out,
           count_if(duplicate) as duplicates, avg(lost) as loss_share,
           count(rtt_ms) as round_trips, percentile(rtt_ms, 0.5) as rtt_p50_ms,
           max(rtt_ms) as rtt_max_ms, percentile(answer_ms, 0.5) as answer_p50_ms,
           max_by(queue_length, if(queue_length is null, null, at)) as queue_length,
           max_by(gateway_score, if(gateway_score is null, null, at)) as gateway_score,
           sum(air) / 1000 as airtime_ms,
           sum(air) filter (where direction = 'out') / 1000 as airtime_out_ms
    from timed group by {", ".join(_KEY)}
"""  # noqa: S608


def links(crossings: DataFrame, echoes: DataFrame) -> DataFrame:
    """Frames, losses, delays, queues and airtime of every link.

    Args:
        crossings: The table `crossings`.
        echoes: The table `echoes`.
    """
    return crossings.sparkSession.sql(_LINKS, f=crossings, e=echoes)
