"""`nodes`: who each node is in a protocol, by what it composed, served and took part in."""

from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from wireloom.pipeline.tables import Column, Table

TABLE: Final = Table(
    "nodes",
    "One row for each node and protocol: whose messages it composes, and what part it plays.",
    (
        Column("protocol", "string", "The protocol."),
        Column("node", "string", "The node that captured."),
        Column("identities", "array<string>", "The senders of what was composed there."),
        Column("serves", "boolean", "Whether clients connect to it: a hub or a broker."),
        Column("swarms", "array<string>", "The swarms of which it saw a frame; empty for none."),
        Column("unnamed_swarm", "boolean", "Whether it saw a frame of a swarm without a name."),
    ),
    ("protocol", "node"),
)

_COMPOSED: Final = "direction = 'local' and auth <> 'invalid' and protocol in ('dtn', 'myriadmesh')"
_GREETINGS: Final = ("hub:connect", "http://puppetlabs.com/associate_request")
_GREETED: Final = f"direction = 'in' and type in {_GREETINGS}"


def parts(rows: pa.Table) -> pa.Table:
    """A few rows that give the same `nodes` as these sightings: only the columns that count."""
    local = pc.equal(rows.column("direction"), "local")
    greets = pc.is_in(rows.column("type"), value_set=pa.array(_GREETINGS))
    columns = {
        "protocol": rows.column("protocol"),
        "node": rows.column("node"),
        "direction": rows.column("direction"),
        "type": pc.if_else(greets, rows.column("type"), None),
        "source": pc.if_else(local, rows.column("source"), None),
        "swarm": rows.column("swarm"),
        "auth": rows.column("auth"),
    }
    return pa.table(columns).group_by(list(columns)).aggregate([])


def nodes(sightings: DataFrame) -> DataFrame:
    """The nodes in `sightings`."""
    return sightings.groupBy("protocol", "node").agg(
        f.expr(f"array_sort(collect_set(if({_COMPOSED}, source, null)))").alias("identities"),
        f.expr(f"coalesce(bool_or({_GREETED}), false)").alias("serves"),
        f.expr("array_sort(collect_set(if(protocol = 'uep12', swarm, null)))").alias("swarms"),
        f.expr("bool_or(protocol = 'uep12' and swarm is null)").alias("unnamed_swarm"),
    )


def identities(nodes: DataFrame) -> DataFrame:
    """One row for each name that a node goes by."""
    return nodes.selectExpr("protocol", "node", "explode(identities) as identity")


def joined(known: DataFrame, more: DataFrame) -> DataFrame:
    """Two tables of nodes as one."""
    return (
        known.unionByName(more)
        .groupBy("protocol", "node")
        .agg(
            f.expr("array_sort(array_distinct(flatten(collect_list(identities))))").alias(
                "identities"
            ),
            f.expr("bool_or(serves)").alias("serves"),
            f.expr("array_sort(array_distinct(flatten(collect_list(swarms))))").alias("swarms"),
            f.expr("bool_or(unnamed_swarm)").alias("unnamed_swarm"),
        )
    )
