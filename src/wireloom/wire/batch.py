"""Arrow batches as numpy sees them: bytes gathered from many frames, arrays built from buffers.

`Frames` reads: one run of bytes, and where each frame begins and ends in it. `Selection` writes:
the values of some rows of a batch, as an Arrow array that is null in all other rows. Neither
loops over rows, and neither copies bytes more than once.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from wireloom.wire.columns import DECIMAL, DECODED, MessageColumn

Array = npt.NDArray[Any]

MAX_BATCH_SIZE: Final = (1 << 30) - 1
"""Bytes of frames in a batch: as hex they are twice as many, and Arrow's text ends at 2 GiB."""

FEW: Final = 20
"""If fewer than one row in so many is exchanged, the rows between are copied as slices."""

_SHARED: Final = tuple((field.name, field.type) for field in DECODED)

_HEX_OF_BYTE: Final = pa.array(np.frombuffer(bytes(range(256)).hex().encode(), np.uint16))
_HEX_OF_PAIR: Final = pa.array(
    np.frombuffer(np.arange(1 << 16, dtype=np.uint16).tobytes().hex().encode(), np.uint32)
)


class Frames:
    """The frames of an Arrow array.

    Positions are counted in `data`, from 0, and have to lie within it.

    Args:
        raws: Frames, none of them null; it may be a slice.

    Raises:
        ValueError: If they are more than `MAX_BATCH_SIZE` bytes.
    """

    def __init__(self, raws: pa.BinaryArray) -> None:
        self.count = len(raws)
        _, offsets, data = raws.buffers()
        bounds: Array = np.zeros(1, np.int64)
        if self.count:
            bounds = np.frombuffer(offsets, np.int32)[raws.offset :][: self.count + 1]
            bounds = bounds.astype(np.int64)
        if bounds[-1] - bounds[0] > MAX_BATCH_SIZE:
            raise ValueError(f"a batch has at most {MAX_BATCH_SIZE} bytes of frames")
        self.data = data
        self.starts: Array = bounds[:-1]
        """Where each frame begins."""
        self.sizes: Array = np.diff(bounds)
        """How many bytes each has."""

    def take(self, at: Array, dtype: npt.DTypeLike) -> Array:
        """A value of `dtype` from each position."""
        kind = np.dtype(dtype)
        if not len(at):
            return np.empty(0, kind)
        # One window a byte, each overlapping the next: the positions choose among them.
        count = self.data.size - kind.itemsize + 1
        windows: Array = np.ndarray((count,), kind, buffer=self.data, strides=(1,))
        return windows[at]

    def slices(self, at: Array, sizes: Array) -> pa.Buffer:
        """The bytes of all slices, one after the other; `at` has to be in order."""
        size = int(sizes[0]) if len(sizes) else 0
        if (sizes == size).all():
            return pa.py_buffer(self.take(at, f"V{size}") if size else b"")
        # Slices and the gaps between them are a binary array: every other item is a slice.
        bounds = np.empty(2 * len(at) + 1, np.int32)
        bounds[:-1:2] = at
        np.add(at, sizes, out=bounds[1::2], casting="unsafe")
        bounds[-1] = bounds[-2]
        buffers = [None, pa.py_buffer(bounds), self.data]
        both = pa.Array.from_buffers(pa.binary(), 2 * len(at), buffers)
        even = pa.array(np.arange(0, 2 * len(at), 2, dtype=np.int32))
        return both.take(even).buffers()[2]


