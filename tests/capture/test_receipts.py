"""What pipelines say that they have taken."""

from pathlib import Path

from capture.made import log
from wireloom.capture.receipts import SUFFIX, Receipts, put_receipt, take_receipt
from wireloom.capture.segment import segments


def test_without_a_mark_nothing_is_taken(tmp_path: Path) -> None:
    segment = log(tmp_path)
    assert not Receipts(tmp_path).cover(segment)
    assert take_receipt(tmp_path, "tables") is None


def test_a_segment_is_taken_when_all_its_batches_are(tmp_path: Path) -> None:
    segment = log(tmp_path, batches=3)
    put_receipt(tmp_path, "tables", {segment.name: 2})
    assert not Receipts(tmp_path).cover(segment)
    put_receipt(tmp_path, "tables", {segment.name: 3})
    assert Receipts(tmp_path).cover(segment)
    assert take_receipt(tmp_path, "tables") == {segment.name: 3}


def test_every_pipeline_must_have_taken_it(tmp_path: Path) -> None:
    segment = log(tmp_path)
    put_receipt(tmp_path, "s3://one", {segment.name: 3})
    put_receipt(tmp_path, "s3://two", {})
    assert not Receipts(tmp_path).cover(segment)
    assert Receipts(tmp_path).lacking(segment) == ["s3://two"]


def test_a_root_is_the_same_wherever_it_is_named_from(tmp_path: Path, monkeypatch: object) -> None:
    segment = log(tmp_path / "captures")
    put_receipt(tmp_path / "captures", str(tmp_path / "x" / ".." / "tables"), {segment.name: 3})
    put_receipt(tmp_path / "captures", str(tmp_path / "tables"), {segment.name: 3})
    assert len(list((tmp_path / "captures").glob(f"*{SUFFIX}"))) == 1


def test_a_damaged_mark_says_that_nothing_is_taken(tmp_path: Path) -> None:
    segment = log(tmp_path)
    put_receipt(tmp_path, "tables", {segment.name: 3})
    (path,) = tmp_path.glob(f"*{SUFFIX}")
    for raw in (b"", b"{", b"\xff", b'{"tables":"x","batches":{"a":"b"}}'):
        path.write_bytes(raw)
        assert not Receipts(tmp_path).cover(segment)
        assert Receipts(tmp_path).lacking(segment) == [str(path)]


def test_a_mark_forgets_segments_that_are_gone_and_is_no_segment(tmp_path: Path) -> None:
    segment = log(tmp_path)
    put_receipt(tmp_path, "tables", {segment.name: 3, "gone-0000000000000000": 7})
    assert take_receipt(tmp_path, "tables") == {segment.name: 3}
    assert list(segments(tmp_path)) == [segment]
    (path,) = tmp_path.glob(f"*{SUFFIX}")
    assert path.stat().st_mode & 0o777 == 0o600
