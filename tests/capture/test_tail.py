"""Segments being written, and what a crash leaves of one."""

from pathlib import Path

import pytest

from capture.made import damage, frame, log, raws, sequences, spoil
from wireloom.capture.frame import to_batch
from wireloom.capture.segment import Segment, segments
from wireloom.capture.stream import END, HEAD
from wireloom.capture.tail import OpenSegment
from wireloom.capture.tail import recover as recovered
from wireloom.remote import local


def begun(folder: Path, first: int = 0) -> OpenSegment:
    return OpenSegment(Segment(folder, "a", first, sealed=False), 0.0, identity="ab" * 16)


def written(folder: Path, count: int = 2) -> OpenSegment:
    tail = begun(folder)
    for number in range(count):
        tail.write(to_batch([frame(number, node="a")], first_sequence=number))
    return tail


def recover(folder: Path, node: str) -> int | None:
    return recovered(one for one in segments(folder) if one.node == node)


def crashed(folder: Path, count: int = 2) -> Segment:
    """A segment that was open when its process ended."""
    tail = written(folder, count)
    tail.close()
    return tail.segment


def test_what_is_written_is_read_while_the_segment_is_open(tmp_path: Path) -> None:
    tail = written(tmp_path)
    assert sequences(tmp_path) == [0, 1]
    tail.close()


def test_a_sealed_segment_has_an_end_and_another_name(tmp_path: Path) -> None:
    tail = written(tmp_path)
    tail.seal()
    (segment,) = segments(tmp_path)
    assert segment.sealed
    assert tail.segment == segment
    assert segment.path.read_bytes().endswith(END)


def test_sealing_never_replaces_a_sealed_segment(tmp_path: Path) -> None:
    written(tmp_path).seal()
    again = written(tmp_path)
    with pytest.raises(FileExistsError, match="never changes"):
        again.seal()
    assert again.torn
    again.close()


def test_mending_cuts_off_what_lies_beyond_the_last_batch(tmp_path: Path) -> None:
    tail = written(tmp_path)
    for path in (tail.segment.path, tail.segment.sums_path):
        with path.open("ab") as file:
            file.write(bytes(16))
    tail.torn = True
    tail.mend()
    tail.write(to_batch([frame(2, node="a")], first_sequence=2))
    tail.seal()
    assert sequences(tmp_path) == [0, 1, 2]
    assert damage(tmp_path) == []


