"""Many nodes, few writers."""

from pathlib import Path

import pytest

from capture.made import frame, sequences
from wireloom.capture import fanout
from wireloom.capture.fanout import Fanout
from wireloom.capture.segment import segments
from wireloom.capture.writer import CaptureWriter


def nodes(folder: Path) -> dict[str, int]:
    return {one.node: sum(sum_.rows for sum_ in one.sums()) for one in segments(folder)}


def test_each_node_has_segments_of_its_own(tmp_path: Path) -> None:
    with Fanout(tmp_path) as out:
        for number in range(9):
            out.append(frame(number, node=f"node-{number % 3}"))
    assert nodes(tmp_path) == {"node-0": 3, "node-1": 3, "node-2": 3}
    assert all(segment.sealed for segment in segments(tmp_path))


def test_few_writers_are_open_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fanout, "MAX_WRITERS", 2)
    with Fanout(tmp_path) as out:
        out.append(frame(node="a"))
        out.append(frame(node="b"))
        out.append(frame(node="a"))
        out.append(frame(node="c"))
        CaptureWriter(tmp_path, "b").close()
        with pytest.raises(OSError, match="another process"):
            CaptureWriter(tmp_path, "a")
    assert len(sequences(tmp_path)) == 4


def test_all_buffers_together_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fanout, "MAX_BUFFERED_BYTES", 100)
    with Fanout(tmp_path) as out:
        out.append(frame(node="a", raw=bytes(60)))
        assert sequences(tmp_path) == []
        out.append(frame(node="b", raw=bytes(60)))
        assert sequences(tmp_path) == [0, 0]


def test_a_failure_at_one_node_is_heard_after_the_others_are_sealed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = CaptureWriter.close

    def close(self: CaptureWriter) -> None:
        real(self)
        if self._node == "b":
            raise OSError(28, "No space left on device")

    out = Fanout(tmp_path)
    for node in "abc":
        out.append(frame(node=node))
    monkeypatch.setattr(CaptureWriter, "close", close)
    with pytest.raises(OSError, match="No space"):
        out.close()
    assert nodes(tmp_path) == {"a": 1, "b": 1, "c": 1}
