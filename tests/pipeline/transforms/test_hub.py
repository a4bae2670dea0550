from pyspark.sql import SparkSession

from support.hub_talk import heard, said, uuid
from support.spark import seen
from wireloom.pipeline.transforms.hub import hub_frames, hub_messages
from wireloom.wire.outcome import Outcome

SEND = said("hub:send", 1, at=0)


def test_a_message_is_there_once_unless_it_was_refused(spark: SparkSession) -> None:
    frames = [
        heard(SEND, 10),
        heard(SEND, 5, "out", node="client-1", peer="hub"),
        heard(said("hub:send", 2, at=0), 20, outcome=Outcome.REJECTED),
    ]
    found = hub_messages(seen(spark, frames)).collect()
    assert [row.message_id for row in found] == [uuid(1)]
    assert found[0].captured_at.microsecond == 5_000
    assert found[0].hub.payload.target_address == found[0].destination


def test_a_connection_without_a_peer_is_named_by_the_address(spark: SparkSession) -> None:
    frames = [
        heard(SEND, 0, peer=None),
        heard(said("hub:resume", 2, at=1), 1, "out", peer=None),
        heard(SEND, 2, "local", peer=None),
    ]
    found = hub_frames(seen(spark, frames)).collect()
    assert [row.other_end for row in found] == ["@(browser/client-ui)"] * 2
