"""What is flushed survives: failures, full disks, kill -9."""

import os
import random
import shutil
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pytest

from capture.made import damage, frame, raws, sequences
from wireloom.capture import tail, writer
from wireloom.capture.frame import to_batch
from wireloom.capture.lock import NodeLockedError
from wireloom.capture.segment import segments
from wireloom.capture.writer import CaptureWriter
from wireloom.remote import local

FULL = OSError(28, "No space left on device")


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def appended(log: CaptureWriter, numbers: range) -> None:
    for number in numbers:
        log.append(frame(number))


def killed(log: CaptureWriter) -> None:
    """Leaves behind what `kill -9` does."""
    if log._open is not None:
        log._open.close()
    log._lock.release()


def states(folder: Path) -> list[bool]:
    return [segment.sealed for segment in segments(folder)]


def test_flushed_frames_are_read_in_order_with_consecutive_numbers(tmp_path: Path) -> None:
    with CaptureWriter(tmp_path / "made" / "here", "mesh-01") as log:
        appended(log, range(5))
        log.flush()
        appended(log, range(5, 8))
    assert sequences(tmp_path / "made" / "here") == list(range(8))
    assert raws(tmp_path / "made" / "here") == [b"MYMS%d" % number for number in range(8)]


def test_any_arrow_reader_opens_a_segment(tmp_path: Path) -> None:
    with CaptureWriter(tmp_path, "mesh-01") as log:
        appended(log, range(5))
    (segment,) = segments(tmp_path)
    with segment.path.open("rb") as file:
        assert pa.ipc.open_stream(file).read_all().column("sequence").to_pylist() == [0, 1, 2, 3, 4]


def test_a_writer_goes_on_where_the_last_one_ended(tmp_path: Path) -> None:
    for _ in range(3):
        with CaptureWriter(tmp_path, "mesh-01") as log:
            appended(log, range(2))
    assert sequences(tmp_path) == list(range(6))


def test_a_node_whose_segments_are_all_deleted_never_uses_a_number_twice(tmp_path: Path) -> None:
    with CaptureWriter(tmp_path, "mesh-01") as log:
        appended(log, range(5))
    for segment in segments(tmp_path):
        segment.path.unlink()
        segment.sums_path.unlink()
    with CaptureWriter(tmp_path, "mesh-01") as log:
        appended(log, range(2))
    assert sequences(tmp_path) == [5, 6]


def test_a_node_whose_last_segment_is_deleted_never_uses_a_number_twice(tmp_path: Path) -> None:
    for _ in range(2):
        with CaptureWriter(tmp_path, "mesh-01") as log:
            appended(log, range(3))
    last = list(segments(tmp_path))[-1]
    last.path.unlink()
    with CaptureWriter(tmp_path, "mesh-01") as log:
        assert log.next_sequence == 6


def test_an_open_segment_that_is_deleted_leaves_its_numbers_used(tmp_path: Path) -> None:
    log = CaptureWriter(tmp_path, "mesh-01")
    appended(log, range(3))
    log.flush()
    killed(log)
    (segment,) = segments(tmp_path)
    segment.path.unlink()
    with CaptureWriter(tmp_path, "mesh-01") as again:
        assert again.next_sequence == 3


def test_a_folder_that_is_deleted_begins_at_the_clock(tmp_path: Path) -> None:
    at = [1_700_000_000_000_000]
    folder = tmp_path / "captures"
    with CaptureWriter(folder, "mesh-01", begin=lambda: at[0]) as log:
        appended(log, range(3))
    shutil.rmtree(folder)
    at[0] += 1_000_000
    with CaptureWriter(folder, "mesh-01", begin=lambda: at[0]) as log:
        assert log.next_sequence == 1_700_000_001_000_000


def test_a_clock_that_was_set_back_does_not_set_the_numbers_back(tmp_path: Path) -> None:
    with CaptureWriter(tmp_path, "mesh-01", begin=lambda: 1_700_000_000_000_000) as log:
        appended(log, range(3))
    for segment in segments(tmp_path):
        segment.path.unlink()
    with CaptureWriter(tmp_path, "mesh-01", begin=lambda: 5) as log:
        assert log.next_sequence == 1_700_000_000_000_003


