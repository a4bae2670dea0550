from pyspark.sql import SparkSession

from support.nodes import ANN, BOB, KEYS, TEXT, captured, forged, frame, mesh_id
from support.spark import seen
from support.tables import rows
from wireloom.pipeline.transforms.clock_readings import TABLE, clock_readings

FRAMES = [
    captured("myriadmesh", frame(1, ANN, BOB, TEXT, at=500), 530, ANN, "out"),
    captured("myriadmesh", frame(1, ANN, BOB, TEXT, at=500), 900, BOB),
    captured("myriadmesh", frame(2, ANN, BOB, TEXT, at=700), 690, BOB),
    captured("myriadmesh", forged(frame(3, ANN, BOB, TEXT, at=99_000)), 100, BOB),
]


def test_a_message_gives_one_reading_at_its_first_capture_and_a_forged_one_none(
    spark: SparkSession,
) -> None:
    found = {
        row["message_id"]: (row["source"], row["delay_ms"])
        for row in rows(TABLE, clock_readings(seen(spark, FRAMES, KEYS)))
    }
    assert found == {mesh_id(1): (ANN.id.hex(), 30), mesh_id(2): (ANN.id.hex(), -10)}
