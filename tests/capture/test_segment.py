"""Names of segments, and checksums."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capture.made import log
from wireloom.capture.segment import Segment, Sum, pack_sum, quoted, segments, sum_of
from wireloom.remote import local


@given(
    node=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=16),
    sealed=st.booleans(),
)
def test_a_segment_is_found_by_its_name_whatever_the_node_is_called(
    node: str, sealed: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("captures")
    segment = Segment(folder, node, 12, sealed=sealed)
    local(segment.path).touch()
    assert list(segments(folder)) == [segment]


@pytest.mark.parametrize("node", ["", "x" * 201, "ä" * 34, "\ud800"])
def test_a_name_that_no_file_can_have_is_refused(node: str) -> None:
    with pytest.raises(ValueError, match=r"node|surrogates"):
        quoted(node)


def test_segments_come_by_node_and_sequence(tmp_path: Path) -> None:
    for node, first in [("b", 0), ("a", 10), ("a", 9)]:
        local(Segment(tmp_path, node, first, sealed=True).path).touch()
    assert [(one.node, one.first_sequence) for one in segments(tmp_path)] == [
        ("a", 9),
        ("a", 10),
        ("b", 0),
    ]


def test_other_files_are_passed_over(tmp_path: Path) -> None:
    for name in (
        "notes.txt",
        "a-12.arrow",
        "a.lock",
        "a-0000000000000000.sums",
        "-0000000000000000.arrow",
        "a%FF-0000000000000000.arrow",
        "a%41-0000000000000000.arrow",
        "ä-0000000000000000.arrow",
        "a-0000000000000000.arrow.tmp",
    ):
        (tmp_path / name).touch()
    assert list(segments(tmp_path)) == []


def test_a_folder_that_is_not_there_has_no_segments(tmp_path: Path) -> None:
    assert list(segments(tmp_path / "none")) == []


def test_a_checksum_covers_the_message_its_place_and_its_rows() -> None:
    sum_ = sum_of(b"message", end=700, rows=3)
    assert sum_.holds(b"message")
    assert not sum_.holds(b"massage")
    assert not sum_._replace(end=701).holds(b"message")
    assert not sum_._replace(rows=4).holds(b"message")


def test_checksums_come_back_from_disk_and_half_of_one_does_not_count(tmp_path: Path) -> None:
    segment = Segment(tmp_path, "a", 0, sealed=True)
    sums = [Sum(100, 1, 2), Sum(200, 3, 4)]
    segment.sums_path.write_bytes(b"".join(map(pack_sum, sums)) + b"half")
    assert segment.sums() == sums


def test_no_file_of_checksums_is_no_checksum(tmp_path: Path) -> None:
    assert Segment(tmp_path, "a", 0, sealed=True).sums() == []


def test_a_written_segment_has_a_checksum_for_every_batch(tmp_path: Path) -> None:
    segment = log(tmp_path, batches=3, size=2)
    assert [sum_.rows for sum_ in segment.sums()] == [2, 2, 2]
    assert segment.sums()[-1].end + 8 == segment.path.stat().st_size
