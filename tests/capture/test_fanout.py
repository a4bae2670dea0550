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
        for node in "abac":
            out.append(frame(node=node))
        out.flush()
        assert len(out._writers) == 2
        closed, held = (
            next(one for one in "abc" if one not in out._writers),
            next(iter(out._writers)),
        )
        CaptureWriter(tmp_path, closed).close()
        with pytest.raises(OSError, match="another process"):
            CaptureWriter(tmp_path, held)
    assert len(sequences(tmp_path)) == 4


def test_a_node_that_comes_again_goes_on_with_its_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fanout, "MAX_WRITERS", 1)
    for _ in range(2):
        with Fanout(tmp_path) as out:
            for number in range(6):
                out.append(frame(number, node="ab"[number % 2]))
                out.flush()
    assert sequences(tmp_path) == [*range(6), *range(6)]


def test_the_folder_is_listed_once_for_all_nodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = []
    real = Path.iterdir

    def iterdir(self: Path) -> object:
        listed.append(self)
        return real(self)

    monkeypatch.setattr(Path, "iterdir", iterdir)
    monkeypatch.setattr(fanout, "MAX_WRITERS", 3)
    with Fanout(tmp_path) as out:
        for number in range(60):
            out.append(frame(number, node=f"node-{number % 20}"))
    assert len(listed) == 1
    assert len(nodes(tmp_path)) == 20


def test_all_buffers_together_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fanout, "MAX_BUFFERED_BYTES", 1_000)
    with Fanout(tmp_path) as out:
        out.append(frame(node="a", raw=bytes(100)))
        assert sequences(tmp_path) == []
        out.append(frame(node="b", raw=bytes(100)))
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
