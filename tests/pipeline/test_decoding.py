"""Batches of captured frames, decoded."""

import pyarrow as pa
import pytest

from support.cases import ALL
from support.cases import case as case_of
from support.nodes import captured
from wireloom.capture.frame import CapturedFrame, to_batch
from wireloom.pipeline.decoding import decode_batch, schema
from wireloom.registry import protocol


def good() -> list[CapturedFrame]:
    return [
        captured(case.name, case.protocol.codec.encode(message), 0, "n")
        for case in ALL
        for message in case.samples.values()
    ]


def test_rows_keep_their_order_and_their_protocols() -> None:
    frames = good()
    mixed = frames[::2] + frames[1::2]
    rows = decode_batch(to_batch(mixed, first_sequence=7))
    assert rows.schema == schema()
    rows = rows.slice(0, len(mixed))
    assert rows.column("raw").to_pylist() == [frame.raw for frame in mixed]
    assert rows.column("protocol").to_pylist() == [frame.protocol for frame in mixed]
    assert rows.column("sighting").to_pylist()[:2] == ["n#7", "n#8"]
    assert rows.column("reason").null_count == len(mixed)
    for case in ALL:
        own = [frame.protocol == case.name for frame in mixed]
        assert rows.column(case.name).is_valid().to_pylist() == own


def test_a_refused_frame_has_a_reason_and_nothing_else() -> None:
    rows = decode_batch(to_batch([captured("uep12", b"\x79\x10\x04", 0, "n")], first_sequence=0))
    (row,) = rows.to_pylist()
    assert (row["reason"], row["detail"], row["offset"]) == (
        "unsupported_version",
        "version 4, not 5",
        2,
    )
    assert (row["type"], row["kind"]) == (None, "quarantine")
    assert row["raw"] == b"\x79\x10\x04"


@pytest.mark.parametrize("protocol", [None, "smtp"])
def test_a_frame_of_no_known_protocol_is_refused(protocol: str | None) -> None:
    (row,) = decode_batch(
        to_batch([captured(protocol, b"HELO", 0, "n")], first_sequence=0)
    ).to_pylist()
    assert row["reason"] == "malformed"
    assert row["protocol"] == protocol


def test_the_frames_within_a_batch_follow_as_rows_of_their_own() -> None:
    mesh = next(case for case in ALL if case.name == "myriadmesh")
    raw = mesh.protocol.codec.encode(mesh.samples["DATA_BATCH"])
    rows = decode_batch(
        to_batch([captured("myriadmesh", raw, 0, "n")], first_sequence=3)
    ).to_pylist()
    assert [row["kind"] for row in rows] == ["frames"] + ["batched"] * (len(rows) - 1)
    assert [row["sighting"] for row in rows][:2] == ["n#3", "n#3/0"]
    assert len(rows) > 1
    for row in rows[1:]:
        assert row["raw"] in raw
        assert mesh.protocol.codec.decode(row["raw"])


def test_a_message_of_another_protocol_with_the_type_of_a_batch_is_no_batch() -> None:
    hub = case_of("signalhub").protocol
    fields = {
        "id": "00000000-0000-4000-8000-000000000001",
        "from": "@(local/a)",
        "to": "@(local/b)",
        "pattern": "tell",
        "timestamp": 1,
        "payload": {},
    }
    raw = hub.codec.encode(hub.record.from_fields("DATA_BATCH", fields))
    frames = [captured("signalhub", raw, 0, "n")]
    (row,) = decode_batch(to_batch(frames, first_sequence=0)).to_pylist()
    assert (row["type"], row["kind"]) == ("DATA_BATCH", "frames")


def test_an_empty_batch_gives_no_rows() -> None:
    assert decode_batch(to_batch([], first_sequence=0)).num_rows == 0


def test_a_frame_that_breaks_the_decoder_costs_itself_only(monkeypatch: pytest.MonkeyPatch) -> None:
    real = protocol("uep12").columns

    class Broken:
        COLUMN = real.COLUMN

        @staticmethod
        def decode(raws: pa.BinaryArray) -> pa.RecordBatch:
            if b"boom" in raws.to_pylist():
                raise ZeroDivisionError("oops")
            return real.decode(raws)

    monkeypatch.setattr(protocol("uep12"), "columns", Broken)
    pull = bytes.fromhex("792000")
    frames = [captured("uep12", raw, 0, "n") for raw in (pull, pull, b"boom", pull)]
    rows = decode_batch(to_batch(frames, first_sequence=0)).to_pylist()
    assert [row["reason"] for row in rows] == [None, None, "internal", None]
    assert rows[2]["detail"] == "ZeroDivisionError: oops"
    assert [row["type"] for row in rows] == ["PULL_BY_HASH", "PULL_BY_HASH", None, "PULL_BY_HASH"]
