"""Analyse: every table that answers a question, from the refined sightings.

Each table is computed from what is there and replaced in one transaction. Nothing depends on
the order in which frames came, so many small runs give what one large run gives.
"""

from collections.abc import Callable, Sequence
from typing import Final

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession

from wireloom.pipeline.progress import TableStarted, silent
from wireloom.pipeline.stages.follow import CHANGED, follow
from wireloom.pipeline.stages.inputs import APP, Inputs, inputs, refined
from wireloom.pipeline.store import TableStore
from wireloom.pipeline.tables import Table
from wireloom.pipeline.transforms.broker_expired import TABLE as BROKER_EXPIRED
from wireloom.pipeline.transforms.broker_expired import broker_expired
from wireloom.pipeline.transforms.broker_hops import TABLE as BROKER_HOPS
from wireloom.pipeline.transforms.broker_hops import broker_hops
from wireloom.pipeline.transforms.clocks import TABLE as CLOCKS
from wireloom.pipeline.transforms.clocks import clocks
from wireloom.pipeline.transforms.configs import TABLE as CONFIGS
from wireloom.pipeline.transforms.configs import configs
from wireloom.pipeline.transforms.deliveries import TABLE as DELIVERIES
from wireloom.pipeline.transforms.deliveries import deliveries
from wireloom.pipeline.transforms.disagreements import TABLE as DISAGREEMENTS
from wireloom.pipeline.transforms.disagreements import disagreements
from wireloom.pipeline.transforms.fates import TABLE as FATES
from wireloom.pipeline.transforms.fates import fates
from wireloom.pipeline.transforms.groups import TABLE as GROUPS
from wireloom.pipeline.transforms.groups import groups
from wireloom.pipeline.transforms.hub_actors import TABLE as HUB_ACTORS
from wireloom.pipeline.transforms.hub_actors import hub_actors
from wireloom.pipeline.transforms.hub_asks import TABLE as HUB_ASKS
from wireloom.pipeline.transforms.hub_asks import hub_asks
from wireloom.pipeline.transforms.hub_pauses import TABLE as HUB_PAUSES
from wireloom.pipeline.transforms.hub_pauses import hub_pauses
from wireloom.pipeline.transforms.hub_sessions import TABLE as HUB_SESSIONS
from wireloom.pipeline.transforms.hub_sessions import hub_sessions
from wireloom.pipeline.transforms.hub_topics import TABLE as HUB_TOPICS
from wireloom.pipeline.transforms.hub_topics import hub_topics
from wireloom.pipeline.transforms.journeys import TABLE as JOURNEYS
from wireloom.pipeline.transforms.journeys import journeys
from wireloom.pipeline.transforms.ledger import TABLE as LEDGER
from wireloom.pipeline.transforms.ledger import ledger
from wireloom.pipeline.transforms.links import TABLE as LINKS
from wireloom.pipeline.transforms.links import links
from wireloom.pipeline.transforms.messages import TABLE as MESSAGES
from wireloom.pipeline.transforms.messages import messages
from wireloom.pipeline.transforms.nodes import TABLE as NODES
from wireloom.pipeline.transforms.nodes import nodes
from wireloom.pipeline.transforms.payments import TABLE as PAYMENTS
from wireloom.pipeline.transforms.payments import payments
from wireloom.pipeline.transforms.receptions import TABLE as RECEPTIONS
from wireloom.pipeline.transforms.receptions import receptions
from wireloom.pipeline.transforms.routes import TABLE as ROUTES
from wireloom.pipeline.transforms.routes import routes
from wireloom.pipeline.transforms.subscriptions import TABLE as SUBSCRIPTIONS
from wireloom.pipeline.transforms.subscriptions import subscriptions
from wireloom.pipeline.transforms.swarm_messages import TABLE as SWARM_MESSAGES
from wireloom.pipeline.transforms.swarm_messages import swarm_messages
from wireloom.pipeline.transforms.swarm_missing import SWARMS, swarm_missing, swarms
from wireloom.pipeline.transforms.swarm_missing import TABLE as SWARM_MISSING
from wireloom.pipeline.transforms.swarm_violations import TABLE as SWARM_VIOLATIONS
from wireloom.pipeline.transforms.swarm_violations import swarm_violations
from wireloom.pipeline.transforms.traffic import TABLE as TRAFFIC
from wireloom.pipeline.transforms.traffic import traffic

