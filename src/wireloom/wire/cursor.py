"""The only code that slices and packs bytes.

A `Reader` takes values off a buffer front to back and refuses what the buffer does not
hold before it allocates anything. A `Writer` is its mirror: what `Reader.u16` takes,
`Writer.u16` puts. Every call names its field, so that a refusal can say which one it was
and a `TracingReader` can tell where each field lies.

Names are paths as in the decoded message: `payload.content_type`; `references[].msg_hash`
stands for the next item of a list.
"""

import struct
from collections import Counter
from typing import Any, Literal, NamedTuple, NoReturn

from wireloom.wire.errors import MalformedError, TrailingBytesError, TruncatedError

ByteOrder = Literal["big", "little"]


class Span(NamedTuple):
    """Where one field lies in a frame."""

    name: str
    offset: int
    size: int


class Reader:
    """Takes values off `raw`, front to back, in one byte order."""

    __slots__ = ("end", "offset", "order", "raw")

    def __init__(self, raw: bytes, *, order: ByteOrder = "big", offset: int = 0) -> None:
        self.raw = raw
        self.order: ByteOrder = order
        self.offset = offset
        self.end = len(raw)

    @property
    def remaining(self) -> int:
        """How many bytes are left."""
        return self.end - self.offset

    def take(self, size: int, name: str) -> bytes:
        """The next `size` bytes.

        Raises:
            TruncatedError: If there are fewer.
        """
        start = self.offset
        stop = start + size
        if stop > self.end:
            self._short(size, name)
        self.offset = stop
        return self.raw[start:stop]

    def rest(self, name: str) -> bytes:
        """All that is left, which may be nothing."""
        return self.take(self.end - self.offset, name)

    def unpack(self, layout: struct.Struct, names: tuple[str, ...]) -> tuple[Any, ...]:
        """Several fixed fields at once: the fast path for headers.

        Args:
            layout: Its byte order is the layout's own.
            names: One for each value, in order.

        Raises:
            TruncatedError: If the buffer ends within the layout.
        """
        start = self.offset
        if start + layout.size > self.end:
            self._short(layout.size, f"{names[0]} to {names[-1]}")
        self.offset = start + layout.size
        return layout.unpack_from(self.raw, start)

    def u8(self, name: str) -> int:
        """One byte."""
        start = self.offset
        if start >= self.end:
            self._short(1, name)
        self.offset = start + 1
        return self.raw[start]

    def u16(self, name: str) -> int:
        """Two bytes."""
        return self._int(2, name)

    def i16(self, name: str) -> int:
        """Two bytes, two's complement."""
        return int.from_bytes(self.take(2, name), self.order, signed=True)

    def u32(self, name: str) -> int:
        """Four bytes."""
        return self._int(4, name)

    def i32(self, name: str) -> int:
        """Four bytes, two's complement."""
        return int.from_bytes(self.take(4, name), self.order, signed=True)

    def u48(self, name: str) -> int:
        """Six bytes."""
        return self._int(6, name)

    def u64(self, name: str) -> int:
        """Eight bytes."""
        return self._int(8, name)

    def text(self, size: int, name: str) -> str:
        """`size` bytes of UTF-8.

        Raises:
            TruncatedError: If there are fewer bytes.
            MalformedError: If they are not UTF-8.
        """
        start = self.offset
        try:
            return self.take(size, name).decode()
        except UnicodeDecodeError as error:
            raise MalformedError(
                f"{name} is not UTF-8: {error.reason}", offset=start + error.start
            ) from None

    def finish(self) -> None:
        """Ends the reading.

        Raises:
            TrailingBytesError: If bytes are left.
        """
        if self.offset != self.end:
            count = self.end - self.offset
            plural = "s" if count > 1 else ""
            raise TrailingBytesError(
                f"{count} byte{plural} after the end of the message", offset=self.offset
            )

    def _int(self, size: int, name: str) -> int:
        return int.from_bytes(self.take(size, name), self.order)

    def _short(self, size: int, name: str) -> NoReturn:
        raise TruncatedError(
            f"{name} needs {size} bytes, {self.end - self.offset} are left", offset=self.offset
        )


class TracingReader(Reader):
    """A reader that remembers where each field lay, for `inspect`."""

    __slots__ = ("_seen", "spans")

    def __init__(self, raw: bytes, *, order: ByteOrder = "big", offset: int = 0) -> None:
        super().__init__(raw, order=order, offset=offset)
        self.spans: list[Span] = []
        self._seen: Counter[str] = Counter()

    def take(self, size: int, name: str) -> bytes:
        """As `Reader.take`, and noted."""
        start = self.offset
        taken = super().take(size, name)
        self._note(name, start, size)
        return taken

    def u8(self, name: str) -> int:
        """As `Reader.u8`, and noted."""
        start = self.offset
        value = super().u8(name)
        self._note(name, start, 1)
        return value

    def unpack(self, layout: struct.Struct, names: tuple[str, ...]) -> tuple[Any, ...]:
        """As `Reader.unpack`, each of the fields noted by itself."""
        start = self.offset
        values = super().unpack(layout, names)
        order = layout.format[0] if layout.format[0] in "<>!" else ""
        for name, code in zip(names, _codes(layout.format), strict=True):
            size = struct.calcsize(order + code)
            self._note(name, start, size)
            start += size
        return values

    def _note(self, name: str, start: int, size: int) -> None:
        if "[]" in name:
            index = self._seen[name]
            self._seen[name] += 1
            name = name.replace("[]", f".{index}")
        self.spans.append(Span(name, start, size))


class Writer:
    """Puts values one after the other: the mirror of `Reader`."""

    __slots__ = ("_parts", "order")

    def __init__(self, *, order: ByteOrder = "big") -> None:
        self.order: ByteOrder = order
        self._parts: list[bytes] = []

    def put(self, value: bytes, name: str, *, size: int | None = None) -> None:
        """Bytes as they are; exactly `size` of them, where that is given.

        Raises:
            MalformedError: If their number is not `size`.
        """
        if size is not None and len(value) != size:
            raise MalformedError(f"{name} must be {size} bytes, not {len(value)}")
        self._parts.append(value)

    def u8(self, value: int, name: str) -> None:
        """One byte."""
        self._int(value, 1, name)

    def u16(self, value: int, name: str) -> None:
        """Two bytes."""
        self._int(value, 2, name)

    def i16(self, value: int, name: str) -> None:
        """Two bytes, two's complement."""
        self._int(value, 2, name, signed=True)

    def u32(self, value: int, name: str) -> None:
        """Four bytes."""
        self._int(value, 4, name)

    def i32(self, value: int, name: str) -> None:
        """Four bytes, two's complement."""
        self._int(value, 4, name, signed=True)

    def u48(self, value: int, name: str) -> None:
        """Six bytes."""
        self._int(value, 6, name)

    def u64(self, value: int, name: str) -> None:
        """Eight bytes."""
        self._int(value, 8, name)

    def finish(self) -> bytes:
        """All that was put."""
        return b"".join(self._parts)

    def _int(self, value: int, size: int, name: str, *, signed: bool = False) -> None:
        try:
            self._parts.append(value.to_bytes(size, self.order, signed=signed))
        except OverflowError:
            raise MalformedError(f"{name} {value} does not fit in {size} bytes") from None


def _codes(layout: str) -> list[str]:
    """The items of a struct format: `>4sBH` gives `4s`, `B`, `H`."""
    codes, count = [], ""
    for char in layout.lstrip("<>!"):
        if char.isdigit():
            count += char
            continue
        codes.append(count + char)
        count = ""
    return codes
