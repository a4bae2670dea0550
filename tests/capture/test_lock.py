"""One writer a node."""

import subprocess
import sys
from pathlib import Path

import pytest

from wireloom.capture.lock import NodeLock, NodeLockedError

HOLD = """
import sys
from pathlib import Path
from wireloom.capture.lock import NodeLock
lock = NodeLock(Path(sys.argv[1]), "a")
print("held", flush=True)
sys.stdin.read()
"""


def test_a_second_lock_is_refused_until_the_first_is_released(tmp_path: Path) -> None:
    first = NodeLock(tmp_path, "a")
    with pytest.raises(NodeLockedError, match="another process is writing frames of a to"):
        NodeLock(tmp_path, "a")
    first.release()
    NodeLock(tmp_path, "a").release()


def test_other_nodes_and_other_folders_are_free(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    locks = [NodeLock(tmp_path, "a"), NodeLock(tmp_path, "b"), NodeLock(tmp_path / "other", "a")]
    for lock in locks:
        lock.release()


def test_a_process_that_is_killed_holds_no_lock(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(NodeLockedError):
            NodeLock(tmp_path, "a")
        holder.kill()
        holder.wait()
    NodeLock(tmp_path, "a").release()


def test_a_folder_that_is_not_there_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        NodeLock(tmp_path / "none", "a")


def test_the_next_number_is_kept_in_the_locks_file(tmp_path: Path) -> None:
    lock = NodeLock(tmp_path, "a")
    assert lock.noted() is None
    lock.note(7)
    lock.note(1_700_000_000_000_000)
    lock.release()
    again = NodeLock(tmp_path, "a")
    assert again.noted() == 1_700_000_000_000_000
    again.release()


def test_no_flipped_bit_gives_another_number(tmp_path: Path) -> None:
    lock = NodeLock(tmp_path, "a")
    lock.note(1_700_000_000_000_000)
    path = tmp_path / "a.lock"
    whole = path.read_bytes()
    for bit in range(8 * len(whole)):
        spoilt = bytearray(whole)
        spoilt[bit // 8] ^= 1 << bit % 8
        path.write_bytes(spoilt)
        assert lock.noted() is None
    lock.release()
