"""What an operator is told while the servers run: who came, who was refused, who was cut.

A line is an event and its fields, as text or as JSON, on standard error. Every kind of event has a
rate, so that whoever causes one again and again cannot fill a disk; the next line of the kind says
how many there were in between. Text from outside cannot act on a terminal.
"""

import asyncio
import json
import logging
from datetime import UTC, datetime
from enum import StrEnum
from time import monotonic
from typing import Any, Final, TextIO

from wireloom.wire.rates import Bucket
from wireloom.wire.visible import visible

BURST: Final = 50
PER_SECOND: Final = 1.0
"""Lines of one kind: so many at once, so many a second."""

MAX_KINDS: Final = 256
MAX_FIELD_SIZE: Final = 200
"""Characters of a field that are shown."""

REMEDIES: Final = {
    "403": "403: the origin is not in origins",
    "404": "404: the endpoint has another path",
    "421": "421: the name in Host is none of this machine",
    "503": "503: there are max_connections",
    "files": "files: the system lets this process have no more (ulimit -n)",
    "strangers": "strangers: max_strangers have not logged in yet",
    "rate": "rate: too many of its connections came to nothing (stranger_rate)",
    "handshake": "handshake: it ended before it was a WebSocket; an endpoint with TLS wants "
    "wss://, clients that trust its certificate, and theirs from client_authority",
}
"""What to say of those who were not let in."""

_QUOTED: Final = frozenset(' "=')
_log: Final = logging.getLogger("wireloom.journal")


class Style(StrEnum):
    """How lines look."""

    TEXT = "text"
    JSON = "json"


class Throttle(logging.Filter):
    """Lets so many lines of a kind through."""

    def __init__(self) -> None:
        super().__init__()
        self._kinds: dict[str, Bucket] = {}
        self._left_out: dict[str, int] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a line is written; it then knows how many like it were not."""
        kind = str(record.msg)
        if kind not in self._kinds and len(self._kinds) >= MAX_KINDS:
            kind = ""
        bucket = self._kinds.setdefault(kind, Bucket(BURST, BURST / PER_SECOND))
        if bucket.take(monotonic()):
            self._left_out[kind] = self._left_out.get(kind, 0) + 1
            return False
        record.left_out = self._left_out.pop(kind, 0)
        return True


class TextLines(logging.Formatter):
    """Lines for people: time, level, event, fields."""

    def format(self, record: logging.LogRecord) -> str:
        """One record as a line; a fault of our own has its traceback below."""
        fields = "".join(f" {name}={_shown(value)}" for name, value in _fields(record).items())
        line = f"{_time(record)} {record.levelname} {visible(record.getMessage())}{fields}"
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


class JsonLines(logging.Formatter):
    """Lines for machines: one JSON object each."""

    def format(self, record: logging.LogRecord) -> str:
        """One record as a line."""
        head = {"time": _time(record), "level": record.levelname, "event": record.getMessage()}
        document = {**head, **_fields(record)}
        if record.exc_info:
            document["traceback"] = self.formatException(record.exc_info)
        return json.dumps(document)


def configure(style: Style, stream: TextIO) -> None:
    """Has all that is logged written to a stream."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines() if style is Style.JSON else TextLines())
    handler.addFilter(Throttle())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    _log.setLevel(logging.INFO)


def note(event: str, **fields: str | int) -> None:
    """Tells of something that is no fault."""
    _log.info(event, extra={"fields": fields})


def watch(loop: asyncio.AbstractEventLoop) -> None:
    """Has what fails on the loop itself told in one line, without a traceback."""
    loop.set_exception_handler(_on_loop_error)


def _on_loop_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    del loop
    error = context.get("exception")
    kind = error if isinstance(error, type) else type(error)
    event = str(context.get("message", "something failed on the loop"))
    if "handshake" in event and issubclass(kind, OSError):
        return  # the door tells of it
    why = "" if isinstance(error, type) else str(error)
    _log.warning(event, extra={"fields": {"error": kind.__name__, "why": why}})


def _fields(record: logging.LogRecord) -> dict[str, str | int]:
    """What a record says beyond its event, as short as a line can have it."""
    given: dict[str, str | int] = getattr(record, "fields", {})
    left_out: int = getattr(record, "left_out", 0)
    fields = {
        name: value[:MAX_FIELD_SIZE] if isinstance(value, str) else value
        for name, value in given.items()
        if value != ""
    }
    return {**fields, "left_out": left_out} if left_out else fields


def _shown(value: str | int) -> str:
    text = visible(str(value))
    return json.dumps(text, ensure_ascii=False) if _QUOTED & set(text) else text


def _time(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
