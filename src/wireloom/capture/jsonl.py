"""Captured frames as JSON lines: one object a line, read and written.

```
{"captured_at": ISO 8601 with zone, or µs since 1970, "node": …, "protocol": … or null,
 "link": …, "direction": "in" | "out" | "local", "peer": … or null, "raw": hex,
 optional: "outcome": …, "reason": …, "swarm": …, "epoch_ms": …}
```

Further members are passed over, so that what `wireloom capture cat` prints can be read.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, Final, Literal

import msgspec

from wireloom.capture.frame import CapturedFrame
from wireloom.capture.recognition import recognise
from wireloom.capture.refusal import Refusal
from wireloom.capture.segment import quoted
from wireloom.registry import NAMES
from wireloom.wire.outcome import Direction, Outcome, Reason
from wireloom.wire.visible import visible_json

MAX_LINE_SIZE: Final = 160 * 1024 * 1024
"""The largest frame of any protocol has 64 MiB, twice that in hex."""

Name = Annotated[str, msgspec.Meta(min_length=1)]
if TYPE_CHECKING:
    ProtocolName = str
else:
    ProtocolName = Literal[NAMES]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_YEARS: Final = range(-62_135_596_800_000_000, 253_402_300_800_000_000)
"""The instants that calendars agree on: the years 1 to 9999, in µs."""


class _Line(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    captured_at: str | int
    node: Name
    protocol: ProtocolName | None
    link: Name
    direction: Direction
    peer: str | None
    raw: str
    outcome: Outcome | None = None
    reason: Reason | None = None
    swarm: str | None = None
    epoch_ms: Annotated[int, msgspec.Meta(ge=1, le=2**63 - 1)] | None = None


_decode: Final = msgspec.json.Decoder(_Line).decode
_encode: Final = msgspec.json.Encoder().encode


def take_line(line: bytes, *, raw: bytes | None = None) -> CapturedFrame:
    """The frame in one line.

    Args:
        line: Any bytes.
        raw: The frame, where it does not stand in the line but beside it.

    Raises:
        ValueError: If the line is not of the format; its text says why.
    """
    taken = _decode(line)
    frame = _bytes(taken.raw) if raw is None else raw
    quoted(taken.node)
    return CapturedFrame(
        captured_at=_micros(taken.captured_at),
        node=taken.node,
        protocol=recognise(frame) if taken.protocol is None else taken.protocol,
        link=taken.link,
        direction=taken.direction,
        raw=frame,
        peer=taken.peer,
        outcome=taken.outcome,
        reason=taken.reason,
        swarm=taken.swarm,
        epoch_ms=taken.epoch_ms,
    )


def put_line(row: dict[str, Any], **further: Any) -> bytes:
    """The mirror of `take_line`: a row of a batch, and further members before it.

    What is optional and null is left out.
    """
    shown = {
        **further,
        "captured_at": instant(row["captured_at"]),
        **{name: row[name] for name in ("node", "protocol", "link", "direction", "peer")},
        **{name: row[name] for name in _OPTIONAL if row[name] is not None},
        "raw": row["raw"].hex(),
    }
    return visible_json(_encode(shown).decode()).encode() + b"\n"


def take_lines(file: BinaryIO) -> Iterator[CapturedFrame | Refusal]:
    """The frames in a file of lines; a bad line is refused and the rest goes on.

    Raises:
        OSError: If the file cannot be read.
    """
    number = 0
    while line := file.readline(MAX_LINE_SIZE):
        number += 1
        if len(line) == MAX_LINE_SIZE and not line.endswith(b"\n"):
            _skip_line(file)
            yield Refusal(f"line {number}", "too long", f"more than {MAX_LINE_SIZE} bytes")
        elif not line.isspace():
            yield _taken(line, number)


def instant(micros: int) -> str | int:
    """An instant for people, or its µs where the calendar does not reach."""
    if micros not in _YEARS:
        return micros
    return (_EPOCH + micros * _MICROSECOND).isoformat(timespec="microseconds")[:-6] + "Z"


def _taken(line: bytes, number: int) -> CapturedFrame | Refusal:
    try:
        return take_line(line)
    except (ValueError, RecursionError) as error:
        return Refusal(f"line {number}", "not a captured frame", f"{error!s:.200}")


def _micros(at: str | int) -> int:
    if isinstance(at, str):
        when = datetime.fromisoformat(at)
        if when.tzinfo is None:
            raise ValueError(f"captured_at {at!r:.60} has no zone")
        at = (when - _EPOCH) // _MICROSECOND
    if at not in _YEARS:
        raise ValueError(f"captured_at {at} is beyond the years 1 to 9999")
    return at


def _bytes(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise ValueError("raw is not hex") from None


def _skip_line(file: BinaryIO) -> None:
    while (rest := file.readline(MAX_LINE_SIZE)) and not rest.endswith(b"\n"):
        pass


_OPTIONAL: Final = ("outcome", "reason", "swarm", "epoch_ms")
