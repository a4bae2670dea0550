"""Putting a sealed segment somewhere else."""

from pathlib import Path

import pytest

from capture.made import log, sequences
from support.faults import Faults, Mood
from wireloom.capture import sending
from wireloom.capture.reader import Damage, batch_count, known_sums, read, read_segment
from wireloom.capture.segment import segments
from wireloom.capture.sending import send
from wireloom.remote import AnyPath, RemotePath, UnreachableError, local


@pytest.fixture(params=["local", "remote"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> AnyPath:
    if request.param == "local":
        return tmp_path / "far" / "away"
    return RemotePath(request.getfixturevalue("bucket")) / "far"


def names(folder: AnyPath) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_segment_arrives_as_it_is(target: AnyPath, tmp_path: Path) -> None:
    segment = log(tmp_path / "here", batches=5)
    assert send(segment, target) == 0
    (there,) = segments(target)
    assert there == segment._replace(folder=target)
    assert there.path.read_bytes() == segment.path.read_bytes()
    assert known_sums(there) == known_sums(segment)
    assert batch_count(there) == 5
    assert list(read_segment(there, start=2)) == list(read_segment(segment, start=2))
    assert names(target) == [segment.path.name, segment.sums_path.name]


def test_what_is_there_is_not_sent_again_and_never_replaced(
    target: AnyPath, tmp_path: Path
) -> None:
    segment = log(tmp_path / "here")
    send(segment, target)
    there = segment._replace(folder=target)
    before = there.path.stat()
    assert send(segment, target) == 0
    assert there.path.stat() == before
    there.path.write_bytes(b"another")
    with pytest.raises(FileExistsError, match="is there already with 7 bytes"):
        send(segment, target)


def test_damage_is_sent_too_and_counted(target: AnyPath, tmp_path: Path) -> None:
    segment = log(tmp_path / "here", batches=4)
    raw = bytearray(segment.path.read_bytes())
    raw[known_sums(segment)[1].end - 20] ^= 8
    segment.path.write_bytes(raw)
    assert send(segment, target) == 1
    (there,) = segments(target)
    assert there.path.read_bytes() == raw
    damage = [one.batch for one in read(target) if isinstance(one, Damage)]
    assert damage == [1]


def test_a_segment_without_checksums_is_sent(target: AnyPath, tmp_path: Path) -> None:
    segment = log(tmp_path / "here")
    local(segment.sums_path).unlink()
    assert send(segment, target) == 0
    assert names(target) == [segment.path.name]
    assert batch_count(next(segments(target))) == 3


def test_what_has_not_arrived_is_not_there(
    target: AnyPath, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    segment = log(tmp_path / "here")
    with monkeypatch.context() as broken:
        broken.setattr(sending, "_copied", lambda segment, file, target: target.write(b"short"))
        with pytest.raises(OSError, match=r"5 of .* bytes have arrived"):
            send(segment, target)
    assert list(segments(target)) == []
    assert send(segment, target) == 0
    assert len(list(segments(target))) == 1


@pytest.mark.parametrize("after", range(8))
@pytest.mark.parametrize("mood", [Mood.BUSY, Mood.DROPPING])
def test_a_store_that_goes_away_at_any_request_leaves_nothing_half_visible(
    faults: Faults, bucket: str, tmp_path: Path, mood: Mood, after: int
) -> None:
    target = RemotePath(bucket)
    segment = log(tmp_path)
    faults.fail(mood, skip=after)
    try:
        send(segment, target)
    except UnreachableError:
        faults.heal()
        assert sequences(target) in ([], sequences(tmp_path))
    faults.heal()
    send(segment, target)
    assert sequences(target) == sequences(tmp_path)
