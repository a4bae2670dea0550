import pytest
from pyspark.sql import SparkSession

from wireloom.pipeline.transforms.airtime import airtime_us

KNOWN_US = {10: 41_216, 51: 102_656, 222: 348_416}
"""Worked out by hand: 161, 401 and 1361 quarters of a symbol, of 256 µs each."""


@pytest.fixture(scope="module")
def times(spark: SparkSession) -> dict[int, int]:
    sizes = spark.createDataFrame([(size,) for size in (0, *KNOWN_US, 223, 436, 437)], "n bigint")
    return {row.n: row.t for row in sizes.selectExpr("n", f"{airtime_us('n')} as t").collect()}


@pytest.mark.parametrize("size", KNOWN_US)
def test_a_packet_takes_as_long_as_the_formula_says(times: dict[int, int], size: int) -> None:
    assert times[size] == KNOWN_US[size]


def test_a_long_frame_takes_the_time_of_its_fragments(times: dict[int, int]) -> None:
    assert times[436] == 2 * times[222]
    assert times[437] > times[436] + times[0]
    assert times[223] > times[222]
