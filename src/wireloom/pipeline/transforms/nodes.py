"""`nodes`: who each node is in a protocol, by what it composed, served and took part in."""

from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from wireloom.pipeline.scopes import By, Scope
from wireloom.pipeline.tables import Column, Table
from wireloom.pipeline.transforms.evidence import rules
from wireloom.pipeline.transforms.evidence.rows import listed
from wireloom.wire.outcome import Auth

TABLE: Final = Table(
    "nodes",
    "One row for each node and protocol: whose messages it composes, and what part it plays.",
    (
        Column("protocol", "string", "The protocol."),
        Column("node", "string", "The node that captured."),
        Column("identities", "array<string>", "The senders of what was composed there."),
        Column("serves", "boolean", "Whether clients connect to it: a hub or a broker."),
        Column("hears", "boolean", "Whether what comes to it is captured."),
        Column("swarms", "array<string>", "The swarms of which it saw a frame; empty for none."),
        Column("unnamed_swarm", "boolean", "Whether it saw a frame of a swarm without a name."),
    ),
    ("protocol", "node"),
)

SCOPE: Final = Scope(
    By.NODE,
    looks_at=("protocol", "node", "direction", "type", "source", "swarm", "auth"),
)

_RULES: Final = rules()
_GREETINGS: Final = tuple(type_ for one in _RULES.values() for type_ in one.greetings)
_COMPOSERS: Final = listed(*(name for name, one in _RULES.items() if one.composers))
_IN_SWARMS: Final = listed(*(name for name, one in _RULES.items() if one.swarms))


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


def has_refuted(rows: pa.Table) -> bool:
    """Whether a node composed what is proven false: its name may have been taken for the node's."""
    local = pc.equal(rows.column("direction"), "local")
    false = pc.equal(rows.column("auth"), Auth.INVALID.value)
    return bool(pc.any(pc.and_(local, false)).as_py())


_NODES: Final = f"""
    select protocol, node,
           array_sort(collect_set(if(composed, source, null))) as identities,
           coalesce(bool_or(greeted), false) as serves,
           coalesce(bool_or(direction = 'in'), false) as hears,
           array_sort(collect_set(if(swarms, swarm, null))) as swarms,
           bool_or(swarms and swarm is null) as unnamed_swarm
    from (select *, protocol in ({_IN_SWARMS}) as swarms,
                 direction = 'in' and type in ({listed(*_GREETINGS)}) as greeted,
                 direction = 'local' and auth <> 'invalid' and protocol in ({_COMPOSERS})
                     as composed
          from {{sightings}})
    group by protocol, node
"""  # noqa: S608

_IDENTITIES: Final = "select protocol, node, explode(identities) as identity from {nodes}"

_JOINED: Final = """
    select protocol, node,
           array_sort(array_distinct(flatten(collect_list(identities)))) as identities,
           bool_or(serves) as serves, bool_or(hears) as hears,
           array_sort(array_distinct(flatten(collect_list(swarms)))) as swarms,
           bool_or(unnamed_swarm) as unnamed_swarm
    from (select * from {known} union all select * from {more})
    group by protocol, node
"""


def nodes(sightings: DataFrame) -> DataFrame:
    """The nodes in `sightings`."""
    return sightings.sparkSession.sql(_NODES, sightings=sightings)


def identities(nodes: DataFrame) -> DataFrame:
    """One row for each name that a node goes by."""
    return nodes.sparkSession.sql(_IDENTITIES, nodes=nodes)


def joined(known: DataFrame, more: DataFrame) -> DataFrame:
    """Two tables of nodes as one."""
    return known.sparkSession.sql(_JOINED, known=known, more=more)
