"""Puts load on sockets that are open; the work is done in C, so that the server is the limit.

`generator.c` says what it does. It is compiled once for each version of its text.
"""

import ctypes
import hashlib
import socket
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from time import time_ns
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

SOURCE: Final = Path(__file__).with_name("generator.c")
BUILT: Final = Path(__file__).parent.parent / ".data"
NUMBER: Final = "999999999999"
"""Stands in a frame where its number goes."""

PATIENCE: Final = 10.0
"""Seconds without an answer after which the rest counts as lost."""

MAX_LATENCIES: Final = 20_000_000


class Line(NamedTuple):
    """A connection and what each message on it contains once."""

    socket: socket.socket
    marker: bytes = b""
    is_timed: bool = True
    answer: bytes = b""
    """What is said on it for every message that comes."""


class Scene(NamedTuple):
    """Connections on which all is said that comes before the load."""

    lines: list[Line]
    sender: Line
    """Who sends; it is one of the lines."""

    frame: bytes
    """What is sent, with `NUMBER` in it wherever a message differs from the one before."""

    markers_a_message: float = 1
    silent: Sequence[socket.socket] = ()
    """Connections on which nothing is read."""

    @property
    def receivers(self) -> int:
        """How many receive each message."""
        return sum(line.is_timed for line in self.lines)

    def close(self) -> None:
        """Ends all connections."""
        for one in (*self.silent, *(line.socket for line in self.lines)):
            one.close()


class Measured(NamedTuple):
    """What came of a load."""

    sent: int
    markers: int
    lost: int
    seconds: float
    busy: float
    """The share of its core that the generator spent."""

    cut: int
    """Connections that the server ended."""

    latencies: NDArray[np.float32]

    @property
    def rate(self) -> float:
        """Markers a second."""
        return self.markers / self.seconds


class _Line(ctypes.Structure):
    _fields_ = (
        ("fd", ctypes.c_int),
        ("is_timed", ctypes.c_int),
        ("marker", ctypes.c_char_p),
        ("marker_length", ctypes.c_int),
        ("tail_length", ctypes.c_int),
        ("count", ctypes.c_long),
        ("answer", ctypes.c_char_p),
        ("answer_length", ctypes.c_int),
        ("tail", ctypes.c_char * 64),
    )


class _Plan(ctypes.Structure):
    _fields_ = (
        ("sender", ctypes.c_int),
        ("frame", ctypes.c_char_p),
        ("frame_length", ctypes.c_int),
        ("stamps", ctypes.POINTER(ctypes.c_int)),
        ("stamp_count", ctypes.c_int),
        ("digits", ctypes.c_int),
        ("first_number", ctypes.c_long),
        ("window", ctypes.c_long),
        ("markers_a_message", ctypes.c_double),
        ("seconds", ctypes.c_double),
        ("rate", ctypes.c_double),
        ("most", ctypes.c_long),
        ("patience", ctypes.c_double),
    )


class _Result(ctypes.Structure):
    _fields_ = (
        ("sent", ctypes.c_long),
        ("markers", ctypes.c_long),
        ("seconds", ctypes.c_double),
        ("spent", ctypes.c_double),
        ("latency_count", ctypes.c_long),
        ("cut", ctypes.c_long),
    )


def run(
    scene: Scene,
    *,
    window: int = 1,
    seconds: float = 2.0,
    rate: float = 0.0,
    most: int = 0,
) -> Measured:
    """Sends for a time, or so many frames, and waits for what comes of them.

    Args:
        scene: Where.
        window: How many messages may be on their way.
        seconds: How long to send.
        rate: Messages a second; with it there is no window, and latencies are measured.
        most: How many messages to send; 0: as many as the time allows.
    """
    lines = (_Line * len(scene.lines))(*[_line(line) for line in scene.lines])
    stamps = _places(scene.frame)
    plan = _Plan(
        scene.sender.socket.fileno(),
        scene.frame,
        len(scene.frame),
        (ctypes.c_int * len(stamps))(*stamps),
        len(stamps),
        len(NUMBER),
        _first_number(),
        window,
        scene.markers_a_message,
        seconds,
        rate,
        most,
        PATIENCE,
    )
    result = _Result()
    latencies = np.empty(MAX_LATENCIES if rate else 1, np.float32)
    _library().run(
        lines,
        len(lines),
        ctypes.byref(plan),
        ctypes.byref(result),
        latencies.ctypes.data_as(ctypes.POINTER(ctypes.c_float)),
        ctypes.c_long(len(latencies)),
    )
    return Measured(
        result.sent,
        result.markers,
        round(result.sent * scene.markers_a_message) - result.markers,
        result.seconds,
        result.spent / result.seconds,
        result.cut,
        latencies[: result.latency_count],
    )


def _first_number() -> int:
    """No number is sent twice: they begin at the time in microseconds."""
    return time_ns() // 1_000 % int("1" + "0" * len(NUMBER))


def _line(line: Line) -> _Line:
    return _Line(
        fd=line.socket.fileno(),
        is_timed=line.is_timed,
        marker=line.marker,
        marker_length=len(line.marker),
        answer=line.answer or None,
        answer_length=len(line.answer),
    )


def _places(frame: bytes) -> Sequence[int]:
    """Where the number goes."""
    places, at = [], frame.find(NUMBER.encode())
    while at >= 0:
        places.append(at)
        at = frame.find(NUMBER.encode(), at + len(NUMBER))
    return places


@cache
def _library() -> ctypes.CDLL:
    text = SOURCE.read_bytes()
    built = BUILT / f"generator-{hashlib.sha256(text).hexdigest()[:12]}.so"
    if not built.exists():
        BUILT.mkdir(exist_ok=True)
        options = ("-O2", "-Wall", "-Wextra", "-shared", "-fPIC")
        command = ["cc", *options, "-o", str(built), str(SOURCE)]
        subprocess.run(command, check=True)
    return ctypes.CDLL(str(built))