def test_a_segment_that_cannot_be_begun_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(folder: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("wireloom.capture.tail._sync_folder", fail)
    with pytest.raises(OSError, match="No space"):
        begun(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_segment_whose_file_cannot_be_made_leaves_no_checksums(tmp_path: Path) -> None:
    local(Segment(tmp_path, "a", 0, sealed=False).path).mkdir()
    with pytest.raises(OSError, match="directory"):
        begun(tmp_path)


def test_an_empty_folder_tells_no_number(tmp_path: Path) -> None:
    assert recover(tmp_path, "a") is None


def test_recovery_seals_what_was_open_and_goes_on_numbering(tmp_path: Path) -> None:
    crashed(tmp_path)
    assert recover(tmp_path, "a") == 2
    (segment,) = segments(tmp_path)
    assert segment.sealed
    assert sequences(tmp_path) == [0, 1]


def test_recovery_leaves_other_nodes_alone(tmp_path: Path) -> None:
    crashed(tmp_path)
    assert recover(tmp_path, "b") is None
    (segment,) = segments(tmp_path)
    assert not segment.sealed


@pytest.mark.parametrize("kept", [1, 50, 500])
def test_recovery_cuts_off_a_batch_without_checksum(tmp_path: Path, kept: int) -> None:
    segment = crashed(tmp_path)
    whole = segment.path.read_bytes()
    with segment.path.open("ab") as file:
        file.write(whole[len(HEAD) : len(HEAD) + kept])
    with segment.sums_path.open("ab") as file:
        file.write(b"half a sum")
    assert recover(tmp_path, "a") == 2
    assert segment._replace(sealed=True).path.read_bytes() == whole + END
    assert segment.sums_path.stat().st_size == 32
    assert sequences(tmp_path) == [0, 1]


def test_recovery_removes_a_segment_without_batches(tmp_path: Path) -> None:
    crashed(tmp_path, 0)
    assert recover(tmp_path, "a") == 0
    assert list(segments(tmp_path)) == []
    assert list(tmp_path.iterdir()) == []


def test_recovery_keeps_the_numbers_of_a_removed_segment_free_of_doubles(tmp_path: Path) -> None:
    begun(tmp_path, 40).close()
    assert recover(tmp_path, "a") == 40


def test_recovery_keeps_what_can_be_read_when_somebody_took_the_checksums(tmp_path: Path) -> None:
    segment = crashed(tmp_path)
    segment.sums_path.unlink()
    assert recover(tmp_path, "a") == 2
    assert sequences(tmp_path) == [0, 1]
    assert segment.sums_path.stat().st_size == 32


@pytest.mark.parametrize("spoilt", ["sums", "last batch", "no sums", "all"])
def test_no_number_is_given_twice_after_damage_to_a_sealed_segment(
    tmp_path: Path, spoilt: str
) -> None:
    segment = log(tmp_path, batches=3, size=2)
    if spoilt == "sums":
        segment.sums_path.write_bytes(segment.sums_path.read_bytes()[:16])
    elif spoilt == "last batch":
        spoil(segment.path, segment.path.stat().st_size - 20)
    elif spoilt == "no sums":
        segment.sums_path.unlink()
    else:
        segment.path.write_bytes(b"")
    assert recover(tmp_path, "mesh-01") == 6


def test_a_segment_of_which_nothing_is_left_keeps_its_name(tmp_path: Path) -> None:
    Segment(tmp_path, "a", 10, sealed=True).path.write_bytes(b"")
    assert recover(tmp_path, "a") == 11


def test_a_file_shorter_than_its_checksums_is_damage_and_nothing_worse(tmp_path: Path) -> None:
    segment = crashed(tmp_path)
    segment.path.write_bytes(segment.path.read_bytes()[:-100])
    assert recover(tmp_path, "a") == 2
    assert sequences(tmp_path) == [0]
    assert [one.batch for one in damage(tmp_path)] == [1]
    assert raws(tmp_path) == [b"MYMS0"]


def test_no_flipped_bit_of_a_checksum_cuts_extends_or_stops_anything(tmp_path: Path) -> None:
    segment = crashed(tmp_path, 3)
    good, whole = segment.sums_path.read_bytes(), segment.path.read_bytes()
    sealed = segment._replace(sealed=True)
    for bit in range(8 * len(good)):
        spoilt = bytearray(good)
        spoilt[bit // 8] ^= 1 << bit % 8
        segment.sums_path.write_bytes(spoilt)
        segment.path.write_bytes(whole)
        assert recover(tmp_path, "a") == 3, bit
        assert sealed.path.read_bytes() == whole + END
        assert segment.sums_path.read_bytes() == good
        assert sequences(tmp_path) == [0, 1, 2]
        sealed.path.unlink()


def test_no_flipped_bit_of_a_segment_costs_more_than_its_batch(tmp_path: Path) -> None:
    segment = crashed(tmp_path, 3)
    good, whole = segment.sums_path.read_bytes(), segment.path.read_bytes()
    sealed = segment._replace(sealed=True)
    for bit in range(0, 8 * len(whole), 61):
        spoilt = bytearray(whole)
        spoilt[bit // 8] ^= 1 << bit % 8
        segment.path.write_bytes(spoilt)
        assert recover(tmp_path, "a") == 3, bit
        assert sealed.path.stat().st_size == len(whole) + len(END)
        assert len(sequences(tmp_path)) >= 2
        assert segment.sums_path.read_bytes() == good
        sealed.path.unlink()


def test_a_file_shorter_than_its_checksums_is_not_made_longer(tmp_path: Path) -> None:
    segment = crashed(tmp_path)
    cut = segment.path.read_bytes()[:-100]
    segment.path.write_bytes(cut)
    recover(tmp_path, "a")
    assert segment._replace(sealed=True).path.read_bytes() == cut + END
