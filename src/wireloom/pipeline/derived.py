"""The tables that answer a question, in the order in which they are computed."""

from collections.abc import Callable
from typing import Final, NamedTuple

from pyspark.sql import DataFrame

from wireloom.pipeline.judged_tables import KEYS
from wireloom.pipeline.scopes import Scope
from wireloom.pipeline.tables import Table
from wireloom.pipeline.transforms import (
    broker_expired,
    broker_hops,
    clock_readings,
    clocks,
    configs,
    crossings,
    deliveries,
    disagreements,
    echoes,
    fates,
    groups,
    hub_actors,
    hub_asks,
    hub_pauses,
    hub_sessions,
    hub_topics,
    journeys,
    ledger,
    links,
    messages,
    nodes,
    payments,
    receptions,
    routes,
    subscriptions,
    swarm_messages,
    swarm_missing,
    swarm_violations,
    traffic,
    ways,
)


class Inputs(NamedTuple):
    """What a table is computed from."""

    seen: DataFrame
    """Sightings, with what is known of their authenticity."""

    quarantine: DataFrame
    horizon_ms: int
    """The latest capture."""

    table: Callable[[Table], DataFrame]
    """Another table, which was brought up to date before."""


class Derived(NamedTuple):
    """One such table."""

    table: Table
    scope: Scope
    compute: Callable[[Inputs], DataFrame]
    """All rows, or those of what new frames touch: it depends on what it is given."""


def _of(module: object, compute: Callable[[Inputs], DataFrame]) -> Derived:
    return Derived(module.TABLE, module.SCOPE, compute)  # type: ignore[attr-defined]


NODES: Final = nodes.TABLE
FATES: Final = fates.TABLE
SWARM_MESSAGES: Final = swarm_messages.TABLE

DERIVED: Final = (
    _of(nodes, lambda g: nodes.nodes(g.seen)),
    _of(fates, lambda g: fates.fates(g.seen, g.table(NODES), g.horizon_ms)),
    _of(messages, lambda g: messages.messages(g.seen)),
    _of(crossings, lambda g: crossings.crossings(g.seen, g.table(NODES))),
    _of(echoes, lambda g: echoes.echoes(g.seen)),
    _of(swarm_messages, lambda g: swarm_messages.swarm_messages(g.seen)),
    _of(hub_actors, lambda g: hub_actors.hub_actors(g.seen, g.horizon_ms)),
    _of(ledger, lambda g: ledger.ledger(g.seen)),
    _of(deliveries, lambda g: deliveries.deliveries(g.seen, g.table(FATES))),
    _of(ways, lambda g: ways.ways(g.seen, g.table(NODES), g.table(FATES), g.table(KEYS))),
    _of(clock_readings, lambda g: clock_readings.clock_readings(g.seen)),
    _of(traffic, lambda g: traffic.traffic(g.seen, g.quarantine)),
    _of(receptions, lambda g: receptions.receptions(g.seen)),
    _of(journeys, lambda g: journeys.journeys(g.seen)),
    _of(hub_sessions, lambda g: hub_sessions.hub_sessions(g.seen)),
    _of(hub_topics, lambda g: hub_topics.hub_topics(g.seen)),
    _of(hub_asks, lambda g: hub_asks.hub_asks(g.seen, g.horizon_ms)),
    _of(hub_pauses, lambda g: hub_pauses.hub_pauses(g.seen)),
    _of(links, lambda g: links.links(g.table(crossings.TABLE), g.table(echoes.TABLE))),
    _of(routes, lambda g: routes.routes(g.table(ways.TABLE))),
    _of(clocks, lambda g: clocks.clocks(g.table(clock_readings.TABLE))),
    _of(
        swarm_missing,
        lambda g: swarm_missing.swarm_missing(g.table(SWARM_MESSAGES), g.horizon_ms),
    ),
    Derived(
        swarm_missing.SWARMS,
        swarm_missing.SWARMS_SCOPE,
        lambda g: swarm_missing.swarms(g.table(SWARM_MESSAGES), g.table(swarm_missing.TABLE)),
    ),
    _of(swarm_violations, lambda g: swarm_violations.swarm_violations(g.table(SWARM_MESSAGES))),
    _of(broker_expired, lambda g: broker_expired.broker_expired(g.seen)),
    _of(broker_hops, lambda g: broker_hops.broker_hops(g.seen)),
    _of(disagreements, lambda g: disagreements.disagreements(g.seen, g.quarantine)),
    _of(configs, lambda g: configs.configs(g.seen, g.horizon_ms)),
    _of(subscriptions, lambda g: subscriptions.subscriptions(g.seen, g.horizon_ms)),
    _of(groups, lambda g: groups.groups(g.seen)),
    _of(payments, lambda g: payments.payments(g.seen)),
)
"""Those that are made of others after them, and of the rest the longest first."""