class Selection:
    """Some rows of a batch, and the arrays that are null in all other rows.

    Values for every row of the batch may be anything in the others; values for these rows
    only are called dense.

    Args:
        mask: True for these rows.
    """

    def __init__(self, mask: Array) -> None:
        self.mask = mask
        self.count = len(mask)
        self.all = bool(mask.all())

    @cached_property
    def index(self) -> Array:
        """The places of the rows."""
        return np.flatnonzero(self.mask)

    @cached_property
    def validity(self) -> pa.Buffer | None:
        """The bitmap of an array that has values in these rows."""
        return None if self.all else pa.py_buffer(np.packbits(self.mask, bitorder="little"))

    def dense(self, values: Array) -> Array:
        """Values for every row of the batch, as dense ones."""
        return values if self.all else values[self.index]

    def spread(self, dense: Array) -> Array:
        """Dense values in their rows, 0 in the others."""
        if self.all:
            return dense
        wide = np.zeros(self.count, dense.dtype)
        wide[self.index] = dense
        return wide

    def numbers(self, values: Array, type_: pa.DataType) -> pa.Array:
        """Numbers of a fixed width, one for every row of the batch."""
        same = np.ascontiguousarray(values, type_.to_pandas_dtype())
        return pa.Array.from_buffers(type_, self.count, [self.validity, pa.py_buffer(same)])

    def decimals(self, values: Array) -> pa.Array:
        """Unsigned 64 bits as decimals, one for every row of the batch."""
        words = np.zeros((self.count, 2), np.uint64)  # the low word first, the high one is 0
        words[:, 0] = values
        return pa.Array.from_buffers(DECIMAL, self.count, [self.validity, pa.py_buffer(words)])

    def names(self, names: pa.StringArray, codes: Array | pa.Array) -> pa.Array:
        """The name that each code is the place of; a code for every row of the batch."""
        taken = names.take(codes if isinstance(codes, pa.Array) else pa.array(codes))
        return pa.Array.from_buffers(pa.string(), self.count, [self.validity, *taken.buffers()[1:]])

    def named(self, names: pa.StringArray, codes: Array) -> pa.Array:
        """The same for codes that are dense."""
        taken = names.take(pa.array(codes))
        bounds = np.frombuffer(taken.buffers()[1], np.int32)[: len(taken) + 1]
        return self.texts(bounds[1:] - bounds[:-1], taken.buffers()[2])

    def fixed(self, dense: Array) -> pa.Array:
        """Bytes of one size as lower-case hex."""
        size = 2 * dense.dtype.itemsize
        offsets = pa.py_buffer(self._ranks * np.int32(size))
        data = hexed(pa.py_buffer(np.ascontiguousarray(dense)))
        return pa.Array.from_buffers(pa.string(), self.count, [self.validity, offsets, data])

    def hexes(self, sizes: Array, data: pa.Buffer) -> pa.Array:
        """Bytes as lower-case hex: their sizes, dense, and all of them one after the other."""
        return self.texts(sizes * 2, hexed(data))

    def texts(self, lengths: Array, data: pa.Buffer) -> pa.Array:
        """Text: its lengths, dense, and all of it one after the other."""
        buffers = [self.validity, self._offsets(lengths), data]
        return pa.Array.from_buffers(pa.string(), self.count, buffers)

    def lists(self, lengths: Array, items: pa.Array) -> pa.ListArray:
        """Lists: their lengths, dense, and the items of all of them one after the other."""
        buffers = [self.validity, self._offsets(lengths)]
        return pa.Array.from_buffers(pa.list_(items.type), self.count, buffers, children=[items])

    def structs(self, type_: pa.StructType, children: Iterable[pa.Array]) -> pa.StructArray:
        """Structs of these children."""
        return pa.Array.from_buffers(type_, self.count, [self.validity], children=list(children))

    @cached_property
    def _gaps(self) -> Array:
        """How far it is from each of these rows to the next one, the batch's ends included."""
        gaps = np.empty(len(self.index) + 1, np.int64)
        gaps[:-1] = self.index
        gaps[-1] = self.count
        gaps[1:] -= self.index
        gaps[0] += 1
        return gaps

    @cached_property
    def _ranks(self) -> Array:
        """How many of these rows come before each row of the batch, and how many there are."""
        ranks = np.arange(len(self.index) + 1, dtype=np.int32)
        return ranks if self.all else np.repeat(ranks, self._gaps)

    def _offsets(self, lengths: Array) -> pa.Buffer:
        offsets = offsets_of(lengths)
        if self.all:
            return offsets
        return pa.py_buffer(np.repeat(np.frombuffer(offsets, np.int32), self._gaps))


class NameLists:
    """Lists of names for every code from 0: what flags stand for.

    Args:
        lists: The names of each code.
    """

    def __init__(self, lists: Sequence[Sequence[str]]) -> None:
        names = sorted({name for one in lists for name in one})
        self._names = pa.array(names, pa.string())
        self._places = pa.array([bytes(map(names.index, one)) for one in lists], pa.binary())
        self._counts = np.array([len(one) for one in lists], np.int32)

    def of(self, rows: Selection, codes: Array) -> pa.ListArray:
        """The names of each code; a code for every row of the batch."""
        # Taken one after the other, the places of names are those of the items of all lists.
        places = self._places.take(pa.array(codes)).buffers()[2]
        items = self._names.take(pa.Array.from_buffers(pa.uint8(), places.size, [None, places]))
        buffers = [rows.validity, offsets_of(self._counts.take(codes))]
        return pa.Array.from_buffers(pa.list_(pa.string()), rows.count, buffers, children=[items])


