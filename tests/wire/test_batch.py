"""Gathering bytes from many frames, and building Arrow arrays from buffers."""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from wireloom.wire import batch
from wireloom.wire.batch import Frames, NameLists, Selection, completed, hexed, with_shared
from wireloom.wire.columns import DECODED, MessageColumn
from wireloom.wire.message import Message
from wireloom.wire.plain import to_plain

RAWS = pa.array([b"abcd", b"", b"efghij", b"kl"], pa.binary())


class Part(Message, frozen=True, kw_only=True):
    """A part."""

    number: int
    """A number."""


class Whole(Message, frozen=True, kw_only=True):
    """A message with a part and a list."""

    name: str
    """A name."""

    part: Part | None = None
    """A part."""

    names: tuple[str, ...] = ()
    """A list."""


COLUMN = MessageColumn("whole", (Whole,))


def some(*mask: int) -> Selection:
    return Selection(np.array(mask, np.bool_))


def test_frames_know_where_each_begins_and_how_long_it_is() -> None:
    frames = Frames(RAWS)
    assert (frames.count, list(frames.starts), list(frames.sizes)) == (
        4,
        [0, 4, 4, 10],
        [4, 0, 6, 2],
    )


def test_frames_of_a_slice_are_those_of_the_slice() -> None:
    frames = Frames(RAWS.slice(2, 1))
    assert (list(frames.starts), list(frames.sizes)) == ([4], [6])
    assert frames.take(frames.starts, "V6").tobytes() == b"efghij"


@pytest.mark.parametrize(
    "raws",
    [
        pa.array([], pa.binary()),
        pa.array([b"", b""], pa.binary()),
        RAWS.slice(4),
    ],
)
def test_no_bytes_are_no_trouble(raws: pa.BinaryArray) -> None:
    frames = Frames(raws)
    assert frames.count == len(raws)
    assert not frames.sizes.any()
    assert not len(frames.take(frames.starts[:0], "V99"))
    assert frames.slices(frames.starts, frames.sizes).size == 0


def test_a_batch_whose_hex_arrow_could_not_hold_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(batch, "MAX_BATCH_SIZE", 11)
    assert Frames(RAWS.slice(1)).count == 3
    with pytest.raises(ValueError, match="at most 11 bytes"):
        Frames(RAWS)


def test_values_are_taken_from_any_place_in_either_byte_order() -> None:
    frames = Frames(pa.array([bytes(range(10))], pa.binary()))
    at = np.array([1, 6, 7])
    assert [hex(value) for value in frames.take(at, ">u2")] == ["0x102", "0x607", "0x708"]
    assert [hex(value) for value in frames.take(at, "<u2")] == ["0x201", "0x706", "0x807"]


def test_a_place_outside_is_an_error_and_not_a_value() -> None:
    frames = Frames(RAWS)
    with pytest.raises(IndexError):
        frames.take(np.array([11]), "u2")


@pytest.mark.parametrize(
    ("at", "sizes", "bytes_"),
    [
        ([0, 4, 10], [2, 3, 2], b"abefgkl"),
        ([0, 4, 10], [2, 0, 0], b"ab"),
        ([1, 5], [3, 3], b"bcdfgh"),
        ([1, 5], [0, 0], b""),
        ([], [], b""),
    ],
)
def test_slices_stand_one_after_the_other(at: list[int], sizes: list[int], bytes_: bytes) -> None:
    frames = Frames(RAWS)
    found = frames.slices(np.array(at, np.int64), np.array(sizes, np.int64))
    assert found.to_pybytes() == bytes_


@pytest.mark.parametrize("size", [0, 1, 2, 255, 65_537])
def test_hex_is_what_bytes_say(size: int) -> None:
    data = np.random.default_rng(size).bytes(size)
    assert hexed(pa.py_buffer(data)).to_pybytes() == data.hex().encode()


def test_every_pair_of_bytes_has_its_hex() -> None:
    data = np.arange(1 << 16, dtype=">u2").tobytes()
    assert hexed(pa.py_buffer(data)).to_pybytes() == data.hex().encode()


def test_numbers_are_null_in_other_rows() -> None:
    values = np.array([7, 8, 255], np.uint8)
    assert some(1, 0, 1).numbers(values, pa.int64()).to_pylist() == [7, None, 255]
    assert some(1, 1, 1).numbers(values[::-1], pa.int32()).to_pylist() == [255, 8, 7]


def test_decimals_hold_unsigned_64_bits() -> None:
    values = np.array([0, 1, (1 << 64) - 1], ">u8")
    assert some(0, 1, 1).decimals(values).to_pylist() == [
        None,
        Decimal(1),
        Decimal((1 << 64) - 1),
    ]


