"""What pipelines say that they have taken."""

from pathlib import Path

from capture.made import log
from wireloom.capture.receipts import SUFFIX, Receipts, keep_receipt, put_receipt, take_receipt
from wireloom.capture.segment import segments
from wireloom.capture.sending import send
from wireloom.remote import RemotePath


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


def test_a_receipt_of_a_node_is_about_its_segments_only(tmp_path: Path) -> None:
    ours, theirs = log(tmp_path, node="a"), log(tmp_path, node="b")
    put_receipt(tmp_path, "s3://shared", {ours.name: 3}, node="a")
    assert take_receipt(tmp_path, "s3://shared", node="a") == {ours.name: 3}
    assert take_receipt(tmp_path, "s3://shared", node="b") is None
    assert [Receipts(tmp_path).cover(one) for one in (ours, theirs)] == [True, False]
    assert Receipts(tmp_path).lacking(theirs) == []
    put_receipt(tmp_path, "tables", {theirs.name: 3})
    assert [Receipts(tmp_path).cover(one) for one in (ours, theirs)] == [False, True]


def test_a_node_that_ships_elsewhere_takes_its_old_receipt_back(tmp_path: Path) -> None:
    segment = log(tmp_path, node="a")
    put_receipt(tmp_path, "tables", {segment.name: 3})
    put_receipt(tmp_path, "s3://old", {}, node="a")
    put_receipt(tmp_path, "s3://theirs", {}, node="b")
    keep_receipt(tmp_path, "s3://new", node="a")
    assert Receipts(tmp_path).cover(segment)
    assert take_receipt(tmp_path, "s3://theirs", node="b") == {}


def test_receipts_lie_on_object_storage_too(bucket: str, tmp_path: Path) -> None:
    folder = RemotePath(bucket) / "captures"
    send(log(tmp_path), folder)
    (segment,) = segments(folder)
    assert not Receipts(folder).cover(segment)
    put_receipt(folder, "tables", {segment.name: 3})
    assert Receipts(folder).cover(segment)
    assert take_receipt(folder, "tables") == {segment.name: 3}
    assert not Receipts(RemotePath(bucket) / "nothing").cover(segment)
