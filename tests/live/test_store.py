"""The store: on disk before anyone is told so."""

import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from queue import Queue
from typing import Any

import pytest

from wireloom.live.store import RecordStore, StoreError
from wireloom.wire.session import Store


class Owner:
    """Stands in for the loop: runs what the store's thread calls."""

    def __init__(self, store: RecordStore) -> None:
        self.store = store
        self.synced: list[int] = []
        self.failures: list[StoreError] = []
        self._calls: Queue[tuple[Callable[..., object], tuple[Any, ...]]] = Queue()
        store.start(synced=self.synced.append, failed=self.failures.append, call=self._call)

    def _call(self, function: Callable[..., object], *arguments: Any) -> None:
        self._calls.put((function, arguments))

    def step(self) -> None:
        function, arguments = self._calls.get(timeout=10)
        function(*arguments)


def put(store: RecordStore, key: str, value: bytes | None) -> int:
    return store.put(("hub", "queued", key), value)


def loaded(path: Path, protocol: str = "hub") -> dict[str, bytes]:
    store = RecordStore(path)
    found = {record.key: record.value for record in store.load(protocol)}
    store.close()
    return found


def test_records_are_on_disk_when_their_ticket_is_told(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "store.db"
    owner = Owner(RecordStore(path))
    ticket = put(owner.store, "a", b"1")
    assert put(owner.store, "b", b"2") == ticket
    owner.store.commit()
    assert owner.synced == []
    owner.step()
    assert owner.synced == [ticket]
    copy = tmp_path / "copy.db"
    for suffix in ("", "-wal"):
        (tmp_path / f"copy.db{suffix}").write_bytes(Path(f"{path}{suffix}").read_bytes())
    assert loaded(copy) == {"a": b"1", "b": b"2"}
    owner.store.close()
    assert path.stat().st_mode & 0o777 == 0o600


def test_records_that_come_while_a_commit_runs_go_together_in_the_next(tmp_path: Path) -> None:
    times: list[float] = []
    owner = Owner(RecordStore(tmp_path / "store.db"))
    owner.store.sync_seconds = times.append
    first = put(owner.store, "a", b"1")
    owner.store.commit()
    second = put(owner.store, "b", b"2")
    owner.store.commit()
    assert put(owner.store, "c", b"3") == second != first
    assert owner.store.waiting == 2
    owner.step()
    owner.step()
    assert owner.synced == [first, second]
    assert len(times) == 2
    assert owner.store.waiting == 0
    owner.store.close()
    assert loaded(tmp_path / "store.db") == {"a": b"1", "b": b"2", "c": b"3"}


def test_the_last_word_on_a_record_counts(tmp_path: Path) -> None:
    owner = Owner(RecordStore(tmp_path / "store.db"))
    for key, value in (("a", b"1"), ("a", b"2"), ("b", b"1"), ("b", None), ("c", None)):
        put(owner.store, key, value)
    owner.store.commit()
    owner.step()
    put(owner.store, "a", None)
    put(owner.store, "b", b"3")
    owner.store.close()
    assert loaded(tmp_path / "store.db") == {"b": b"3"}


@pytest.mark.parametrize("count", [1, 5, 300, 1_000])
def test_many_records_at_once(tmp_path: Path, count: int) -> None:
    owner = Owner(RecordStore(tmp_path / "store.db"))
    for number in range(count):
        put(owner.store, str(number), b"%d" % number)
    owner.store.commit()
    owner.step()
    for number in range(0, count, 2):
        put(owner.store, str(number), None)
    owner.store.close()
    assert loaded(tmp_path / "store.db") == {
        str(number): b"%d" % number for number in range(1, count, 2)
    }


def test_records_come_back_in_the_order_in_which_they_came(tmp_path: Path) -> None:
    owner = Owner(RecordStore(tmp_path / "store.db"))
    for key in ("z", "a", "m"):
        put(owner.store, key, b"1")
    owner.store.commit()
    owner.step()
    for key in ("b", "z"):
        put(owner.store, key, b"2")
    owner.store.close()
    assert list(loaded(tmp_path / "store.db")) == ["z", "a", "m", "b"]


def test_protocols_do_not_see_each_other(tmp_path: Path) -> None:
    owner = Owner(RecordStore(tmp_path / "store.db"))
    owner.store.put(("hub", "kind", "k"), b"hub")
    owner.store.put(("broker", "kind", "k"), b"broker")
    owner.store.close()
    store = RecordStore(tmp_path / "store.db")
    assert list(store.load("broker")) == [Store("kind", "k", b"broker")]
    store.close()


@pytest.mark.parametrize(
    ("limit", "value"), [("MAX_WAITING", b""), ("MAX_WAITING_BYTES", b"x" * 10)]
)
def test_too_much_that_waits_is_told_and_that_it_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, value: bytes
) -> None:
    monkeypatch.setattr(f"wireloom.live.store.{limit}", 2)
    told: list[bool] = []
    owner = Owner(RecordStore(tmp_path / "store.db"))
    owner.store._overloaded = told.append
    put(owner.store, "first", b"")
    owner.store.commit()
    for number in range(3):
        put(owner.store, str(number), value)
    owner.store.commit()
    assert told == [True]
    owner.step()
    assert told == [True, False]
    owner.step()
    owner.store.close()


def test_nothing_to_commit_is_no_commit(tmp_path: Path) -> None:
    owner = Owner(RecordStore(tmp_path / "store.db"))
    owner.store.commit()
    owner.store.close()
    assert owner.synced == []


