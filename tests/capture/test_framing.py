"""How large a message is, before it is read."""

import random
import struct
import subprocess
import sys

import pyarrow as pa
import pytest

from capture.made import frame
from wireloom.capture.frame import SCHEMA, to_batch
from wireloom.capture.framing import (
    MAX_BATCH_SIZE,
    PREFIX_SIZE,
    batch_size,
    body_size,
    metadata_size,
)
from wireloom.capture.stream import END, HEAD, put_batch, take_batch

BATCH = to_batch([frame(number, raw=bytes(1_000)) for number in range(100)], first_sequence=0)
PLAIN = bytes(put_batch(BATCH, is_compressed=False))
PACKED = bytes(put_batch(BATCH, is_compressed=True))


def zstd() -> bytes:
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    pa.ipc.new_stream(sink, SCHEMA, options=options).write_batch(BATCH)
    return bytes(memoryview(sink.getvalue())[len(HEAD) :])


@pytest.mark.parametrize("message", [PLAIN, PACKED, zstd()], ids=["plain", "lz4", "zstd"])
def test_the_sizes_of_a_message_are_those_that_it_has(message: bytes) -> None:
    first = metadata_size(message[:PREFIX_SIZE])
    assert first is not None
    body = body_size(message[PREFIX_SIZE : PREFIX_SIZE + first])
    assert body is not None
    assert PREFIX_SIZE + first + body == len(message)
    taken = take_batch(message)
    assert isinstance(taken, pa.RecordBatch)
    size = batch_size(message)
    assert size is not None
    assert taken.nbytes <= size < taken.nbytes + 10_000


def bomb(size: int) -> bytes:
    """A small batch of which one buffer says that it becomes `size` bytes."""
    head, declared, tail = PACKED.rpartition(struct.pack("<q", 100 * 1_000))
    assert declared
    return head + struct.pack("<q", size) + tail


@pytest.mark.parametrize("size", [MAX_BATCH_SIZE + 1, 1 << 40, (1 << 63) - 1, -(1 << 62)])
def test_a_batch_that_would_become_too_large_is_not_decompressed(size: int) -> None:
    assert take_batch(bomb(size)) == "no batch of frames: larger than a batch may be"


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2)
from capture.test_framing import bomb
from wireloom.capture.stream import take_batch
for power in range(28, 63):
    assert isinstance(take_batch(bomb(1 << power | 7)), str)
"""


def test_no_claim_takes_memory() -> None:
    """The process may not have as much as the smallest claim says beside what it has anyway."""
    command = [sys.executable, "-c", LIMITED, str(3 << 30)]
    subprocess.run(command, check=True, env={"PYTHONPATH": ":".join(sys.path)})


@pytest.mark.parametrize("raw", [b"", b"x", END, b"\xff" * 8, b"\xff" * 4 + b"\0\0\0\x7f"])
def test_what_is_no_message_has_no_size(raw: bytes) -> None:
    assert metadata_size(raw) is None
    assert batch_size(raw) is None
    assert body_size(raw) is None


@pytest.mark.parametrize("message", [PLAIN, PACKED])
def test_no_flipped_bit_of_the_metadata_raises(message: bytes) -> None:
    first = metadata_size(message[:PREFIX_SIZE])
    assert first is not None
    for bit in range(8 * (PREFIX_SIZE + first + 16)):
        spoilt = bytearray(message)
        spoilt[bit // 8] ^= 1 << bit % 8
        assert (batch_size(bytes(spoilt)) or 0) >= 0
        body_size(bytes(spoilt[PREFIX_SIZE : PREFIX_SIZE + first]))
        take_batch(bytes(spoilt))


def test_no_random_bytes_raise() -> None:
    source = random.Random(7)
    for _ in range(2_000):
        raw = source.randbytes(source.randrange(200))
        body_size(raw)
        batch_size(b"\xff\xff\xff\xff" + struct.pack("<I", len(raw)) + raw)