def test_names_are_taken_by_code() -> None:
    names = pa.array(["zero", "one", None], pa.string())
    codes = np.array([1, 2, 0], np.uint8)
    assert some(1, 0, 1).names(names, codes).to_pylist() == ["one", None, "zero"]
    assert some(1, 0, 1).names(names, pa.array(codes)).to_pylist() == ["one", None, "zero"]
    assert some(0, 1, 1, 0).named(names, codes[::2]).to_pylist() == [None, "one", "zero", None]


def test_dense_values_are_spread_over_their_rows() -> None:
    rows = some(0, 1, 1, 0)
    assert list(rows.dense(np.arange(4))) == [1, 2]
    assert list(rows.spread(np.array([5, 6]))) == [0, 5, 6, 0]
    assert list(some(1, 1).spread(np.array([5, 6]))) == [5, 6]


@pytest.mark.parametrize("mask", [(0, 1, 0, 1, 0), (1, 1, 0, 0, 0), (0, 0, 0, 1, 1)])
def test_bytes_of_one_size_become_hex(mask: tuple[int, ...]) -> None:
    values = np.frombuffer(b"\x01\x02\xfe\xff", "V2")
    found = some(*mask).fixed(values)
    found.validate(full=True)
    given = iter(["0102", "feff"])
    assert found.to_pylist() == [next(given) if bit else None for bit in mask]


def test_strided_bytes_become_hex() -> None:
    values = np.frombuffer(b"\x01\x02\x03\x04\x05\x06", "V1")[::3]
    assert some(1, 1).fixed(values).to_pylist() == ["01", "04"]


@pytest.mark.parametrize("mask", [(1, 1, 1), (0, 1, 1, 1, 0), (1, 0, 1, 0, 1)])
def test_bytes_of_many_sizes_become_hex(mask: tuple[int, ...]) -> None:
    found = some(*mask).hexes(np.array([1, 0, 2]), pa.py_buffer(b"\x0a\x0b\x0c"))
    found.validate(full=True)
    given = iter(["0a", "", "0b0c"])
    assert found.to_pylist() == [next(given) if bit else None for bit in mask]


def test_no_rows_give_nothing_but_nulls() -> None:
    none, no_sizes = some(0, 0), np.zeros(0, np.int64)
    assert none.hexes(no_sizes, pa.py_buffer(b"")).to_pylist() == [None, None]
    assert none.fixed(np.empty(0, "V8")).to_pylist() == [None, None]
    assert none.lists(no_sizes, pa.array([], pa.string())).to_pylist() == [None, None]


def test_an_empty_batch_has_no_rows() -> None:
    assert some().fixed(np.empty(0, "V8")).to_pylist() == []


def test_lists_may_be_empty_and_null() -> None:
    lists = some(1, 0, 1, 1).lists(np.array([2, 0, 1]), pa.array(["a", "b", "c"]))
    assert lists.to_pylist() == [["a", "b"], None, [], ["c"]]


def test_name_lists_show_what_a_code_stands_for() -> None:
    lists = NameLists([[], ["one"], ["two"], ["two", "one"]])
    codes = np.array([3, 0, 1, 2], np.uint8)
    found = lists.of(some(1, 1, 0, 1), codes)
    found.validate(full=True)
    assert found.to_pylist() == [["two", "one"], [], None, ["two"]]
    assert lists.of(some(1), np.zeros(1, np.uint8)).to_pylist() == [[]]
    assert lists.of(some(), codes[:0]).to_pylist() == []


def rows(*messages: Whole | None) -> pa.RecordBatch:
    """Rows whose struct is null, with all its fields, where there is no message."""
    shown = [None if message is None else to_plain(message) for message in messages]
    children = [
        pa.array([one and one[field.name] for one in shown], field.type) for field in COLUMN.type
    ]
    struct = some(*[one is not None for one in messages]).structs(COLUMN.type, children)
    return with_shared(COLUMN, {"type": children[0]}, struct)


def test_shared_columns_that_are_not_given_are_null() -> None:
    made = rows(Whole(name="a"))
    assert made.schema == COLUMN.schema
    (row,) = made.to_pylist()
    assert row["type"] == "a"
    assert all(row[name] is None for name in DECODED.names if name != "type")


def test_missing_rows_are_filled_in() -> None:
    a = Whole(name="a", part=Part(number=1))
    b = Whole(name="b", part=Part(number=2), names=("x", "y"))
    c = Whole(name="c")
    made = completed(rows(None, a, None, c), rows(b, None), np.array([0, 2]))
    made.validate(full=True)
    assert made.equals(rows(b, a, None, c))


def test_a_part_that_only_one_side_has_is_kept() -> None:
    whole, bare = Whole(name="a", part=Part(number=1)), Whole(name="b")
    assert completed(rows(whole, None), rows(bare), np.array([1])).equals(rows(whole, bare))
    assert completed(rows(bare, None), rows(whole), np.array([1])).equals(rows(bare, whole))