def test_a_second_process_is_kept_out(tmp_path: Path) -> None:
    store = RecordStore(tmp_path / "store.db")
    script = (
        "import sys; from pathlib import Path; from wireloom.live.store import *\n"
        "try: RecordStore(Path(sys.argv[1]))\n"
        "except StoreError as error: print(error)"
    )
    told = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "store.db")],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "another process is using" in told
    store.close()


def test_files_that_are_no_store_are_refused(tmp_path: Path) -> None:
    rubbish = tmp_path / "rubbish.db"
    rubbish.write_bytes(b"no database at all" * 100)
    with pytest.raises(StoreError, match="cannot be opened"):
        RecordStore(rubbish)
    with pytest.raises(StoreError, match="cannot be opened"):
        RecordStore(rubbish / "below")
    newer = tmp_path / "newer.db"
    connection = sqlite3.connect(newer)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StoreError, match="newer version"):
        RecordStore(newer)


def filled(path: Path, count: int = 5_000) -> None:
    owner = Owner(RecordStore(path))
    for number in range(count):
        put(owner.store, str(number), b"x" * 100)
    owner.store.close()


def test_of_a_damaged_store_all_that_can_be_read_is_taken_over(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "store.db"
    filled(path)
    raw = bytearray(path.read_bytes())
    page = raw.index(b"2500" + b"x" * 100) // 4_096
    raw[page * 4_096 : (page + 1) * 4_096] = b"\xff" * 4_096
    path.write_bytes(raw)
    store = RecordStore(path)
    found = {record.key for record in store.load("hub")}
    assert 4_900 < len(found) < 5_000
    assert "2500" not in found
    assert 0 < store.unreadable <= 100
    store.close()
    assert (tmp_path / "store.db.damaged-1").read_bytes()[4_096:] == raw[4_096:]
    assert "was damaged: " in caplog.text
    assert path.stat().st_mode & 0o777 == 0o600
    assert len(loaded(path)) == len(found), "the new one is a whole store"


def test_a_store_of_which_nothing_is_left_is_kept_beside_a_new_one(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    filled(path)
    raw = bytearray(path.read_bytes())
    raw[8_192:] = b"\xff" * (len(raw) - 8_192)
    path.write_bytes(raw)
    store = RecordStore(path)
    assert list(store.load("hub")) == []
    assert store.unreadable > 0
    store.close()
    assert (tmp_path / "store.db.damaged-1").stat().st_size == len(raw)


def test_records_of_other_types_are_counted_and_stay(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "store.db"
    filled(path, 3)
    connection = sqlite3.connect(path)
    connection.execute("UPDATE records SET value = 7 WHERE key = '1'")
    connection.execute("UPDATE records SET key = cast(x'ff' AS TEXT) WHERE key = '2'")
    connection.commit()
    connection.close()
    store = RecordStore(path)
    assert [record.key for record in store.load("hub")] == ["0"]
    assert store.unreadable == 2
    store.close()
    assert caplog.text.count("cannot be read") == 1


def test_no_flipped_bit_of_a_small_store_stops_the_reading_of_records(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    filled(path, 3)
    good = path.read_bytes()
    for bit in range(100 * 8, 8 * len(good), 397):
        for one in tmp_path.iterdir():
            one.unlink()
        spoilt = bytearray(good)
        spoilt[bit // 8] ^= 1 << bit % 8
        path.write_bytes(spoilt)
        try:
            store = RecordStore(path)
            list(store.load("hub"))
            store.close()
        except StoreError as error:
            assert str(path) in str(error)  # the schema itself: nothing to be read by


def test_a_disk_that_takes_nothing_is_told_once(tmp_path: Path) -> None:
    store = RecordStore(tmp_path / "store.db")
    store._connection.execute("PRAGMA query_only = ON")
    owner = Owner(store)
    put(store, "a", b"1")
    store.commit()
    owner.step()
    assert owner.synced == []
    assert "cannot be written" in str(owner.failures[0])
    with pytest.raises(StoreError, match="cannot be written"):
        store.close()


def test_a_loop_that_is_gone_stops_nobody(tmp_path: Path) -> None:
    def gone(*_: object) -> None:
        raise RuntimeError("closed")

    store = RecordStore(tmp_path / "store.db")
    store.start(synced=gone, failed=gone, call=gone)
    put(store, "a", b"1")
    store.close()
    assert loaded(tmp_path / "store.db") == {"a": b"1"}
    assert not [one for one in threading.enumerate() if one.name == "store"]


@pytest.mark.parametrize("ending", ["", "-wal", "-journal"])
def test_a_planted_symbolic_link_is_refused(tmp_path: Path, ending: str) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"")
    (tmp_path / f"store.db{ending}").symlink_to(victim)
    with pytest.raises(StoreError, match="is a symbolic link, and nothing is written through one"):
        RecordStore(tmp_path / "store.db")
    assert victim.read_bytes() == b""


def test_the_files_are_their_owners_alone_whatever_they_were(tmp_path: Path) -> None:
    path = tmp_path / "made" / "store.db"
    RecordStore(path).close()
    path.chmod(0o644)
    before = os.umask(0)
    try:
        owner = Owner(RecordStore(path))
        put(owner.store, "a", b"1")
        owner.store.commit()
        owner.step()
        found = {one.name: one.stat().st_mode & 0o777 for one in path.parent.iterdir()}
        assert found == {"store.db": 0o600, "store.db-wal": 0o600}
        assert path.parent.stat().st_mode & 0o777 == 0o700
        owner.store.close()
    finally:
        os.umask(before)
