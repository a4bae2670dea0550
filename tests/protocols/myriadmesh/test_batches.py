"""Frames within frames."""

from protocols.myriadmesh.samples import SAMPLES
from wireloom.protocols.myriadmesh.batches import TYPE, frames
from wireloom.protocols.myriadmesh.codec import decode, encode
from wireloom.protocols.myriadmesh.messages import DataBatch, Frame


def test_a_batch_holds_frames() -> None:
    batch = SAMPLES[TYPE]
    assert isinstance(batch, Frame)
    assert isinstance(batch.payload, DataBatch)
    assert [decode(raw) for raw in frames(encode(batch))] == list(batch.payload.messages)


def test_other_frames_hold_none() -> None:
    assert frames(encode(SAMPLES["DATA"])) == []
