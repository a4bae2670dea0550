"""`swarm_violations`: messages that break the rules of a UEP-12 swarm.

Three rules: work has to be proven, a message refers to earlier ones only, and so none refers
to itself, on whatever way. Along a cycle time has to go back somewhere: where every reference
is in order nothing is searched, and elsewhere only between the times that are out of order.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from wireloom.pipeline.scopes import By, Scope
from wireloom.pipeline.tables import Column, Table
from wireloom.pipeline.transforms.swarm_messages import TABLE as SWARM_MESSAGES

TABLE: Final = Table(
    "swarm_violations",
    "One row a rule that a message of a UEP-12 swarm breaks.",
    (
        Column("swarm", "string", "The swarm."),
        Column("message_id", "string", "The message's hash, hex."),
        Column(
            "kind",
            "string",
            "`bad_work`: no proof of work; `bad_order`: it refers to a message that is not "
            "earlier; `cycle`: it refers to a message that leads back to it.",
        ),
        Column("refers_to", "string", "The message that it must not refer to; null for bad work."),
        Column("late_ms", "bigint", "By how much that one is later; null for bad work.", "ms"),
        Column("first_seen", "timestamp", "The message's first sighting.", "UTC"),
        Column("first_node", "string", "Where it was seen first."),
    ),
    ("swarm", "message_id", "kind", "refers_to"),
)

SCOPE: Final = Scope(By.WHOLE, made_of=(SWARM_MESSAGES,))

_BROKEN: Final = ", ".join(f"{column.name} {column.type}" for column in TABLE.columns)

Graph = Mapping[str, list[str]]


_IDLE: Final = """
    select swarm, message_id, 'bad_work' as kind, cast(null as string) as refers_to,
           cast(null as bigint) as late_ms, first_seen, first_node
    from {m} where not pow_ok
"""


def swarm_violations(messages: DataFrame) -> DataFrame:
    """All three kinds.

    Args:
        messages: The table `swarm_messages`.
    """
    idle = messages.sparkSession.sql(_IDLE, m=messages)
    return idle.union(_suspects(messages).groupBy("swarm").applyInArrow(broken, _BROKEN))


def _suspects(messages: DataFrame) -> DataFrame:
    """References between messages with a proof of work that may be out of order or on a cycle.

    The earliest message of a cycle refers to one that is not earlier, and its latest is
    referred to by one that is not later. So all of it lies between two such messages.
    """
    return messages.sparkSession.sql(
        """
        select swarm, message_id, refers_to, to_ms - from_ms as late_ms, first_seen, first_node
        from (select *, min(if(to_ms >= from_ms, from_ms, null)) over (partition by swarm) as low,
                     max(if(to_ms >= from_ms, to_ms, null)) over (partition by swarm) as high
              from (select r.*, m.created_ms as to_ms
                    from (select swarm, message_id, created_ms as from_ms, first_seen, first_node,
                                 explode(array_distinct(`references`.msg_hash)) as refers_to
                          from {m} where pow_ok) r
                    join {m} m
                        on m.swarm <=> r.swarm and m.message_id = r.refers_to and m.pow_ok))
        where from_ms between low and high and to_ms between low and high
        """,
        m=messages,
    )


def broken(references: pa.Table) -> pa.Table:
    """Of one swarm's references, those out of order and those on a cycle."""
    pairs = list(
        zip(references["message_id"].to_pylist(), references["refers_to"].to_pylist(), strict=True)
    )
    part = parts(pairs)
    on_cycle = pa.array([part[one] == part[other] for one, other in pairs], pa.bool_())
    late = pc.greater_equal(references["late_ms"], 0)
    return pa.concat_tables(
        [
            _of_kind("bad_order", references.filter(late)),
            _of_kind("cycle", references.filter(on_cycle)),
        ]
    )


def _of_kind(kind: str, references: pa.Table) -> pa.Table:
    kinds = pa.array([kind] * references.num_rows, pa.string())
    return references.append_column("kind", kinds).select([one.name for one in TABLE.columns])


def parts(edges: Iterable[tuple[str, str]]) -> dict[str, str]:
    """For each message one that stands for all that lead to it and back; Kosaraju's algorithm."""
    forth: dict[str, list[str]] = {}
    back: dict[str, list[str]] = {}
    for one, other in edges:
        forth.setdefault(one, []).append(other)
        back.setdefault(other, []).append(one)
    found: dict[str, str] = {}
    taken: set[str] = set()
    for root in reversed(list(_finished(forth, forth, set()))):
        found.update(dict.fromkeys(_finished(back, [root], taken), root))
    return found


def _finished(graph: Graph, roots: Iterable[str], seen: set[str]) -> Iterator[str]:
    """What can be reached and is not in `seen`, each after all that it leads to."""
    for root in roots:
        if root in seen:
            continue
        seen.add(root)
        stack = [(root, iter(graph.get(root, ())))]
        while stack:
            node, rest = stack[-1]
            following = next((one for one in rest if one not in seen), None)
            if following is None:
                yield node
                stack.pop()
            else:
                seen.add(following)
                stack.append((following, iter(graph.get(following, ()))))
