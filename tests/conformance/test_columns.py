"""What every column kernel owes its codec: the same rows, whatever the bytes."""

from importlib import import_module
from importlib.util import find_spec
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.cases import ALL, Case, vectors
from support.damage import damaged, truncations
from wireloom.wire.columns import DECODED, decode_each

DAMAGED = 2000
"""Damaged frames a protocol."""

WITH_COLUMNS = [case for case in ALL if find_spec(f"wireloom.protocols.{case.name}.columns")]

protocols = pytest.mark.parametrize("case", WITH_COLUMNS, ids=lambda case: case.name)
few = settings(max_examples=settings().max_examples // 2)


@protocols
def test_the_columns_are_the_common_ones_and_the_protocols_struct(case: Case) -> None:
    schema = columns(case).COLUMN.schema
    assert schema.names == [*DECODED.names, case.name]
    assert pa.types.is_struct(schema.field(case.name).type)


@protocols
def test_no_frames_give_no_rows(case: Case) -> None:
    assert_agreement(case, [])


@protocols
def test_good_frames_give_what_the_codec_gives(case: Case) -> None:
    batch = assert_agreement(case, case.frames)
    assert batch.column("reason").null_count == len(batch)
    assert batch.column("type").null_count == 0


@protocols
def test_every_frame_alone_gives_what_the_codec_gives(case: Case) -> None:
    for frame in case.frames:
        assert_agreement(case, [frame])


@protocols
def test_vectors_give_what_the_codec_gives(case: Case) -> None:
    assert_agreement(case, [bytes.fromhex(vector["hex"]) for vector in vectors(case.name)])


@protocols
def test_truncated_frames_give_what_the_codec_gives(case: Case) -> None:
    for frame in (case.protocol.codec.encode(message) for message in case.samples.values()):
        assert_agreement(case, truncations(frame[:300]))


@protocols
def test_damaged_frames_among_good_ones_give_what_the_codec_gives(case: Case) -> None:
    random = Random(12)
    frames = case.frames
    raws = frames + [damaged(random, frames) for _ in range(DAMAGED)]
    random.shuffle(raws)
    batch = assert_agreement(case, raws)
    assert 0 < batch.column("reason").null_count < len(batch)


@protocols
@few
@given(data=st.data())
def test_any_messages_give_what_the_codec_gives(case: Case, data: st.DataObject) -> None:
    messages = data.draw(st.lists(st.one_of(*case.strategies.values()), max_size=6))
    raws = [case.protocol.codec.encode(message) for message in messages]
    spoilt = [damaged(Random(data.draw(st.integers(0, 999))), raws)] if raws else []
    assert_agreement(case, raws + spoilt + raws[:1])


@protocols
def test_a_slice_gives_the_rows_of_the_slice(case: Case) -> None:
    raws = [b"before", *case.frames, b"", b"after"]
    array = pa.array(raws, pa.binary())
    for start, size in ((1, len(raws) - 2), (2, 3), (3, 0), (len(raws) - 2, 2)):
        got = columns(case).decode(array.slice(start, size))
        assert_same(got, expected(case, raws[start : start + size]))


@protocols
def test_a_large_batch_gives_what_small_ones_give(case: Case) -> None:
    frames, times = [*case.frames, b"fault"], 400
    got = columns(case).decode(pa.array(frames * times, pa.binary()))
    again = pa.Table.from_batches([expected(case, frames)] * times)
    assert_same(got, again.combine_chunks().to_batches()[0])


def columns(case: Case) -> Any:
    return import_module(f"wireloom.protocols.{case.name}.columns")


def expected(case: Case, raws: list[bytes]) -> pa.RecordBatch:
    protocol = case.protocol
    return decode_each(columns(case).COLUMN, protocol.codec.decode, protocol.record.summarise, raws)


def assert_agreement(case: Case, raws: list[bytes]) -> pa.RecordBatch:
    got = columns(case).decode(pa.array(raws, pa.binary()))
    assert_same(got, expected(case, raws))
    return got


def assert_same(got: pa.RecordBatch, wanted: pa.RecordBatch) -> None:
    got.validate(full=True)
    assert got.schema == wanted.schema
    if not got.equals(wanted):
        assert got.to_pylist() == wanted.to_pylist()
        pytest.fail("rows are the same, and Arrow says they are not")