def with_shared(
    column: MessageColumn, shared: Mapping[str, pa.Array], struct: pa.StructArray
) -> pa.RecordBatch:
    """A batch of a protocol's struct and of the columns that all protocols share.

    Args:
        column: The protocol's struct.
        shared: The columns of `DECODED` by name; those that are missing are null.
        struct: The struct's values.
    """
    columns = [
        shared[name] if name in shared else pa.nulls(len(struct), type_) for name, type_ in _SHARED
    ]
    return pa.RecordBatch.from_arrays([*columns, struct], schema=column.schema)


def completed(ours: pa.RecordBatch, theirs: pa.RecordBatch, at: Array) -> pa.RecordBatch:
    """`ours`, with what `theirs` has for the rows `at`.

    Args:
        ours: Null in these rows wherever `theirs` is not, in columns and fields of structs.
        theirs: As many rows as `at` has, in the same order.
        at: The rows.
    """
    exchanged = _exchange(at, len(ours))
    columns = [
        _filled(one, other, at, exchanged)
        for one, other in zip(ours.columns, theirs.columns, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=ours.schema)


Exchange = Callable[[pa.Array, pa.Array], pa.Array]
"""Puts values of the second array in their places in the first, which are null there."""


def _exchange(at: Array, count: int) -> Exchange:
    """The fastest way for each array."""
    mixed = _spliced(at) if len(at) * FEW < count else _taken(at, count)
    scattered = _scattered(at, count)

    def exchanged(ours: pa.Array, theirs: pa.Array) -> pa.Array:
        return scattered(theirs) if ours.null_count == count else mixed(ours, theirs)

    return exchanged


def _scattered(at: Array, count: int) -> Callable[[pa.Array], pa.Array]:
    """Puts values among nulls: most rows have no fault."""
    places, missing = np.zeros(count, np.int64), np.ones(count, np.bool_)
    places[at], missing[at] = np.arange(len(at)), False
    index = pa.array(places, mask=missing)
    return lambda theirs: theirs.take(index)


def _taken(at: Array, count: int) -> Exchange:
    """By one look-up a row."""

    def exchanged(ours: pa.Array, theirs: pa.Array) -> pa.Array:
        places = np.arange(count)
        given = np.flatnonzero(theirs.is_valid())
        places[at[given]] = given + count
        return pa.concat_arrays([ours, theirs]).take(pa.array(places))

    return exchanged


def _spliced(at: Array) -> Exchange:
    """By copies of what lies between: much faster for a few."""
    ends = at.tolist()

    def exchanged(ours: pa.Array, theirs: pa.Array) -> pa.Array:
        parts: list[pa.Array] = []
        begin = 0
        for place in pc.indices_nonzero(theirs.is_valid()).to_pylist():
            parts += ours.slice(begin, ends[place] - begin), theirs.slice(place, 1)
            begin = ends[place] + 1
        return pa.concat_arrays([*parts, ours.slice(begin)])

    return exchanged


def _filled(ours: pa.Array, theirs: pa.Array, at: Array, exchanged: Exchange) -> pa.Array:
    """Only what is not null on both sides is copied: most fields of a struct are."""
    if theirs.null_count == len(theirs):
        return ours
    if not pa.types.is_struct(ours.type):
        return exchanged(ours, theirs)
    # Flattened, fields of a null struct are null; as they lie they may be anything.
    children = [
        _filled(ours.field(place), other, at, exchanged)
        for place, other in enumerate(theirs.flatten())
    ]
    valid = ours.is_valid().to_numpy(zero_copy_only=False)
    valid[at] |= theirs.is_valid()
    bits = pa.array(valid).buffers()[1]
    return pa.Array.from_buffers(ours.type, len(ours), [bits], children=children)


def hexed(data: pa.Buffer) -> pa.Buffer:
    """Bytes as lower-case hex."""
    # A lookup in a table with every index there is needs no check of bounds.
    if data.size % 2:
        index = pa.Array.from_buffers(pa.uint8(), data.size, [None, data])
        return pc.take(_HEX_OF_BYTE, index, boundscheck=False).buffers()[1]
    index = pa.Array.from_buffers(pa.uint16(), data.size // 2, [None, data])
    return pc.take(_HEX_OF_PAIR, index, boundscheck=False).buffers()[1]


def offsets_of(lengths: Array) -> pa.Buffer:
    """The offsets of an Arrow array whose values are as long as this."""
    offsets = np.zeros(len(lengths) + 1, np.int32)
    # Arithmetic within one type is several times faster than with a conversion on the way.
    np.cumsum(lengths.astype(np.int32, copy=False), out=offsets[1:])
    return pa.py_buffer(offsets)
