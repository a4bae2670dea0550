from pyspark.sql import SparkSession

from support.fates import fate, fates_of
from support.nodes import ANN, BOB, CID, KEYS, TEXT, captured, frame, mesh_id
from support.spark import seen
from support.tables import rows
from wireloom.pipeline.judged_tables import KEYS as KNOWN
from wireloom.pipeline.transforms.nodes import nodes
from wireloom.pipeline.transforms.ways import TABLE, ways

FRAMES = [
    captured("myriadmesh", frame(1, ANN, CID, TEXT), 0, ANN, "local"),
    captured("myriadmesh", frame(1, ANN, CID, TEXT), 1, ANN, "out", peer=BOB),
    captured("myriadmesh", frame(2, ANN, CID, TEXT), 5, ANN, "local"),
]
FATES = [
    fate(FRAMES, "myriadmesh", mesh_id(1), "delivered", 1, destination=CID.id.hex()),
    fate(FRAMES, "myriadmesh", mesh_id(2), "lost", None, destination=CID.id.hex()),
    fate(FRAMES, "myriadmesh", mesh_id(3), "rejected", None, destination=CID.id.hex()),
]


def test_each_message_has_the_hops_that_it_was_given_to(spark: SparkSession) -> None:
    sightings = seen(spark, FRAMES, KEYS)
    keys = spark.createDataFrame([], KNOWN.schema)
    found = {
        row["message_id"]: (row["hops"], row["arrived"])
        for row in rows(TABLE, ways(sightings, nodes(sightings), fates_of(spark, FATES), keys))
    }
    assert found == {mesh_id(1): (["bob"], True), mesh_id(2): ([], False)}
