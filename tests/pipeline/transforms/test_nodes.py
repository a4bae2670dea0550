"""Who a node is."""

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from support.letters import connect, send
from support.spark import seen
from support.tables import rows
from wireloom.pipeline.transforms.nodes import TABLE, has_refuted, joined, nodes


def test_a_hub_serves_and_has_no_identity_of_its_own(spark: SparkSession) -> None:
    (hub,) = rows(TABLE, nodes(seen(spark, [connect(), send(10)])))
    assert (hub["node"], hub["serves"], hub["identities"]) == ("hub-1", True, [])


def test_what_two_tables_know_is_joined(spark: SparkSession) -> None:
    columns = [column.name for column in TABLE.columns]
    one = [("uep12", "n", ["b"], False, False, ["s"], False)]
    other = [
        ("uep12", "n", ["a", "b"], True, True, ["r"], False),
        ("dtn", "n", [], False, False, [], True),
    ]
    known, more = (spark.createDataFrame(part, TABLE.schema) for part in (one, other))
    found = {
        tuple(row[name] for name in columns[:2]): row for row in rows(TABLE, joined(known, more))
    }
    assert found["uep12", "n"]["identities"] == ["a", "b"]
    assert found["uep12", "n"]["serves"]
    assert found["uep12", "n"]["hears"]
    assert found["uep12", "n"]["swarms"] == ["r", "s"]
    assert found["dtn", "n"]["unnamed_swarm"]


@pytest.mark.parametrize(
    ("direction", "auth", "refuted"),
    [
        ("local", "invalid", True),
        ("local", "unknown_key", False),
        ("in", "invalid", False),
        (None, None, False),
    ],
)
def test_what_is_proven_false_may_have_given_a_node_its_name(
    direction: str | None, auth: str | None, refuted: bool
) -> None:
    schema = pa.schema([("direction", pa.string()), ("auth", pa.string())])
    row = pa.Table.from_pylist([{"direction": direction, "auth": auth}], schema)
    assert has_refuted(row) is refuted
    assert not has_refuted(schema.empty_table())
