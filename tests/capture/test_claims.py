"""Whose log a node's name stands for."""

from pathlib import Path

import pytest

from capture.made import frame, log
from support.faults import Faults, Mood
from wireloom.capture.claims import SUFFIX, Claim, Clash, claim, claimed, clashes, identity_of
from wireloom.capture.segment import Segment, segments
from wireloom.capture.sending import send
from wireloom.capture.writer import CaptureWriter
from wireloom.remote import AnyPath, RemotePath, UnreachableError

OURS, THEIRS = Claim("mesh-01", "ab" * 16), Claim("mesh-01", "cd" * 16)


@pytest.fixture(params=["local", "remote"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> AnyPath:
    if request.param == "local":
        (tmp_path / "shared").mkdir()
        return tmp_path / "shared"
    return RemotePath(request.getfixturevalue("bucket")) / "shared"


def segment_at(folder: Path, first: int) -> Segment:
    """A segment whose first frame has a number, in a log of its own."""
    with CaptureWriter(folder, "mesh-01", begin=lambda: first) as writer:
        writer.append(frame())
    return next(segments(folder))


def test_the_first_claim_holds(folder: AnyPath) -> None:
    assert claimed(folder, "mesh-01") is None
    assert claim(folder, OURS) == OURS
    assert claim(folder, THEIRS) == OURS
    assert claim(folder, OURS) == claimed(folder, "mesh-01") == OURS
    assert claim(folder, Claim("mesh-02", THEIRS.identity)).identity == THEIRS.identity


def test_without_a_claim_a_name_belongs_to_the_log_that_is_there(
    folder: AnyPath, tmp_path: Path
) -> None:
    sent = segment_at(tmp_path / "a", 5)
    send(sent, folder)
    owner = Claim("mesh-01", identity_of(sent) or "")
    assert claim(folder, OURS) == owner
    assert claimed(folder, "mesh-01") is None
    assert claim(folder, owner) == claimed(folder, "mesh-01") == owner


def test_a_damaged_claim_is_none(tmp_path: Path) -> None:
    segment = log(tmp_path / "a")
    for raw in (b"", b"{", b'{"node": 5}'):
        (tmp_path / f"mesh-01{SUFFIX}").write_bytes(raw)
        assert claimed(tmp_path, "mesh-01") is None
        assert clashes(tmp_path, [segment]) == []


def test_segments_of_one_log_do_not_clash(folder: AnyPath, tmp_path: Path) -> None:
    for number in range(3):
        with CaptureWriter(tmp_path / "a", "mesh-01", begin=lambda: 0) as writer:
            writer.append(frame(number))
    for segment in segments(tmp_path / "a"):
        send(segment, folder)
    found = list(segments(folder))
    assert len(found) == 3
    assert clashes(folder, found) == []


def test_the_later_log_of_a_name_clashes(folder: AnyPath, tmp_path: Path) -> None:
    first, second = segment_at(tmp_path / "a", 5), segment_at(tmp_path / "b", 9)
    send(second, folder)
    send(first, folder)
    (clash,) = clashes(folder, segments(folder))
    assert clash.segment.first_sequence == 9
    assert str(identity_of(first)) in clash.detail
    assert str(identity_of(second)) in clash.detail
    assert "mesh-01" in clash.detail


def test_a_claim_says_which_log_clashes(folder: AnyPath, tmp_path: Path) -> None:
    first, second = segment_at(tmp_path / "a", 5), segment_at(tmp_path / "b", 9)
    claim(folder, Claim("mesh-01", identity_of(second) or ""))
    send(first, folder)
    send(second, folder)
    found: list[Clash] = clashes(folder, segments(folder))
    assert [one.segment.first_sequence for one in found] == [5]


def test_what_has_no_identity_clashes_with_nothing(tmp_path: Path) -> None:
    segment = log(tmp_path)
    other = tmp_path / "mesh-01-0000000000000099.arrow"
    other.write_bytes(b"no segment")
    found = list(segments(tmp_path))
    assert len(found) == 2
    assert identity_of(found[1]) is None
    assert identity_of(segment._replace(node="gone")) is None
    assert clashes(tmp_path, found) == []
    assert clashes(tmp_path / "nope", []) == []


def test_a_store_that_does_not_answer_is_no_answer(
    faults: Faults, bucket: str, tmp_path: Path
) -> None:
    folder = RemotePath(bucket) / "shared"
    send(log(tmp_path), folder)
    (segment,) = segments(folder)
    faults.fail(Mood.BUSY)
    with pytest.raises(UnreachableError):
        identity_of(segment)
    with pytest.raises(UnreachableError):
        claimed(folder, "mesh-01")
    faults.heal()
    assert identity_of(segment) is not None


def test_a_log_keeps_its_identity(tmp_path: Path) -> None:
    first = CaptureWriter(tmp_path, "mesh-01", identity="ab" * 16)
    first.append(frame())
    first.close()
    (segment,) = segments(tmp_path)
    assert first.identity == identity_of(segment) == "ab" * 16
    with CaptureWriter(tmp_path, "mesh-01") as again:
        assert again.identity == "ab" * 16
    (tmp_path / "mesh-01.lock").unlink()
    with CaptureWriter(tmp_path, "mesh-01") as again:
        assert again.identity == "ab" * 16
    for path in tmp_path.glob("mesh-01*"):
        path.unlink()
    with CaptureWriter(tmp_path, "mesh-01") as new:
        assert new.identity != "ab" * 16
