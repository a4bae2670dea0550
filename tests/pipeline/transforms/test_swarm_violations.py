from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from support.spark import seen
from support.swarms import content, hash_of, sighting
from support.tables import rows, stored
from wireloom.pipeline.transforms.swarm_messages import TABLE as MESSAGES
from wireloom.pipeline.transforms.swarm_messages import swarm_messages
from wireloom.pipeline.transforms.swarm_violations import (
    TABLE,
    broken,
    parts,
    swarm_violations,
)
from wireloom.protocols.uep12.integrity import msg_hash

ROOT = content("root", at=10)
GOOD = content("good", msg_hash(ROOT), at=11)
SAME = content("same", msg_hash(ROOT), at=10)
BACK = content("back", msg_hash(ROOT), b"\x11" * 8, at=3)
IDLE = content("idle", msg_hash(ROOT), at=1, proven=False)
TO_IDLE = content("to idle", msg_hash(IDLE), at=0)

NODES = st.sampled_from("abcdef")


def _found(spark: SparkSession, *raws: bytes, rename: dict[Any, Any] | None = None) -> Any:
    sightings = seen(spark, [sighting(raw, "ann", at=100) for raw in raws])
    if rename is not None:
        sightings = sightings.replace(rename, subset=["message_id"])
    messages = stored(MESSAGES, swarm_messages(sightings))
    return {
        (row["message_id"], row["kind"], row["refers_to"], row["late_ms"], row["first_node"])
        for row in rows(TABLE, swarm_violations(messages))
    }


def test_bad_order_and_bad_work_are_found(spark: SparkSession) -> None:
    assert _found(spark, ROOT, GOOD, SAME, BACK, IDLE, TO_IDLE) == {
        (hash_of(SAME), "bad_order", hash_of(ROOT), 0, "ann"),
        (hash_of(BACK), "bad_order", hash_of(ROOT), 7, "ann"),
        (hash_of(IDLE), "bad_work", None, None, "ann"),
    }


def test_a_cycle_is_found_and_what_leads_to_it_is_not_on_it(spark: SparkSession) -> None:
    one = content("one", b"\x02" * 8, at=1)
    two = content("two", b"\x01" * 8, at=2)
    outside = content("outside", b"\x02" * 8, at=3)
    names = {hash_of(one): "01" * 8, hash_of(two): "02" * 8, hash_of(outside): "03" * 8}
    assert _found(spark, one, two, outside, rename=names) == {
        ("01" * 8, "bad_order", "02" * 8, 1, "ann"),
        ("01" * 8, "cycle", "02" * 8, 1, "ann"),
        ("02" * 8, "cycle", "01" * 8, -1, "ann"),
    }


def test_a_message_that_refers_to_itself_is_a_cycle() -> None:
    names = [column.name for column in TABLE.columns if column.name != "kind"]
    table = pa.table({name: ["a", "b"] for name in names} | {"refers_to": ["a", "a"]})
    found = broken(table.set_column(3, "late_ms", pa.array([0, -1])))
    kinds = zip(found["message_id"].to_pylist(), found["kind"].to_pylist(), strict=True)
    assert list(kinds) == [("a", "bad_order"), ("a", "cycle")]


def test_a_long_chain_needs_no_deep_stack() -> None:
    chain = [(str(n), str(n + 1)) for n in range(20_000)]
    assert len(set(parts(chain).values())) == 20_001
    assert len(set(parts([*chain, ("20000", "0")]).values())) == 1


@given(st.lists(st.tuples(NODES, NODES)))
def test_two_messages_are_of_one_part_if_each_leads_to_the_other(
    edges: list[tuple[str, str]],
) -> None:
    part = parts(edges)
    reached = {node: _reached(edges, node) for node in part}
    for one in part:
        for other in part:
            together = one == other or (other in reached[one] and one in reached[other])
            assert (part[one] == part[other]) is together


def _reached(edges: list[tuple[str, str]], start: str) -> set[str]:
    found: set[str] = set()
    more = {start}
    while more:
        more = {other for one, other in edges if one in more} - found
        found |= more
    return found