def test_a_log_of_an_older_version_goes_on_beyond_all_that_may_have_been_deleted(
    tmp_path: Path,
) -> None:
    with CaptureWriter(tmp_path, "mesh-01") as log:
        appended(log, range(3))
    (tmp_path / "mesh-01.lock").write_bytes(b"")
    with CaptureWriter(tmp_path, "mesh-01", begin=lambda: 1_000) as log:
        assert log.next_sequence == 1_000


def test_the_clock_gives_sixteen_digits() -> None:
    assert len(str(time.time_ns() // 1_000)) == 16


@pytest.mark.parametrize("umask", [0, 0o077, 0o777])
def test_files_and_folders_are_their_owners_alone(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        with CaptureWriter(tmp_path / "data" / "captures", "mesh-01") as log:
            appended(log, range(3))
            log.flush()
    finally:
        os.umask(before)
    made = sorted((tmp_path / "data").rglob("*"))
    assert len(made) == 4
    for path in (tmp_path / "data", *made):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_a_log_without_its_checksums_is_recovered_for_its_owner_alone(tmp_path: Path) -> None:
    log = CaptureWriter(tmp_path, "mesh-01")
    appended(log, range(3))
    log.flush()
    killed(log)
    (segment,) = segments(tmp_path)
    segment.sums_path.unlink()
    CaptureWriter(tmp_path, "mesh-01").close()
    assert stat.S_IMODE(local(segment.sums_path).stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "ending", [".lock", "-0000000000000000.sums", "-0000000000000000.arrow.open"]
)
def test_a_planted_symbolic_link_is_refused(tmp_path: Path, ending: str) -> None:
    (tmp_path / "captures").mkdir()
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    (tmp_path / "captures" / f"mesh-01{ending}").symlink_to(victim)
    with (
        pytest.raises(OSError, match="is a symbolic link"),
        CaptureWriter(tmp_path / "captures", "mesh-01") as log,
    ):
        appended(log, range(3))
    assert victim.read_bytes() == b"precious"


def test_a_folder_may_be_a_symbolic_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "captures").symlink_to(tmp_path / "real")
    with CaptureWriter(tmp_path / "captures", "mesh-01") as log:
        appended(log, range(3))
    assert sequences(tmp_path / "real") == [0, 1, 2]


def test_nothing_is_written_for_no_frames(tmp_path: Path) -> None:
    with CaptureWriter(tmp_path, "mesh-01") as log:
        log.flush()
        assert not log.due()
    assert states(tmp_path) == []


def test_a_second_writer_of_the_same_node_is_refused(tmp_path: Path) -> None:
    with CaptureWriter(tmp_path, "mesh-01"):
        with pytest.raises(NodeLockedError):
            CaptureWriter(tmp_path, "mesh-01")
        CaptureWriter(tmp_path, "mesh-02").close()
    CaptureWriter(tmp_path, "mesh-01").close()


def test_a_node_without_a_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no name of a node"):
        CaptureWriter(tmp_path, "")


def test_a_failed_recovery_does_not_keep_the_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(left: object) -> int:
        raise FULL

    with monkeypatch.context() as patched:
        patched.setattr(writer, "recover", fail)
        with pytest.raises(OSError, match="No space"):
            CaptureWriter(tmp_path, "mesh-01")
    CaptureWriter(tmp_path, "mesh-01").close()


def test_a_full_buffer_is_flushed_before_the_next_frame(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "FLUSH_FRAMES", 3)
    with CaptureWriter(tmp_path, "mesh-01") as log:
        appended(log, range(3))
        assert log.due()
        assert sequences(tmp_path) == []
        log.append(frame(3))
        assert sequences(tmp_path) == [0, 1, 2]
        assert log.next_sequence == 3


def test_a_buffer_of_large_frames_is_flushed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "FLUSH_BYTES", 1000)
    with CaptureWriter(tmp_path, "mesh-01") as log:
        log.append(frame(raw=bytes(999)))
        assert (log.buffered_bytes, log.due()) == (999, False)
        log.append(frame(raw=bytes(1)))
        assert log.due()
        log.append(frame())
        assert sequences(tmp_path) == [0, 1]


def test_a_frame_does_not_wait_for_longer_than_the_interval(tmp_path: Path) -> None:
    clock = Clock()
    with CaptureWriter(tmp_path, "mesh-01", flush_seconds=1.0, clock=clock) as log:
        log.append(frame(0))
        clock.now += 0.6
        log.append(frame(1))
        assert not log.due()
        clock.now += 0.4
        assert log.due()
        log.append(frame(2))
        assert sequences(tmp_path) == [0, 1]
        assert not log.due()


def test_segments_are_sealed_by_size(tmp_path: Path) -> None:
    with CaptureWriter(tmp_path, "mesh-01", seal_bytes=3000) as log:
        for number in range(4):
            log.append(frame(number, raw=bytes(1000)))
            log.flush()
        assert states(tmp_path) == [True, True]
    assert sequences(tmp_path) == [0, 1, 2, 3]


def test_segments_are_sealed_by_age(tmp_path: Path) -> None:
    clock = Clock()
    with CaptureWriter(tmp_path, "mesh-01", seal_seconds=300, clock=clock) as log:
        log.append(frame(0))
        log.flush()
        assert not log.overdue()
        clock.now += 300
        assert log.overdue()
        log.append(frame(1))
        log.flush()
        assert states(tmp_path) == [True]
        assert not log.overdue()


def test_a_batch_is_written_past_the_buffer(tmp_path: Path) -> None:
    with CaptureWriter(tmp_path, "mesh-01") as log:
        log.append(frame(9))
        log.write(to_batch([frame(0), frame(1)], first_sequence=log.next_sequence))
    assert raws(tmp_path) == [b"MYMS0", b"MYMS1", b"MYMS9"]
    assert sequences(tmp_path) == [0, 1, 2]


@pytest.mark.parametrize(
    "batch",
    [
        to_batch([frame()], first_sequence=1),
        to_batch([], first_sequence=0),
        pa.RecordBatch.from_pydict({"x": [1]}),
    ],
)
def test_a_batch_with_other_numbers_or_columns_is_refused(
    tmp_path: Path, batch: pa.RecordBatch
) -> None:
    with CaptureWriter(tmp_path, "mesh-01") as log, pytest.raises(ValueError, match="the "):
        log.write(batch)
    assert states(tmp_path) == []


class Failing:
    """Lets some writes fail: after nothing, half or all of the bytes were written."""

    def __init__(self, first: int, count: int, share: float) -> None:
        self._real = tail._write_synced
        self._failing = range(first, first + count)
        self._share = share
        self.calls = 0

    def __call__(self, file: BinaryIO, data: Any) -> None:
        call = self.calls
        self.calls += 1
        if call in self._failing:
            file.write(memoryview(data)[: int(len(data) * self._share)])
            raise FULL
        self._real(file, data)


@pytest.mark.parametrize("share", [0, 0.5, 1])
@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("first", range(14))
def test_no_failure_of_any_write_loses_or_doubles_a_frame(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: int, count: int, share: float
) -> None:
    monkeypatch.setattr(tail, "_write_synced", Failing(first, count, share))
    log = CaptureWriter(tmp_path, "mesh-01", seal_bytes=2500)
    heard = 0
    for number in range(5):
        log.append(frame(number))
        acknowledged = False
        while not acknowledged:
            try:
                log.flush()
                acknowledged = log.buffered_bytes == 0
            except OSError:
                heard += 1
        assert sequences(tmp_path) == list(range(number + 1))
    while True:
        try:
            log.seal()
            break
        except OSError:
            heard += 1
    log.close()
    assert heard or first > 9
    assert raws(tmp_path) == [b"MYMS%d" % number for number in range(5)]
    assert sequences(tmp_path) == list(range(5))
    assert damage(tmp_path) == []
    with CaptureWriter(tmp_path, "mesh-01") as again:
        assert again.next_sequence == 5
    assert all(states(tmp_path))
    assert sequences(tmp_path) == list(range(5))


def test_a_segment_that_can_be_neither_mended_nor_sealed_takes_no_further_frame(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = CaptureWriter(tmp_path, "mesh-01")
    appended(log, range(2))
    log.flush()
    with monkeypatch.context() as patched:
        patched.setattr(tail, "_write_synced", Failing(0, 99, 1))
        patched.setattr(tail, "_cut", _fail)
        log.append(frame(2))
        for _ in range(3):
            with pytest.raises(OSError, match="No space"):
                log.flush()
    log.close()
    assert sequences(tmp_path) == [0, 1, 2]
    assert raws(tmp_path) == [b"MYMS0", b"MYMS1", b"MYMS2"]


def _fail(*args: Any) -> None:
    raise FULL


def test_a_torn_segment_that_cannot_be_sealed_stays_open_and_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = CaptureWriter(tmp_path, "mesh-01")
    log.append(frame(0))
    log.flush()
    with monkeypatch.context() as patched:
        patched.setattr(tail, "_write_synced", Failing(0, 1, 0.5))
        log.append(frame(1))
        with pytest.raises(OSError, match="No space"):
            log.flush()
    with monkeypatch.context() as patched:
        patched.setattr(tail, "_rename", _fail)
        log.flush()
    assert states(tmp_path) == [False, False]
    assert sequences(tmp_path) == [0, 1]
    log.close()
    assert states(tmp_path) == [False, True]
    CaptureWriter(tmp_path, "mesh-01").close()
    assert states(tmp_path) == [True, True]
    assert sequences(tmp_path) == [0, 1]


def test_a_torn_segment_that_is_sealed_but_not_synced_is_done_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = CaptureWriter(tmp_path, "mesh-01")
    log.append(frame(0))
    log.flush()
    with monkeypatch.context() as patched:
        patched.setattr(tail, "_write_synced", Failing(0, 1, 0.5))
        log.append(frame(1))
        with pytest.raises(OSError, match="No space"):
            log.flush()
    with monkeypatch.context() as patched:
        patched.setattr(tail, "_sync_folder", _fail)
        with pytest.raises(OSError, match="No space"):
            log.flush()
    log.close()
    assert states(tmp_path) == [True, True]
    assert sequences(tmp_path) == [0, 1]


def test_a_segment_in_which_nothing_could_be_written_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = CaptureWriter(tmp_path, "mesh-01")
    with monkeypatch.context() as patched:
        patched.setattr(tail, "_write_synced", Failing(1, 1, 0.5))
        with pytest.raises(OSError, match="No space"):
            log.write(to_batch([frame(0)], first_sequence=0))
    log.close()
    assert states(tmp_path) == []
    with CaptureWriter(tmp_path, "mesh-01") as again:
        assert again.next_sequence == 0


def test_a_full_buffer_takes_no_frame_while_the_disk_takes_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "FLUSH_FRAMES", 3)
    log = CaptureWriter(tmp_path, "mesh-01")
    appended(log, range(3))
    with monkeypatch.context() as patched:
        patched.setattr(tail, "_write_synced", Failing(0, 99, 0.5))
        for _ in range(5):
            with pytest.raises(OSError, match="No space"):
                log.append(frame(3))
    log.append(frame(3))
    log.close()
    assert raws(tmp_path) == [b"MYMS0", b"MYMS1", b"MYMS2", b"MYMS3"]


def test_closing_on_a_full_disk_is_heard_and_frees_the_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = CaptureWriter(tmp_path, "mesh-01")
    log.append(frame(0))
    log.flush()
    log.append(frame(1))
    with monkeypatch.context() as patched:
        patched.setattr(tail, "_write_synced", Failing(0, 99, 0.5))
        with pytest.raises(OSError, match="No space"):
            log.close()
    CaptureWriter(tmp_path, "mesh-01").close()
    assert sequences(tmp_path) == [0]


def test_sealing_that_failed_can_be_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = CaptureWriter(tmp_path, "mesh-01")
    log.append(frame(0))
    log.flush()
    with monkeypatch.context() as patched:
        patched.setattr(tail, "_write_synced", Failing(0, 99, 0.5))
        for _ in range(2):
            with pytest.raises(OSError, match="No space"):
                log.seal()
    log.seal()
    log.seal()
    assert states(tmp_path) == [True]
    log.close()
    assert damage(tmp_path) == []


def test_a_segment_that_is_sealed_but_whose_folder_cannot_be_synced_is_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = CaptureWriter(tmp_path, "mesh-01")
    log.append(frame(0))
    log.flush()
    with monkeypatch.context() as patched:
        patched.setattr(tail, "_sync_folder", _fail)
        with pytest.raises(OSError, match="No space"):
            log.seal()
    log.append(frame(1))
    log.close()
    assert states(tmp_path) == [True, True]
    assert sequences(tmp_path) == [0, 1]


def test_what_is_alike_is_compressed_and_what_is_not_stays_plain(tmp_path: Path) -> None:
    for name, is_alike in (("alike", True), ("random", False)):
        with CaptureWriter(tmp_path / name, "mesh-01") as log:
            for number in range(100):
                raw = bytes(1000) if is_alike else random.randbytes(1000)
                log.append(frame(number, raw=raw))
        (segment,) = segments(tmp_path / name)
        size = segment.path.stat().st_size
        assert size < 20_000 if is_alike else size > 100_000
        assert sequences(tmp_path / name) == list(range(100))
        with pa.OSFile(str(segment.path)) as file:
            assert pa.ipc.open_stream(file).read_all().num_rows == 100


LIMITED = """
import resource, sys
from pathlib import Path
from random import randbytes
from capture.made import frame
from wireloom.capture.writer import CaptureWriter
log = CaptureWriter(Path(sys.argv[1]), "mesh-01", begin=int)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
failures = 0
for number in range(200):
    log.append(frame(number, raw=b"%d\\0\\0" % number + randbytes(1000)))
    if number % 10 == 9:
        try:
            log.flush()
        except OSError as error:
            failures += 1
            resource.setrlimit(resource.RLIMIT_FSIZE, (100_000 * (failures + 1), -1))
            log.flush()
log.close()
print(failures, log.next_sequence)
"""


def test_a_real_limit_of_the_system_is_heard_and_the_writer_goes_on(tmp_path: Path) -> None:
    done = _python(LIMITED, tmp_path)
    failures, next_sequence = done.stdout.split()
    assert int(failures) >= 1
    assert int(next_sequence) == 200
    assert sequences(tmp_path) == list(range(200))
    assert [int(raw[:3].rstrip(b"\0")) for raw in raws(tmp_path)] == list(range(200))
    assert damage(tmp_path) == []


ENDLESS = """
import sys
from pathlib import Path
from capture.made import frame
from wireloom.capture.writer import CaptureWriter
from wireloom.remote import local
log = CaptureWriter(Path(sys.argv[1]), "mesh-01", seal_bytes=20_000, begin=int)
number = log.next_sequence
while True:
    for _ in range(7):
        log.append(frame(number, raw=b"%d" % number))
        number += 1
    log.flush()
    print(log.next_sequence, flush=True)
"""


def test_nothing_that_was_flushed_is_lost_to_kill_9(tmp_path: Path) -> None:
    source = random.Random(9)
    acknowledged = 0
    for _ in range(5):
        command = [sys.executable, "-c", ENDLESS, str(tmp_path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=_environment()) as process:
            assert process.stdout is not None
            assert process.stdout.readline()
            time.sleep(source.random() * 0.2)
            process.kill()
            printed = process.stdout.read().split(b"\n")[:-1]
        acknowledged = max([acknowledged, *map(int, printed)])
        found = sequences(tmp_path)
        assert found == list(range(len(found)))
        assert len(found) >= acknowledged
    CaptureWriter(tmp_path, "mesh-01").close()
    assert acknowledged > 100
    assert raws(tmp_path) == [b"%d" % number for number in range(len(found))]
    assert damage(tmp_path) == []
    assert all(states(tmp_path))


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}


def _python(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script, str(folder)],
        capture_output=True,
        text=True,
        check=True,
        env=_environment(),
    )
