"""Compressed files."""

import gzip
import io
from pathlib import Path
from typing import cast

import pytest
import zstandard

from wireloom.capture.importers import inputs
from wireloom.capture.importers.inputs import decompressed
from wireloom.capture.refusal import UnreadableError

TEXT = b"".join(b"line %d\n" % number for number in range(50_000))


def read(raw: bytes) -> bytes:
    return decompressed(io.BytesIO(raw)).read()


@pytest.mark.parametrize("text", [b"", b"x", TEXT])
def test_what_is_compressed_is_read_as_it_was(text: bytes) -> None:
    assert read(gzip.compress(text)) == text
    assert read(zstandard.compress(text)) == text
    assert read(text) == text


def test_files_one_after_the_other_are_one(tmp_path: Path) -> None:
    for compress in (gzip.compress, zstandard.compress):
        raw = compress(b"{") + compress(b"}") + compress(TEXT)
        file = decompressed(io.BytesIO(raw))
        assert cast("io.BufferedReader", file).peek(3)[:3] == b"{}l"
        assert file.read() == b"{}" + TEXT


@pytest.mark.parametrize("compress", [gzip.compress, zstandard.compress])
def test_no_damage_raises_anything_else(compress: object) -> None:
    good = gzip.compress(TEXT[:2_000]) if compress is gzip.compress else zstandard.compress(TEXT)
    for size in range(4, len(good), 97):
        try:
            assert TEXT.startswith(read(good[:size]))
        except UnreadableError as error:
            assert "damaged compression" in str(error)
    for bit in range(40, 8 * len(good), 1_009):
        spoilt = bytearray(good)
        spoilt[bit // 8] ^= 1 << bit % 8
        try:
            read(bytes(spoilt))
        except UnreadableError as error:
            assert "damaged compression" in str(error)


@pytest.mark.parametrize("compress", [gzip.compress, zstandard.compress])
def test_a_bomb_is_not_read_to_its_end(compress: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "FREE_SIZE", 1_000)
    monkeypatch.setattr(inputs, "MAX_RATIO", 100)
    bomb = bytes(10_000_000)
    raw = gzip.compress(bomb) if compress is gzip.compress else zstandard.compress(bomb)
    with pytest.raises(UnreadableError, match="too large when it is decompressed"):
        read(raw)


def test_a_zstd_window_is_bounded() -> None:
    settings = zstandard.ZstdCompressionParameters(window_log=30, compression_level=1)
    compressor = zstandard.ZstdCompressor(compression_params=settings).compressobj()
    raw = compressor.compress(TEXT) + compressor.flush()
    with pytest.raises(UnreadableError, match="damaged compression"):
        read(raw)