TABLES: Final[tuple[tuple[Table, Callable[[Inputs], DataFrame]], ...]] = (
    (NODES, lambda g: nodes(g.seen)),
    (MESSAGES, lambda g: messages(g.seen)),
    (FATES, lambda g: fates(g.seen, g.table(NODES), g.horizon_ms)),
    (RECEPTIONS, lambda g: receptions(g.seen)),
    (DISAGREEMENTS, lambda g: disagreements(g.seen, g.quarantine)),
    (DELIVERIES, lambda g: deliveries(g.seen, g.table(FATES))),
    (JOURNEYS, lambda g: journeys(g.seen)),
    (ROUTES, lambda g: routes(g.seen, g.table(NODES), g.table(FATES))),
    (LINKS, lambda g: links(g.seen)),
    (CLOCKS, lambda g: clocks(g.seen)),
    (SWARM_MESSAGES, lambda g: swarm_messages(g.seen)),
    (SWARM_MISSING, lambda g: swarm_missing(g.table(SWARM_MESSAGES), g.horizon_ms)),
    (SWARMS, lambda g: swarms(g.table(SWARM_MESSAGES), g.table(SWARM_MISSING))),
    (SWARM_VIOLATIONS, lambda g: swarm_violations(g.table(SWARM_MESSAGES))),
    (LEDGER, lambda g: ledger(g.seen)),
    (GROUPS, lambda g: groups(g.seen)),
    (PAYMENTS, lambda g: payments(g.seen)),
    (CONFIGS, lambda g: configs(g.seen, g.horizon_ms)),
    (SUBSCRIPTIONS, lambda g: subscriptions(g.seen, g.horizon_ms)),
    (HUB_ASKS, lambda g: hub_asks(g.seen, g.horizon_ms)),
    (HUB_SESSIONS, lambda g: hub_sessions(g.seen)),
    (HUB_ACTORS, lambda g: hub_actors(g.seen, g.horizon_ms)),
    (HUB_TOPICS, lambda g: hub_topics(g.seen)),
    (HUB_PAUSES, lambda g: hub_pauses(g.seen)),
    (BROKER_HOPS, lambda g: broker_hops(g.seen)),
    (BROKER_EXPIRED, lambda g: broker_expired(g.seen)),
    (TRAFFIC, lambda g: traffic(g.seen, g.quarantine)),
)
"""In this order: some are made of those before them."""


def analyse(
    spark: SparkSession,
    store: TableStore,
    *,
    on_table: Callable[[str, int], None],
    on_start: TableStarted = silent,
) -> None:
    """Brings every table up to date with what was refined.

    Args:
        spark: The session.
        store: The tables.
        on_table: Is called with each table and its rows after it is committed.
        on_start: Is called with each table before it is computed.
    """
    follow(spark, store, on_table=on_table)
    recompute(spark, store, [table for table, _ in TABLES], on_table=on_table, on_start=on_start)


def recompute(
    spark: SparkSession,
    store: TableStore,
    tables: Sequence[Table],
    *,
    on_table: Callable[[str, int], None],
    on_start: TableStarted = silent,
) -> None:
    """Computes those of `tables` that are behind from everything that was refined."""
    upto = refined(store)
    behind = [table for table in tables if store.log.computed(table, APP) < upto]
    if not behind:
        return
    found = inputs(spark, store, upto)
    if len(behind) > 1:  # one alone reads the columns that it needs, and no others
        found.seen.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        for place, table in enumerate(behind, start=1):
            on_start(table.name, place, len(behind))
            rows = store.replace(
                table,
                dict(TABLES)[table](found),
                app=APP,
                version=upto,
                also={CHANGED: upto} if table is NODES else None,
            )
            on_table(table.name, rows)
    finally:
        found.seen.unpersist()


def stalest(store: TableStore) -> Table | None:
    """The table that lags furthest behind what was refined, if one does.

    One that is made of others waits for them: of equals, the first counts.
    """
    done = {table: store.log.computed(table, APP) for table, _ in TABLES}
    table = min(done, key=lambda one: done[one])
    return table if done[table] < refined(store) else None
